/** The name under which the writes of commits are counted. */
export const COMMIT = 'commit'

/** Where an effect was made from. */
export interface Place {
  /** The step it was in, if any, and what is done when its outcome is not known. */
  readonly step?: { readonly name: string; readonly stops: boolean }
  /** The operation of that step. */
  readonly operationId?: string
  readonly delivery: number
}

/** One call of an effect. */
export interface EffectCall extends Place {
  readonly name: string
  readonly of: string
  readonly idempotencyKey?: string
  /** Whether something happened: an honest provider does nothing for a key that it knows. */
  readonly isCounted: boolean
}

/** Every effect that happened in one world: what the provider, the mail server and the tables would know. */
export interface Ledger {
  readonly calls: readonly EffectCall[]
  /** Calls an effect, and answers what its first call with this key answered. */
  call(call: Omit<EffectCall, 'isCounted'>, result: unknown): unknown
}

export function openLedger(): Ledger {
  const calls: EffectCall[] = []
  const answers = new Map<string, unknown>()
  return {
    calls,
    call(call, result) {
      const { name, of, idempotencyKey } = call
      const known = idempotencyKey === undefined ? undefined : JSON.stringify([name, of, idempotencyKey])
      const isCounted = known === undefined || !answers.has(known)
      calls.push({ ...call, isCounted })
      if (known === undefined) return result
      if (isCounted) answers.set(known, result)
      return answers.get(known)
    },
  }
}

/** How often what happened, by effect and by what it was an effect on. */
export type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>

export function countsOf(calls: readonly EffectCall[]): Counts {
  const counts = new Map<string, Map<string, number>>()
  for (const { name, of, isCounted } of calls) {
    const under = counts.get(name) ?? new Map<string, number>()
    counts.set(name, under.set(of, (under.get(of) ?? 0) + (isCounted ? 1 : 0)))
  }
  return counts
}
