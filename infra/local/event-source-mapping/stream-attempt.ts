import type { LocalStreamMapping } from '../template/model.ts'
import type { BatchVerdict } from './batch-response.ts'
import type { StreamEventRecord } from './stream-event.ts'

/** Records on their way to the function, and how often they have been there in vain. */
export interface Attempt {
  readonly records: readonly StreamEventRecord[]
  /** Invocations so far. */
  readonly invocations: number
}

/** Why records are given up, in AWS's words. */
export type GiveUpCondition = 'RetryAttemptsExhausted' | 'RecordAgeExceeded'

/** What becomes of a batch after the function was invoked with it. */
export type NextStep =
  | { readonly kind: 'done' }
  /** In this order, before anything newer of the shard. */
  | { readonly kind: 'again'; readonly attempts: readonly Attempt[] }
  | { readonly kind: 'give-up'; readonly attempt: Attempt; readonly condition: GiveUpCondition }

type Settings = Pick<LocalStreamMapping, 'bisectsOnError' | 'maxRetries'>

/**
 * Decides as Lambda does for streams
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html).
 */
export function afterInvocation(attempt: Attempt, verdict: BatchVerdict, settings: Settings): NextStep {
  if (verdict.kind === 'all-succeeded') return { kind: 'done' }
  const { records } = attempt
  if (verdict.kind === 'all-failed' && settings.bisectsOnError && records.length > 1) {
    // Halving is no retry: it does not count towards their number.
    const middle = Math.ceil(records.length / 2)
    const halves = [records.slice(0, middle), records.slice(middle)]
    return { kind: 'again', attempts: halves.map((half) => ({ ...attempt, records: half })) }
  }
  const next = { records: fromFirstFailure(records, verdict), invocations: attempt.invocations + 1 }
  if (next.invocations > settings.maxRetries) {
    return { kind: 'give-up', attempt: next, condition: 'RetryAttemptsExhausted' }
  }
  return { kind: 'again', attempts: [next] }
}

/** The records from the lowest reported sequence number on: what lies behind it is tried again, reported or not. */
function fromFirstFailure(records: Attempt['records'], verdict: BatchVerdict): Attempt['records'] {
  if (verdict.kind !== 'some-failed') return records
  return records.slice(records.findIndex(({ dynamodb }) => verdict.failedIds.has(dynamodb.SequenceNumber)))
}

/** The records too old to be tried (again) and the others. */
export function splitByAge(
  records: readonly StreamEventRecord[],
  nowMs: number,
  maxRecordAgeSeconds: number,
): { readonly expired: readonly StreamEventRecord[]; readonly fresh: readonly StreamEventRecord[] } {
  // Records of a shard are in the order of their age.
  const young = records.findIndex(
    ({ dynamodb }) => nowMs / 1000 - dynamodb.ApproximateCreationDateTime <= maxRecordAgeSeconds,
  )
  const expiredCount = young < 0 ? records.length : young
  return { expired: records.slice(0, expiredCount), fresh: records.slice(expiredCount) }
}
