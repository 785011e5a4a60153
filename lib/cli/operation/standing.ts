import { countsAsAbsent, isLeaseRunning, type OperationRecord } from '../../record/record.ts'

/** How an operation stands now, in the words of an operator. */
export type Standing =
  /** Somebody may be working on it. `untilMs` is absent when the record names no end. */
  | { readonly kind: 'running'; readonly untilMs?: number }
  /** An admission key that is taken. */
  | { readonly kind: 'taken'; readonly untilMs?: number }
  /** Its holder is gone, and the next delivery takes over. */
  | { readonly kind: 'stale'; readonly sinceMs: number }
  /** Its holder is gone, and nobody may take over: `takeover: 'never'`. */
  | { readonly kind: 'stopped'; readonly sinceMs: number }
  | { readonly kind: 'retryable'; readonly sinceMs: number }
  | { readonly kind: 'waiting'; readonly resumeAtMs?: number; readonly isDue: boolean; readonly for?: string }
  | { readonly kind: 'unknown'; readonly sinceMs: number; readonly step?: string; readonly canProbe: boolean }
  | { readonly kind: 'completed'; readonly untilMs?: number }
  | { readonly kind: 'failed'; readonly untilMs?: number }
  | { readonly kind: 'released' }
  /** Its time is over, with nothing in it that a later attempt would need: the next request with its key begins anew. */
  | { readonly kind: 'expired' }

/** The margin by which clocks may differ where nobody has said otherwise, in ms. */
export const CLOCK_SKEW_MS = 1_000

/** Reads the record as a claim would, at this moment. */
export function standingOf(record: OperationRecord, nowMs: number): Standing {
  const moment = { nowMs, clockSkewMs: CLOCK_SKEW_MS }
  if (countsAsAbsent(record, moment)) return { kind: record.status === 'RELEASED' ? 'released' : 'expired' }
  const { status, leaseUntil, updatedAtMs, takeover, resumeAtMs, waitingFor, unknownStep } = record
  const untilMs = record.expiresAt === undefined ? undefined : record.expiresAt * 1000
  const until = untilMs === undefined ? {} : { untilMs }
  switch (status) {
    case 'IN_PROGRESS':
      if (isLeaseRunning(record, moment)) {
        const kind = record.isAdmission ? 'taken' : 'running'
        return { kind, ...(leaseUntil !== undefined && { untilMs: leaseUntil }) }
      }
      return { kind: takeover === 'never' ? 'stopped' : 'stale', sinceMs: leaseUntil ?? updatedAtMs }
    case 'RETRYABLE':
      return { kind: 'retryable', sinceMs: updatedAtMs }
    case 'WAITING':
      return {
        kind: 'waiting',
        isDue: resumeAtMs !== undefined && resumeAtMs <= nowMs,
        ...(resumeAtMs !== undefined && { resumeAtMs }),
        ...(waitingFor !== undefined && { for: waitingFor }),
      }
    case 'UNKNOWN':
      return {
        kind: 'unknown',
        sinceMs: updatedAtMs,
        canProbe: record.canProbe ?? false,
        ...(unknownStep !== undefined && { step: unknownStep }),
      }
    case 'COMPLETED':
      return { kind: 'completed', ...until }
    case 'FAILED':
      return { kind: 'failed', ...until }
    case 'RELEASED':
      return { kind: 'released' }
  }
}
