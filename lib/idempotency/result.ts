import {
  InProgressError,
  LeaseLostError,
  MismatchError,
  OperationFailedError,
  OutcomeNotRecordedError,
  UnknownOutcomeError,
  WaitingError,
} from '../base/errors.ts'
import type { Answer } from '../engine/engine.ts'
import type { RunResult } from './api.ts'

/** Seconds for a `Retry-After`: whole, at least 1. */
export function retryAfterSeconds(retryAfterMs: number | undefined): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000))
}

/**
 * What `run` makes of the engine's answer.
 * @throws what `run` throws for everything that is no value
 */
export function resultOf<T>(answer: Answer<T>): RunResult<T> {
  switch (answer.kind) {
    case 'executed':
      if (answer.ending.kind === 'unrecorded') throw new OutcomeNotRecordedError(answer.value, answer.ending.error)
      return { value: answer.value, replayed: false, attempt: answer.attempt }
    case 'replay':
      if (answer.outcome.kind === 'failure') throw new OperationFailedError(answer.outcome.failure)
      // The record was written by this operation's own work, whose type is T.
      return { value: answer.outcome.value as T, replayed: true, attempt: answer.attempt }
    case 'threw':
      throw answer.error
    case 'lease-lost':
      throw Object.assign(new LeaseLostError(), answer.error !== undefined && { cause: answer.error })
    case 'mismatch':
      throw new MismatchError()
    case 'in-progress':
      throw new InProgressError(retryAfterSeconds(answer.retryAfterMs))
    case 'waiting':
    case 'suspended':
      throw new WaitingError(retryAfterSeconds(answer.retryAfterMs))
    case 'unknown':
      throw new UnknownOutcomeError()
    case 'store-unavailable':
    case 'outcome-lost':
      throw answer.error
  }
}
