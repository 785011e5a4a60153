import type { Refusal } from '../../core/claim.ts'
import { retryAfterSeconds } from '../../core/idempotency.ts'
import type { Outcome } from '../../core/outcome.ts'
import type { HttpSettings } from '../options.ts'
import type { Shape } from '../request/event.ts'
import { problem, waitingAnswer } from './problems.ts'
import { readStored, replayOf, type StoredResponse } from './replay.ts'
import { type HttpAnswer, wireResponse } from './wire.ts'

/** Seconds after which a client may ask again when the store could not be reached. */
export const STORE_RETRY_AFTER_SECONDS = 2

/** The answer to a request whose operation is not run. */
export async function refusalAnswer(
  settings: Pick<HttpSettings, 'refresh'>,
  shape: Shape,
  event: unknown,
  refusal: Refusal,
): Promise<HttpAnswer> {
  switch (refusal.kind) {
    case 'replay':
      return replayAnswer(settings, shape, event, refusal.outcome)
    case 'outcome-lost':
      return problem(shape, 'outcome-not-kept')
    case 'mismatch':
      return problem(shape, 'key-reused')
    case 'unknown':
      return problem(shape, 'outcome-unknown')
    case 'waiting':
      return waitingAnswer(shape, retryAfterSeconds(refusal.retryAfterMs))
    case 'in-progress':
      return problem(shape, 'in-progress', { retryAfterSeconds: retryAfterSeconds(refusal.retryAfterMs) })
    case 'store-unavailable':
      return problem(shape, 'store-unavailable', { retryAfterSeconds: STORE_RETRY_AFTER_SECONDS })
  }
}

/** The stored answer of a finished operation, marked as a replay. A failure is always answered as it was. */
export async function replayAnswer(
  { refresh }: Pick<HttpSettings, 'refresh'>,
  shape: Shape,
  event: unknown,
  outcome: Outcome,
): Promise<HttpAnswer> {
  const stored = storedAnswer(shape, outcome)
  if (outcome.kind === 'failure' || refresh === undefined) return replayOf(shape, stored)
  const refreshed = wireResponse(shape, await refresh(stored, event))
  return replayOf(shape, { ...refreshed, ...(stored.stripped && { stripped: stored.stripped }) })
}

function storedAnswer(shape: Shape, outcome: Outcome): StoredResponse {
  if (outcome.kind === 'failure' && outcome.value === undefined) {
    return problem(shape, outcome.failure.code === 'OUTCOME_UNSTORABLE' ? 'outcome-not-kept' : 'operation-failed')
  }
  return readStored(shape, outcome.value)
}
