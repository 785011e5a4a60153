import type { OperationRecord } from '../../lib/index.ts'

/** An invariant that did not hold. */
export interface Violation {
  readonly invariant: Invariant
  readonly detail: string
}

/** What must hold in every schedule. */
export const INVARIANTS = [
  'no two completions of one operation',
  'a stored outcome never changes',
  'a running lease is left alone',
  'nobody runs without a claim',
  'no two executions at once',
  'fences rise with every claim',
  'rev rises by one with every write',
  'recorded steps survive, and start marks never move',
  'another request never takes a record',
  'an unknown operation is left only by a probe or an operator',
  "takeover: 'never' is ended only by its holder or an operator",
  'a waiting operation is resumed only when it is due',
  'an operation that had an effect is never released',
  'committed writes are there exactly once',
  'a keyed step has one effect at the provider',
  'an at-most-once step never runs twice',
  'a recorded step never runs again',
  'no more crashes than allowed',
  'a completed operation has its effect',
  'a receipt for every completed effect',
  'no foreign answer',
  'every answer is the stored one',
  'a claim knows its own write',
  'no lost message',
  'no operation is stuck for ever',
  'no operation fails because a service was away',
  'a value is read as what it was stored as',
  'what has begun is not run without a claim',
  'order is kept within a group',
  'a request is one that the service takes',
  'no unexpected error',
] as const
export type Invariant = (typeof INVARIANTS)[number]

/** An effect somewhere outside: at the provider, or in the user's own table. */
export interface Effect {
  readonly step: string
  readonly era: number
  readonly by: string
  /** What was asked for; absent at a commit. */
  readonly tag?: string
  readonly isUnprotected: boolean
}

/** All that is known of one operation, from looking at the table and the world, never from the engine. */
export interface Truth {
  readonly id: string
  /** Rises when the operation may begin anew: after its expiry, or after a release. */
  era: number
  last: OperationRecord | undefined
  isDeleted: boolean
  /** The highest fence so far: creation time and attempt of the last claim. */
  fence: readonly [number, number]
  /** The longest lease that the last claim was ever given. */
  leaseUntil: number
  readonly completions: { readonly era: number; readonly text: string }[]
  readonly effects: Effect[]
  readonly commits: { readonly era: number; readonly by: string }[]
  /** Steps that were recorded as done, in this era. */
  recorded: Set<string>
  /** Which processes are in the work, or in a step of it, now. */
  readonly inside: Map<string, string>
  /** Suspended at least once. */
  wasSuspended: boolean
  /** Attempts of this era that ended without a word. */
  silentEnds: number
}

export function createTruth(id: string): Truth {
  return {
    id,
    era: 0,
    last: undefined,
    isDeleted: false,
    fence: [0, 0],
    leaseUntil: 0,
    completions: [],
    effects: [],
    commits: [],
    recorded: new Set(),
    inside: new Map(),
    wasSuspended: false,
    silentEnds: 0,
  }
}
