import { isExpired, type Moment, type OperationRecord } from '../record/record.ts'

/** A record as it was at some time. */
export interface Known {
  readonly record: OperationRecord
  /** When the store last said so, in ms. */
  readonly atMs: number
}

/** Lambda's longest invocation, in ms. */
const LONGEST_INVOCATION_MS = 900_000

/**
 * Whether a claim may be answered with what is known, without asking the store: only with an operation that is over, since
 * every other record may have been changed by somebody else. What "over" means is as strict as any clock near this one
 * could see it.
 */
export function isUsable({ record, atMs }: Known, { nowMs, clockSkewMs }: Moment, maxAgeMs: number): boolean {
  if (record.status !== 'COMPLETED' && record.status !== 'FAILED') return false
  // Of a clock that was set back, nobody knows how long ago that is.
  if (nowMs < atMs || nowMs - atMs >= maxAgeMs || isExpired(record, nowMs + clockSkewMs)) return false
  // The process that has committed may be about to add the response that its caller got.
  const isFinal = record.commitId === undefined || record.wire !== undefined
  return isFinal || nowMs - record.updatedAtMs > LONGEST_INVOCATION_MS + clockSkewMs
}
