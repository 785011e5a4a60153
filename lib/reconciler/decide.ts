import { isLeaseRunning, type Moment, type OperationRecord } from '../record/record.ts'

/** What a reconciler can do. */
export interface Abilities {
  /** Whether it has a `recover` function. */
  readonly canRecover: boolean
  /** Whether it may send stored requests again. */
  readonly canRedrive: boolean
}

/** What is to be done with a record that the index named. */
export type Task =
  /** Take it over and run `recover`. */
  | 'recover'
  /** Deliver its stored request again. */
  | 'redrive'
  /** Nothing: the index lags behind the record. */
  | 'none'
  /** Nothing yet: it has renewed its lease, which leaves the index as it was. */
  | 'later'
  /** There is something to do, and this reconciler cannot. */
  | 'beyond'

/** Decides from the record itself: what the index says may be old. */
export function taskFor(record: OperationRecord, { canRecover, canRedrive }: Abilities, moment: Moment): Task {
  if (record.dueAtMs === undefined || record.dueAtMs > moment.nowMs) return 'none'
  if (isLeaseRunning(record, moment)) return 'later'
  if (!isLeftAlone(record, moment)) return 'none'
  // Only the work itself can ask what became of an unknown step.
  if (record.status === 'UNKNOWN') return record.canProbe && canRecover ? 'recover' : 'beyond'
  if (canRecover) return 'recover'
  return canRedrive && record.redrive !== undefined ? 'redrive' : 'beyond'
}

function isLeftAlone(record: OperationRecord, moment: Moment): boolean {
  switch (record.status) {
    case 'IN_PROGRESS':
      return record.takeover === 'auto'
    case 'WAITING':
      return record.resumeAtMs !== undefined && record.resumeAtMs <= moment.nowMs
    case 'RETRYABLE':
    case 'UNKNOWN':
      return true
    case 'COMPLETED':
    case 'FAILED':
    case 'RELEASED':
      return false
  }
}
