/** Time as the engine sees it. Milliseconds since 1970. */
export interface Clock {
  now(): number
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Calls `act` after `ms`, unless what it answers is called before. Absent: a wait with a signal does it, which costs
   * more, as every call of a store would notice.
   */
  after?(ms: number, act: () => void): () => void
}

/** Makes an id that nobody else makes: a claim's token, the name of a set of parts. */
export type NewId = () => string

/** A number in [0, 1), for jitter. */
export type Random = () => number

/** Why a record of a batch was not started: no claim was made for it. */
export type Rejection =
  /** It has no body, or one that cannot be parsed or does not match the schema. */
  | 'poison'
  /** The schema threw instead of answering. */
  | 'schema'
  /** It has nothing to be reported under. */
  | 'identifier'
  /** No key, scope or fingerprint could be got from it. */
  | 'key'
  | 'scope'
  | 'fingerprint'
  /** The invocation's time was nearly over. */
  | 'deadline'
  /** An earlier record of its group has failed. */
  | 'order'

/** What an event tells of the attempt that has ended. */
export interface Timed {
  /** ms since the claim of this attempt. Absent: no attempt has ended, as with an admission's key. */
  readonly durationMs?: number
}

/** What an event tells of the execution that the record found is of. */
export interface Traced {
  /** Its trace context, a W3C `traceparent`. Absent: it was not traced. */
  readonly origin?: string
}

/** What happened to an operation. Names the operation by its id; never carries a key, a principal or a body. */
export type OperationEvent = {
  readonly namespace: string
  readonly operationId: string
  readonly atMs: number
} & (
  | { readonly type: 'claimed' | 'settled' | 'signalled'; readonly attempt: number }
  /** `taken-over`: the attempt before ended without a word; `resumed`: it said that it is to be continued. */
  | ({ readonly type: 'taken-over' | 'resumed'; readonly attempt: number } & Traced)
  | ({ readonly type: 'failed' | 'resumable' | 'released' | 'suspended'; readonly attempt: number } & Timed)
  /** `skippedWrites`: the writes of a commit, by index, that were left out because their item is newer. */
  | ({ readonly type: 'completed'; readonly attempt: number; readonly skippedWrites?: readonly number[] } & Timed)
  | ({ readonly type: 'replayed'; readonly attempt: number; readonly status: 'COMPLETED' | 'FAILED' } & Traced)
  | ({ readonly type: 'conflicted'; readonly attempt: number; readonly leaseUntil?: number } & Traced)
  | ({ readonly type: 'mismatched' | 'waiting'; readonly attempt: number } & Traced)
  /** Found so by a repetition, or ended so by an attempt. */
  | ({ readonly type: 'unknown'; readonly attempt: number } & Traced & Timed)
  | ({ readonly type: 'lease-lost'; readonly attempt: number } & Timed)
  | { readonly type: 'store-error'; readonly during: string; readonly error: unknown }
  | { readonly type: 'unprotected'; readonly error: unknown }
  /** A record of a batch was not started. Where no operation can be made of it, the id stands for its delivery. */
  | { readonly type: 'rejected'; readonly why: Rejection }
  /** A function among the options threw; its default took its place. */
  | { readonly type: 'hook-failed'; readonly hook: string; readonly error: unknown }
)

/** Sees every event. It is called synchronously; what it throws is ignored, so that watching never changes an outcome. */
export type Observer = (event: OperationEvent) => void
