import type { OperationRecord, Store } from '../../lib/index.ts'

/** What became of claims that were likely to be refused. */
export interface Looks {
  /** A look told that somebody has the record, and nothing was written. */
  spared: number
  /** Nothing stood against the claim when it looked, and it was written. */
  written: number
}

/** Whether a claim has its requests for itself. */
export type Way = 'alone' | 'together'

/** Counts what becomes of such claims. */
export interface LookLog {
  readonly looks: Readonly<Record<Way, Readonly<Looks>>>
  /** A request that writes this record leaves. */
  writes(record: OperationRecord): void
  watched(way: Way, put: Store['put']): Store['put']
}

export function createLookLog(): LookLog {
  /** Every claim has a token of its own. */
  const written = new Set<string>()
  const looks: Record<Way, Looks> = { alone: { spared: 0, written: 0 }, together: { spared: 0, written: 0 } }
  return {
    looks,
    writes: ({ token }) => void written.add(token),
    watched: (way, put) => async (record, condition) => {
      const answer = await put(record, condition)
      if (condition.kind !== 'absent' || !condition.isLikelyTaken) return answer
      if (written.has(record.token)) looks[way].written++
      else if (!answer.applied) looks[way].spared++
      return answer
    },
  }
}
