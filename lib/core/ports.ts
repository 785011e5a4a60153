import type { Moment, OperationRecord, Status, StepRecord, StoredOutcome } from './record.ts'

/** Time as the engine sees it. Milliseconds since 1970. */
export interface Clock {
  now(): number
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
}

/** Makes an id that nobody else makes: a claim's token, the name of a set of parts. */
export type NewId = () => string

/** A number in [0, 1), for jitter. */
export type Random = () => number

/** What a write asks of the record that is there when it arrives. */
export type Condition =
  /** No record, or one that counts as absent, and (so that fences stay ordered) was created before `nowMs`. */
  { readonly kind: 'absent'; readonly moment: Moment } | StandingCondition

/** What a change asks of the record it changes. */
export type StandingCondition =
  /** Exactly the record a decision was made on: a token alone would miss a renewal or a completion in between. */
  | { readonly kind: 'seen'; readonly token: string; readonly rev: number }
  /** Still IN_PROGRESS under this claim. */
  | { readonly kind: 'held'; readonly token: string }

/** The fields an update sets; `undefined` removes the field. `rev` is raised by the store with every update. */
export interface RecordChange {
  readonly status: Status
  readonly attempt?: number
  readonly token?: string
  readonly leaseUntil: number | undefined
  readonly expiresAt: number | undefined
  readonly updatedAtMs: number
  readonly outcome?: StoredOutcome
  readonly resumeAtMs?: number | undefined
  readonly crashes?: number
  readonly unknownStep?: string | undefined
  /** Replaces all steps. */
  readonly steps?: Readonly<Record<string, StepRecord>>
  /** Writes one step, or removes it, and leaves the others as they are. Not together with `steps`. */
  readonly step?: { readonly name: string; readonly record: StepRecord | undefined }
}

/** What became of a conditional write. `existing` is the record that stood against it, if there was one. */
export type WriteAnswer =
  | { readonly applied: true }
  | { readonly applied: false; readonly existing: OperationRecord | undefined }

/** A large value's pieces, under a name of their own. */
export interface Parts {
  readonly partsId: string
  /** In order; each at most {@link PART_BYTES} long. */
  readonly parts: readonly Uint8Array[]
  /** When the pieces may be deleted, in seconds. Absent: never. */
  readonly expiresAt: number | undefined
}

/** The most bytes one part may have: DynamoDB's 400 KB item limit less keys and names. */
export const PART_BYTES = 380_000

/**
 * Where records lie. Every method is one atomic act; a store decides nothing.
 *
 * A method that cannot tell whether its write was applied throws a `StoreError`; a failed condition is an
 * answer, not an error. `lambda-once/store-contract` is the test suite that a store must pass.
 */
export interface Store {
  /** Writes the whole record if the condition holds. */
  put(record: OperationRecord, condition: Condition): Promise<WriteAnswer>
  /** Changes fields of the record, and raises `rev` by one, if the condition holds. Never creates a record. */
  update(id: string, change: RecordChange, condition: StandingCondition): Promise<WriteAnswer>
  /** Reads the record consistently. Expired records are answered as they lie there. */
  get(id: string): Promise<OperationRecord | undefined>
  /** Writes all pieces, under names nobody has used before. */
  putParts(parts: Parts): Promise<void>
  /** Reads `count` pieces in order, consistently; a missing piece is `undefined`. */
  getParts(partsId: string, count: number): Promise<readonly (Uint8Array | undefined)[]>
}

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

/** What happened to an operation. Names the operation by its id; never carries a key, a principal or a body. */
export type OperationEvent = {
  readonly namespace: string
  readonly operationId: string
  readonly atMs: number
} & (
  | {
      readonly type: 'claimed' | 'taken-over' | 'completed' | 'failed' | 'resumable' | 'released' | 'settled'
      readonly attempt: number
    }
  | { readonly type: 'replayed'; readonly attempt: number; readonly status: 'COMPLETED' | 'FAILED' }
  | { readonly type: 'conflicted'; readonly attempt: number; readonly leaseUntil?: number }
  | { readonly type: 'mismatched' | 'waiting' | 'unknown'; readonly attempt: number }
  | { readonly type: 'lease-lost'; readonly attempt: number }
  | { readonly type: 'store-error'; readonly during: string; readonly error: unknown }
  | { readonly type: 'unprotected'; readonly error: unknown }
  /** A record of a batch was not started. Where no operation can be made of it, the id stands for its delivery. */
  | { readonly type: 'rejected'; readonly why: Rejection }
  /** A function among the options threw; its default took its place. */
  | { readonly type: 'hook-failed'; readonly hook: string; readonly error: unknown }
)

/** Sees every event. It is called synchronously; what it throws is ignored, so that watching never changes an outcome. */
export type Observer = (event: OperationEvent) => void
