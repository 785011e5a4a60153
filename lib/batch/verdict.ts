import { OperationFailedError } from '../base/errors.ts'
import type { Rejection } from '../base/ports.ts'
import type { Answer, OwnEnding } from '../engine/engine.ts'

/** Why a record is reported as failed. */
export type FailureReason =
  | Rejection
  /** The handler threw. */
  | 'threw'
  /** The handler returned after `operation.release()`: nothing has happened, so there is something left to do. */
  | 'released'
  /** The handler returned, and its outcome could not be recorded. */
  | 'not-recorded'
  /** Another execution took over while the handler ran. */
  | 'lease-lost'
  /** The operation failed for good in an earlier delivery. */
  | 'failed-before'
  | 'outcome-lost'
  | 'mismatch'
  | 'in-progress'
  | 'waiting'
  | 'unknown'
  | 'store-unavailable'

/** A record that is reported as failed. */
export interface Failed {
  readonly kind: 'failed'
  readonly why: FailureReason
  readonly error?: unknown
  /** When another delivery could succeed, in ms from now. */
  readonly retryAfterMs?: number
}

/** What the queue is told of a record: `done` deletes the message. */
export type Verdict = { readonly kind: 'done' } | Failed

const DONE: Verdict = { kind: 'done' }

/** Reads the engine's answer: a message is deleted only when its operation is completed or continued elsewhere, or was never to be recorded. */
export function verdictOn(answer: Answer<unknown>): Verdict {
  switch (answer.kind) {
    case 'executed':
      return verdictOnReturn(answer.ending)
    case 'suspended':
      return DONE
    case 'threw':
      return { kind: 'failed', why: 'threw', error: answer.error }
    case 'replay':
      return answer.outcome.kind === 'value'
        ? DONE
        : { kind: 'failed', why: 'failed-before', error: new OperationFailedError(answer.outcome.failure) }
    case 'lease-lost':
      return { kind: 'failed', why: 'lease-lost', ...(answer.error !== undefined && { error: answer.error }) }
    case 'in-progress':
    case 'waiting':
      // Somebody will wake it, so this delivery is not needed any more: waiting is not failing, and spends no receive.
      if (answer.kind === 'waiting' && answer.isContinued) return DONE
      return {
        kind: 'failed',
        why: answer.kind,
        ...(answer.retryAfterMs !== undefined && { retryAfterMs: answer.retryAfterMs }),
      }
    case 'outcome-lost':
    case 'store-unavailable':
      return { kind: 'failed', why: answer.kind, error: answer.error }
    case 'mismatch':
    case 'unknown':
      return { kind: 'failed', why: answer.kind }
  }
}

function verdictOnReturn(ending: OwnEnding): Verdict {
  switch (ending.kind) {
    case 'recorded':
      // A value that cannot be stored fails the operation for all who come later, but this delivery's effect is there.
      return ending.as === 'completed' || ending.as === 'failed' ? DONE : { kind: 'failed', why: 'released' }
    case 'unprotected':
      // The store was down, and the options say to run all the same.
      return DONE
    case 'kept':
      return { kind: 'failed', why: 'not-recorded' }
    case 'unrecorded':
      return { kind: 'failed', why: 'not-recorded', error: ending.error }
  }
}
