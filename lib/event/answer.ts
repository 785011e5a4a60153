import {
  InProgressError,
  LeaseLostError,
  MismatchError,
  OperationFailedError,
  OutcomeNotRecordedError,
  RetryLater,
  UnknownOutcomeError,
  WaitingError,
} from '../base/errors.ts'
import type { Ending } from '../engine/ending.ts'
import type { Refusal } from '../engine/refusal.ts'
import { retryAfterSeconds } from '../idempotency/result.ts'

/** What an invocation comes to: Lambda delivers the event again when it throws. */
export type Delivered =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }

/** What becomes of an event whose operation is not run. */
export function refused(refusal: Refusal): Delivered {
  switch (refusal.kind) {
    case 'replay':
      return refusal.outcome.kind === 'value'
        ? returned(refusal.outcome.value)
        : threw(new OperationFailedError(refusal.outcome.failure))
    case 'waiting':
      // Somebody will wake it, so this delivery may go.
      return refusal.isContinued
        ? returned(undefined)
        : threw(new WaitingError(retryAfterSeconds(refusal.retryAfterMs)))
    case 'in-progress':
      return threw(new InProgressError(retryAfterSeconds(refusal.retryAfterMs)))
    case 'mismatch':
      return threw(new MismatchError())
    case 'unknown':
      return threw(new UnknownOutcomeError())
    case 'outcome-lost':
    case 'store-unavailable':
      return threw(refusal.error)
  }
}

/** What becomes of an event whose handler returned this value. */
export function ended(ending: Ending, value: unknown): Delivered {
  switch (ending.kind) {
    case 'recorded':
      if (ending.as === 'unknown') return threw(new UnknownOutcomeError())
      // Nothing has happened, so there is something left to do.
      return ending.as === 'released'
        ? threw(new RetryLater('The handler has released the operation.'))
        : returned(value)
    case 'unprotected':
      return returned(value)
    case 'suspended':
      return returned(undefined)
    case 'kept':
      return threw(new OutcomeNotRecordedError(value, undefined))
    case 'unrecorded':
      return threw(new OutcomeNotRecordedError(value, ending.error))
    case 'outdone':
      return refused({ ...ending, kind: 'replay' })
    case 'lost':
      return threw(new LeaseLostError())
  }
}

/** What becomes of an event whose handler threw, or a middleware after it. */
export function failed(ending: Ending, error: unknown): Delivered {
  if (ending.kind === 'outdone') return refused({ ...ending, kind: 'replay' })
  return threw(error)
}

/** The value, or the error thrown. */
export function delivered(result: Delivered): unknown {
  if (result.kind === 'threw') throw result.error
  return result.value
}

function returned(value: unknown): Delivered {
  return { kind: 'returned', value }
}

function threw(error: unknown): Delivered {
  return { kind: 'threw', error }
}
