import type { Clock, Random } from '../base/ports.ts'
import type { CommitWrite } from '../order/commit-write.ts'
import type {
  Continuation,
  Moment,
  OperationRecord,
  Status,
  StepRecord,
  StoredOutcome,
  StoredRedrive,
  StoredSignal,
  StoredValue,
} from './record.ts'

/** What a write asks of the record that is there when it arrives. */
export type Condition =
  | {
      /** No record, or one that counts as absent, and (so that fences stay ordered) was created before `nowMs`. */
      readonly kind: 'absent'
      readonly moment: Moment
      /** There probably is one: a store to which a look costs less than a refused write may look first. */
      readonly isLikelyTaken?: true
      /** Aborted when nobody waits for the answer any more: what looked first must not write then. */
      readonly signal?: AbortSignal
    }
  | StandingCondition

/** What a change asks of the record it changes. */
export type StandingCondition =
  /** Exactly the record a decision was made on: a token alone would miss a renewal or a completion in between. */
  | { readonly kind: 'seen'; readonly token: string; readonly rev: number }
  /** Still IN_PROGRESS under this claim; with `signals`, also with no more signals than that many. */
  | { readonly kind: 'held'; readonly token: string; readonly signals?: number }
  /** Completed by this claim's commit, and without a wire response yet. */
  | { readonly kind: 'committed'; readonly token: string }

/** The fields an update sets; `undefined` removes the field. `rev` is raised by the store with every update. */
export interface RecordChange {
  readonly status: Status
  readonly attempt?: number
  readonly token?: string
  readonly leaseUntil: number | undefined
  readonly expiresAt: number | undefined
  readonly updatedAtMs: number
  readonly outcome?: StoredOutcome
  readonly commitId?: string
  readonly wire?: StoredValue
  readonly resumeAtMs?: number | undefined
  readonly waitingFor?: string | undefined
  /** All signals, the new one last. */
  readonly signals?: readonly StoredSignal[]
  readonly redrive?: StoredRedrive
  readonly continuation?: Continuation | undefined
  readonly isReconciled?: true | undefined
  readonly canProbe?: true | undefined
  readonly dueShard?: string | undefined
  readonly dueAtMs?: number | undefined
  readonly crashes?: number
  readonly trace?: string
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

/** An item that lies beside the record of its operation: a message to be sent, a receipt. */
export interface BesideItem {
  /** Its sort key. */
  readonly sk: string
  /** Plain values; `undefined` ones are left out. */
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Writes that are ready to be committed together with a change of the record. Built once, so that every try sends the same. */
export interface Preparation {
  /**
   * Writes everything, or nothing.
   * @param requestToken - the same for every try of one commit, at most 36 characters
   * @throws StoreError when nobody knows whether it was written, or the transaction conflicted with another one
   */
  commit(change: RecordChange, condition: StandingCondition, requestToken: string): Promise<CommitAnswer>
}

/** What became of a commit. */
export type CommitAnswer =
  /** `skipped`: the writes, by index, that were left out because the item has a newer version. */
  | { readonly kind: 'applied'; readonly skipped: readonly number[] }
  /** The record's own condition failed; it is looked at before any other. */
  | { readonly kind: 'refused'; readonly existing: OperationRecord | undefined }
  /** The record is as it should be, and conditions of other writes failed. */
  | { readonly kind: 'conflict'; readonly conflicts: readonly WriteConflict[] }

/** A write of a commit whose condition did not hold. */
export interface WriteConflict {
  /** Its place in the list of writes. */
  readonly index: number
  /** The item that stood against it. Absent: there is none. */
  readonly item?: Readonly<Record<string, unknown>>
  /** Whether it was the order guard that failed: the item has this version or a newer one. */
  readonly isStale: boolean
}

/** Something a reconciler may have to look at. */
export interface DueItem {
  readonly id: string
  readonly sk: string
  readonly dueAtMs: number
}

/** How an invocation that works on many records spends its time. */
export interface GroupPacing {
  readonly clock: Clock
  readonly random: Random
  /** From then on nothing is sent again, in ms. */
  readonly giveUpAtMs: number
}

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
  /**
   * Checks and freezes what is to be written together with a change of the record.
   * @throws InvalidInputError when it cannot be one transaction: too many or too large writes, two on one item, one on
   * the record itself; StoreError when it cannot be prepared now. Nothing was sent.
   */
  prepare(id: string, writes: readonly CommitWrite[], beside: readonly BesideItem[]): Promise<Preparation>
  /** Writes an item beside the record, whether the record is there or not. */
  putBeside(id: string, item: BesideItem): Promise<void>
  /** Sets attributes of an item beside the record (`undefined` removes one) where `expected` holds; answers whether it did. */
  updateBeside(
    id: string,
    sk: string,
    set: Readonly<Record<string, unknown>>,
    expected: { readonly attribute: string; readonly value: string },
  ): Promise<boolean>
  /** Reads the items beside a record whose sort key begins so, consistently and in order. */
  listBeside(id: string, prefix: string): Promise<readonly BesideItem[]>
  /** What is due in a shard of the index, oldest first. The index lags: the item itself decides. */
  listDue(shard: string, untilMs: number, limit: number): Promise<readonly DueItem[]>
  /** Writes all pieces, under names nobody has used before. */
  putParts(parts: Parts): Promise<void>
  /** Reads `count` pieces in order, consistently; a missing piece is `undefined`. */
  getParts(partsId: string, count: number): Promise<readonly (Uint8Array | undefined)[]>
  /**
   * The same store for one invocation that works on many records: claims and endings that are due at the same time may
   * go out in one request. Each is answered as if it had been sent alone, and none is held up for long.
   * Absent: every write goes by itself. Whoever wraps a store wraps this too, or leaves it out.
   */
  grouped?(pacing: GroupPacing): Store
}
