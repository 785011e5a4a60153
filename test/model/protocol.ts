/**
 * The protocol in small: one record, what is asked of it, and what a claim learns from the record that stands against
 * it. Pure functions, written down from the design and not from lib, which is compared with them.
 */

export type ModelStatus = 'IN_PROGRESS' | 'COMPLETED' | 'FAILED' | 'RETRYABLE' | 'WAITING' | 'UNKNOWN' | 'RELEASED'

export interface ModelRecord {
  readonly status: ModelStatus
  readonly token: string
  readonly rev: number
  readonly attempt: number
  readonly fingerprint: string
  /** When the lease is over; only IN_PROGRESS has one. */
  readonly leaseUntil: number
  /** When it protects nothing any more; `Infinity`: never. */
  readonly expiresAt: number
  /** When a WAITING one is due; `Infinity`: when a signal comes. */
  readonly resumeAt: number
  readonly takeover: 'auto' | 'never'
  readonly steps: Readonly<Record<string, 'started' | 'done'>>
  readonly signals: number
  readonly outcome?: string
}

/** What a write asks of the record. */
export type ModelCondition =
  | { readonly kind: 'absent'; readonly now: number }
  | { readonly kind: 'seen'; readonly token: string; readonly rev: number }
  | { readonly kind: 'held'; readonly token: string }

/** What a claim that met a record has to do. */
export type ModelDecision =
  | 'replace'
  | 'claimed'
  | 'mismatch'
  | 'replay'
  | 'unknown'
  | 'waiting'
  | 'in-progress'
  | 'takeover'

/** Which protections are in force. All of them, except where a search is to show that it needs each. */
export interface Protections {
  /** A takeover and every write of a holder are on exactly the record seen. */
  readonly rev: boolean
  /** An unknown operation is not taken over. */
  readonly unknown: boolean
  /** A step that must not run twice is marked before it begins. */
  readonly mark: boolean
}

export const ALL: Protections = { rev: true, unknown: true, mark: true }

function isLeaseRunning({ status, leaseUntil }: ModelRecord, now: number): boolean {
  return status === 'IN_PROGRESS' && leaseUntil >= now
}

export function countsAsAbsent(record: ModelRecord, now: number): boolean {
  const isExpired = record.expiresAt <= now
  if (record.status === 'RELEASED') return true
  if (record.status === 'UNKNOWN' || !isExpired) return false
  if (record.status === 'COMPLETED' || record.status === 'FAILED') return true
  return Object.keys(record.steps).length === 0 && !isLeaseRunning(record, now)
}

export function holds(condition: ModelCondition, there: ModelRecord | undefined, by: Protections = ALL): boolean {
  if (condition.kind === 'absent') return there === undefined || countsAsAbsent(there, condition.now)
  if (there === undefined) return false
  const isToken = there.token === condition.token
  if (condition.kind === 'seen') return isToken && (!by.rev || there.rev === condition.rev)
  return isToken && there.status === 'IN_PROGRESS'
}

export function decide(
  record: ModelRecord,
  claimant: { readonly token: string; readonly fingerprint: string },
  now: number,
  by: Protections = ALL,
): ModelDecision {
  if (countsAsAbsent(record, now)) return 'replace'
  if (record.token === claimant.token && isLeaseRunning(record, now)) return 'claimed'
  if (record.fingerprint !== claimant.fingerprint) return 'mismatch'
  switch (record.status) {
    case 'COMPLETED':
    case 'FAILED':
      return 'replay'
    case 'UNKNOWN':
      return by.unknown ? 'unknown' : 'takeover'
    case 'WAITING':
      return record.resumeAt <= now ? 'takeover' : 'waiting'
    case 'RETRYABLE':
      return 'takeover'
    case 'RELEASED':
      return 'replace'
    case 'IN_PROGRESS':
      if (isLeaseRunning(record, now)) return 'in-progress'
      return record.takeover === 'never' ? 'in-progress' : 'takeover'
  }
}
