import { NOT_EXECUTED_STATUSES } from '../core/disposition.ts'
import { isLambdaOnceError } from '../core/errors.ts'
import type { Ending } from '../core/execution.ts'
import type { Admitted, Bypassed } from './admission.ts'
import { errorAnswer } from './answer/failure.ts'
import { problem } from './answer/problems.ts'
import { replayAnswer } from './answer/refusal.ts'
import { type StoredResponse, storedForm } from './answer/replay.ts'
import { type HttpAnswer, wireResponse } from './answer/wire.ts'
import type { HttpSettings } from './options.ts'

/**
 * This close to the deadline, in ms, a "come again" response is taken for Middy's early timeout (`timeoutEarlyResponse`
 * may return one): the handler may still be running, so the key is not released and the lease decides.
 */
const NEAR_DEADLINE_MS = 1_000

/**
 * Ends a request whose handler returned. Whatever this throws leaves the operation open: it is an error that came
 * after the handler, and to be ended as one.
 *
 * @throws OutcomeUnstorableError when the response is none, or may not be stored
 * @throws StepNotAwaitedError when a step still runs
 */
export async function endReturned(
  settings: HttpSettings,
  admission: Admitted | Bypassed,
  response: unknown,
): Promise<Ending> {
  const { execution } = admission
  if (admission.kind === 'bypassed') return execution.giveUp('keep')
  const wire = wireResponse(admission.shape, response)
  if (isFinal(settings, wire)) {
    return execution.complete(storedForm(wire, settings.isStripped, settings.onStripped))
  }
  const isNearDeadline = (admission.remainingMs() ?? Number.POSITIVE_INFINITY) <= NEAR_DEADLINE_MS
  return execution.giveUp(isNearDeadline ? 'keep' : 'release', 'resume')
}

/** What is known when an error has to be answered. */
export interface ErrorAnswering {
  /** What error middlewares have answered. */
  readonly answered?: unknown
  /** Whether an error that says which status it is for is answered here, when nobody has, or left to those outside. */
  readonly unanswered: 'answer-exposed' | 'throw'
}

/**
 * Ends a request whose handler, or a middleware after it, threw. `undefined`: what error middlewares answered
 * stands, or the error itself when they did not.
 */
export async function endThrown(
  settings: HttpSettings,
  admission: Admitted | Bypassed,
  error: unknown,
  { answered, unanswered }: ErrorAnswering,
): Promise<HttpAnswer | undefined> {
  const { execution } = admission
  if (admission.kind === 'bypassed') {
    await execution.giveUp('keep')
    return undefined
  }
  const { answer, exposed, replayed } = errorAnswer(admission.shape, error, answered, admission.remainingMs())
  const ending = await execution.reject(error, () => failureForm(settings, replayed))
  const own = answer ?? (unanswered === 'answer-exposed' ? exposed : undefined)
  return (await answerInstead(settings, admission, ending)) ?? own
}

function isFinal({ storeResponse }: HttpSettings, response: HttpAnswer): boolean {
  return storeResponse === undefined ? !NOT_EXECUTED_STATUSES.includes(response.statusCode) : storeResponse(response)
}

/** What is stored of a failure's response. Where nothing may be, repetitions get a general one. */
function failureForm({ isStripped, onStripped }: HttpSettings, response: HttpAnswer): StoredResponse | undefined {
  try {
    return storedForm(response, isStripped, onStripped)
  } catch (error) {
    if (isLambdaOnceError(error, 'OUTCOME_UNSTORABLE')) return undefined
    throw error
  }
}

/** The answer that takes the place of the handler's own: another outcome stands, or nobody knows this one. */
export async function answerInstead(
  settings: HttpSettings,
  admission: Admitted | Bypassed,
  ending: Ending,
): Promise<HttpAnswer | undefined> {
  if (admission.kind === 'bypassed') return undefined
  const { shape, event } = admission
  switch (ending.kind) {
    case 'recorded':
      return ending.as === 'unknown' ? problem(shape, 'outcome-unknown') : undefined
    case 'kept':
    case 'unrecorded':
      return undefined
    case 'outdone':
      return replayAnswer(settings, shape, event, ending.outcome)
    case 'lost':
      return problem(shape, 'in-progress', { retryAfterSeconds: 1 })
  }
}
