import { isSameRequest } from './fingerprint.ts'
import { countsAsAbsent, isLeaseRunning, type Moment, type OperationRecord } from './record.ts'

/** What a claim that met an existing record has to do next. */
export type Decision =
  /** The record counts as absent: replace it, on exactly the token and rev seen. */
  | { readonly kind: 'replace' }
  /** The record is this claim's own write, whose answer was lost. */
  | { readonly kind: 'claimed' }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'replay' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'waiting'; readonly resumeAtMs?: number }
  /** `leaseUntil` is absent when no time is known after which a retry would help. */
  | { readonly kind: 'in-progress'; readonly leaseUntil?: number }
  /** Nobody holds the operation: take it over, on exactly the token and rev seen. */
  | { readonly kind: 'takeover' }

/** What the claim that asks knows of itself. */
export interface Claimant {
  readonly token: string
  readonly fingerprint: string
}

/**
 * Decides from the record that stood against a claim. The order of the rules is part of the protocol:
 * a lost answer is recognised before anything else, and another request is told apart before any status
 * is looked at, so that neither a conflict nor a replay is ever answered to the wrong request.
 */
export function decideClaim(record: OperationRecord, claimant: Claimant, moment: Moment): Decision {
  if (countsAsAbsent(record, moment)) return { kind: 'replace' }
  // Its own lease is over for the holder at once, whatever the skew: by another clock it may be over already.
  const ownMoment = { nowMs: moment.nowMs, clockSkewMs: -1 }
  if (record.token === claimant.token && isLeaseRunning(record, ownMoment)) return { kind: 'claimed' }
  if (!isSameRequest(record.fingerprint, claimant.fingerprint)) return { kind: 'mismatch' }
  switch (record.status) {
    case 'COMPLETED':
    case 'FAILED':
      return { kind: 'replay' }
    case 'UNKNOWN':
      return { kind: 'unknown' }
    case 'WAITING':
      return record.resumeAtMs !== undefined && record.resumeAtMs <= moment.nowMs
        ? { kind: 'takeover' }
        : { kind: 'waiting', ...(record.resumeAtMs !== undefined && { resumeAtMs: record.resumeAtMs }) }
    case 'IN_PROGRESS':
      if (isLeaseRunning(record, moment)) {
        return { kind: 'in-progress', ...(record.leaseUntil !== undefined && { leaseUntil: record.leaseUntil }) }
      }
      return record.takeover === 'never' ? { kind: 'in-progress' } : { kind: 'takeover' }
    case 'RETRYABLE':
      return { kind: 'takeover' }
    case 'RELEASED':
      return { kind: 'replace' }
  }
}

/** What a later write of a claim means to do to its record. */
export type Intent = 'complete' | 'fail' | 'resume' | 'suspend' | 'release' | 'unknown' | 'extend'

/** What a later write that failed its condition has learned. */
export type HeldAnswer =
  /** It was applied after all: the condition failed on this write's own earlier try. */
  | { readonly kind: 'done' }
  /** This claim had already completed: its stored outcome is the answer, whatever was meant to be written now. */
  | { readonly kind: 'completed'; readonly record: OperationRecord }
  /** The lease is somebody else's, or the record is gone. Nothing is written or re-created. */
  | { readonly kind: 'lost'; readonly record: OperationRecord | undefined }

const STATUS_AFTER: Readonly<Record<Intent, OperationRecord['status']>> = {
  complete: 'COMPLETED',
  fail: 'FAILED',
  resume: 'RETRYABLE',
  suspend: 'WAITING',
  release: 'RELEASED',
  unknown: 'UNKNOWN',
  extend: 'IN_PROGRESS',
}

/** Decides from the record that stood against a write conditional on `token` still holding the lease. */
export function decideHeld(record: OperationRecord | undefined, token: string, intent: Intent): HeldAnswer {
  if (record === undefined) return intent === 'release' ? { kind: 'done' } : { kind: 'lost', record }
  if (record.token !== token) return { kind: 'lost', record }
  // A completion without a commit has not written what a commit of this claim did, which was on its way meanwhile.
  const isCommit = intent === 'complete' && record.commitId !== undefined
  if (record.status === STATUS_AFTER[intent] && !isCommit) return { kind: 'done' }
  return record.status === 'COMPLETED' ? { kind: 'completed', record } : { kind: 'lost', record }
}

/**
 * Whether an operator may end the operation: nobody is working on it, or (with `takeover: 'never'`) nobody else may.
 */
export function isSettleable(record: OperationRecord, moment: Moment): boolean {
  switch (record.status) {
    case 'UNKNOWN':
    case 'RETRYABLE':
    case 'WAITING':
      return true
    case 'IN_PROGRESS':
      return !isLeaseRunning(record, moment)
    case 'COMPLETED':
    case 'FAILED':
    case 'RELEASED':
      return false
  }
}
