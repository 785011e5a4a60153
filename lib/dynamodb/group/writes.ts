import type { Moment, OperationRecord } from '../../record/record.ts'
import type { RecordChange, StandingCondition } from '../../record/store.ts'

/** A write that may share a request with others: what a claim begins with, or a change of exactly the record seen. */
export type GroupedWrite =
  /** `moment`: what the claim was made at, and what counts as absent then. */
  | { readonly kind: 'insert'; readonly id: string; readonly record: OperationRecord; readonly moment: Moment }
  | { readonly kind: 'update'; readonly id: string; readonly change: RecordChange; readonly seen: Seen }

/** The one condition of a grouped change. */
export type Seen = Extract<StandingCondition, { kind: 'seen' }>

/** What a request says of one of its writes. */
export type GroupAnswer =
  | { readonly kind: 'applied' }
  /** There is an item, for an insert; it is not the one seen, for an update. `existing`: that item, where it came along. */
  | { readonly kind: 'refused'; readonly existing?: OperationRecord }
  /** Refused for now, or nobody knows: the same write may be sent again. */
  | { readonly kind: 'again'; readonly code: string }
  /** Refused for a reason that only the write by itself can tell. */
  | { readonly kind: 'alone' }

/** The requests that carry many writes, or many reads. */
export interface GroupRequests {
  /**
   * Sends at most {@link MAX_GROUP} writes, no two on one record. Each is applied or refused by itself.
   * @returns the answers in the order of the writes, as the service gave them: where there are fewer or more, none counts
   * @throws StoreError when nobody knows which of them were written (`retryable`), or the request was refused as a whole
   */
  write(writes: readonly GroupedWrite[]): Promise<readonly (GroupAnswer | undefined)[]>
  /** Reads consistently; what is not there, or cannot be read as a record, is missing. */
  read(ids: readonly string[], pause: (round: number) => Promise<void>): Promise<ReadonlyMap<string, OperationRecord>>
}

/** DynamoDB takes no more statements in a request. */
export const MAX_GROUP = 25
