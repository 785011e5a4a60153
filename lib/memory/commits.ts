import { type CheckedWrite, checkCommit } from '../commit/check.ts'
import type { CommitWrite } from '../order/commit-write.ts'
import type { OperationRecord } from '../record/record.ts'
import type { BesideItem, CommitAnswer, Preparation, Store, WriteConflict } from '../record/store.ts'
import type { Beside } from './beside.ts'
import { holds, withChange } from './holds.ts'

/**
 * Stands for the tables that a commit's writes are on. Called inside the one act of the commit, before anything is
 * applied: it answers the writes whose conditions do not hold, by their place in the list it was given, and has then
 * applied nothing; or it answers none. When all that it answers are stale writes that are to be skipped, it is asked
 * again, without them.
 */
export type Transact = (writes: readonly CommitWrite[]) => readonly WriteConflict[] | undefined

/** A commit that was applied. */
export interface AppliedCommit {
  /** The operation's id. */
  readonly id: string
  /** Its writes, without those that were skipped. */
  readonly writes: readonly CommitWrite[]
}

interface Entry {
  readonly index: number
  readonly write: CommitWrite
  readonly isSkippable: boolean
}

/** Preparing commits, and what became of them. */
export interface Commits {
  readonly prepare: Store['prepare']
  applied(): readonly AppliedCommit[]
}

/** The commits over some records. */
export function commitsOver(
  records: Map<string, OperationRecord>,
  beside: Beside,
  transact: Transact | undefined,
): Commits {
  const applied: AppliedCommit[] = []
  /** As DynamoDB's request tokens: a repetition is answered as the first one was. */
  const answers = new Map<string, CommitAnswer>()

  /** Asks about the writes until they hold, or one is refused for good. */
  function judge(entries: readonly Entry[]): readonly Entry[] | { readonly conflicts: readonly WriteConflict[] } {
    const conflicts = transact?.(entries.map(({ write }) => write)) ?? []
    if (conflicts.length === 0) return entries
    const found = conflicts.map((conflict) => ({ conflict, entry: entries[conflict.index] }))
    const final = found.filter(({ conflict, entry }) => !(conflict.isStale && entry?.isSkippable))
    if (final.length > 0) {
      return { conflicts: final.map(({ conflict, entry }) => ({ ...conflict, index: entry?.index ?? conflict.index })) }
    }
    return judge(entries.filter((entry) => !found.some((stale) => stale.entry === entry)))
  }

  async function prepare(
    id: string,
    writes: readonly CommitWrite[],
    items: readonly BesideItem[],
  ): Promise<Preparation> {
    const entries = checkCommit({ id }, writes, items).map(entryOf)
    const frozenItems = structuredClone(items)
    return {
      async commit(change, condition, requestToken) {
        const before = answers.get(requestToken)
        if (before !== undefined) return before
        const there = records.get(id)
        if (there === undefined || !holds(condition, there)) {
          return { kind: 'refused', existing: structuredClone(there) }
        }
        const kept = judge(entries)
        if ('conflicts' in kept) return { kind: 'conflict', conflicts: kept.conflicts }
        records.set(id, structuredClone(withChange(there, change)))
        for (const item of frozenItems) beside.put(id, item)
        applied.push({ id, writes: kept.map(({ write }) => write) })
        const skipped = entries.filter((entry) => !kept.includes(entry)).map(({ index }) => index)
        const answer: CommitAnswer = { kind: 'applied', skipped }
        answers.set(requestToken, answer)
        return answer
      },
    }

    function entryOf({ guarding }: CheckedWrite, index: number): Entry {
      return { index, write: snapshot(writes[index]) as CommitWrite, isSkippable: guarding?.onStale === 'skip' }
    }
  }

  return { prepare, applied: () => [...applied] }
}

/** A copy of the lists and plain objects in it. What else is there (a clock, a set, bytes) is never changed by anybody. */
function snapshot(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snapshot)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, snapshot(inner)]))
}
