import { isLambdaOnceError } from '../base/errors.ts'
import type { Ending } from '../engine/ending.ts'
import type { Refusal } from '../engine/refusal.ts'
import { isSuspension } from '../operation/suspension.ts'
import type { Admitted } from './admission.ts'
import { errorAnswer } from './answer/failure.ts'
import { committedForm, refusalAnswer } from './answer/refusal.ts'
import { type StoredResponse, storedForm } from './answer/replay.ts'
import { type HttpAnswer, wireResponse } from './answer/wire.ts'
import type { HttpSettings } from './options.ts'

/** Statuses by which a returned response says "not executed, come again"; they are not stored. */
const NOT_EXECUTED_STATUSES: readonly number[] = [401, 403, 408, 425, 429, 502, 503, 504]

/** What is known of the handler when there is a response. */
export interface Returning {
  /** What it returned, before middlewares changed it. */
  readonly returned: unknown
  /**
   * Whether it certainly runs no more. What Middy's `timeoutEarlyResponse` returns, at whatever time and with whatever
   * status, looks like the response of a handler, which runs on.
   * @defaultValue false
   */
  readonly isSettled?: boolean
}

/**
 * Ends a request that has a response: what middlewares have made of what was `returned`. One that may not be stored is
 * its first caller's all the same. Whatever this throws leaves the operation open: it is an error that came after the
 * handler, and to be ended as one.
 *
 * @throws OutcomeUnstorableError when the response is none that any gateway could send
 * @throws StepNotAwaitedError when a step still runs
 */
export async function endReturned(
  settings: HttpSettings,
  admission: Admitted,
  response: unknown,
  { returned, isSettled }: Returning,
): Promise<Ending> {
  const { execution } = admission
  if (!admission.isProtected) return execution.giveUp('keep')
  if (isSuspension(returned)) {
    const ending = await execution.complete(returned)
    // The suspension itself is no response: where it could not be written, the operation is in progress for this client.
    return ending.kind === 'kept' || ending.kind === 'unrecorded' ? { kind: 'lost' } : ending
  }
  const isCommitted = execution.committed !== undefined
  // The committed value is the answer then.
  if (isCommitted && response === undefined) return execution.giveUp('keep')
  let stored: StoredResponse
  try {
    const wire = wireResponse(admission.shape, response)
    if (!isCommitted && !(await isFinal(settings, admission, wire))) {
      const { statusCode } = wire
      // A status that says what is wrong with the request, or with its caller, is no time-out's.
      const isClients = statusCode >= 400 && statusCode < 500 && statusCode !== 408
      return execution.giveUp(isSettled || isClients ? 'release' : 'keep', 'resume')
    }
    stored = storedForm(settings, wire, response)
  } catch (error) {
    // What is no object no gateway could send: an error is seen by logs and alarms.
    if (Object(response) !== response || !isLambdaOnceError(error, 'OUTCOME_UNSTORABLE')) throw error
    const ending = await execution.reject(error)
    return isCommitted ? { kind: 'kept' } : ending
  }
  return execution.complete(stored, (committed) =>
    committedForm(settings, admission, committed, execution.operation.id),
  )
}

/** What is known when an error has to be answered. */
export interface ErrorAnswering {
  /** What error middlewares have answered. */
  readonly answered?: unknown
  /** Whether an error that says which status it is for is answered here, when nobody has, or left to those outside. */
  readonly answersExposed: boolean
}

/**
 * Ends a request whose handler, or a middleware after it, threw. `undefined`: what error middlewares answered
 * stands, or the error itself when they did not.
 */
export async function endThrown(
  settings: HttpSettings,
  admission: Admitted,
  error: unknown,
  { answered, answersExposed }: ErrorAnswering,
): Promise<HttpAnswer | undefined> {
  const { execution } = admission
  if (!admission.isProtected) {
    await execution.giveUp('keep')
    return undefined
  }
  const { answer, exposed, replayed } = errorAnswer(admission.shape, error, answered, admission.remainingMs())
  const ending = await execution.reject(error, () => failureForm(settings, replayed))
  const own = answer ?? (answersExposed ? exposed : undefined)
  return (await answerInstead(settings, admission, ending)) ?? own
}

/** What goes wrong in the user's function must not undo what the handler did: then the default decides. */
async function isFinal(
  { engine, storeResponse }: HttpSettings,
  { execution }: Admitted,
  response: HttpAnswer,
): Promise<boolean> {
  try {
    if (storeResponse !== undefined) return await storeResponse(response)
  } catch (error) {
    engine.report({ type: 'hook-failed', hook: 'storeResponse', error }, execution.operation.id)
  }
  return !NOT_EXECUTED_STATUSES.includes(response.statusCode)
}

/** What is stored of a failure's response. Where nothing may be, repetitions get a general one. */
function failureForm(settings: HttpSettings, response: HttpAnswer): StoredResponse | undefined {
  try {
    return storedForm(settings, response)
  } catch (error) {
    if (isLambdaOnceError(error, 'OUTCOME_UNSTORABLE')) return undefined
    throw error
  }
}

/** The answer that takes the place of the handler's own: another outcome stands, or nobody knows this one. */
export async function answerInstead(
  settings: HttpSettings,
  admission: Admitted,
  ending: Ending,
): Promise<HttpAnswer | undefined> {
  const refusal = refusalBy(ending)
  return refusal && refusalAnswer(settings, admission, refusal, admission.execution.operation.id)
}

function refusalBy(ending: Ending): Refusal | undefined {
  switch (ending.kind) {
    case 'recorded':
      return ending.as === 'unknown' ? { kind: 'unknown' } : undefined
    case 'kept':
    case 'unprotected':
    case 'unrecorded':
      return undefined
    case 'outdone':
      return { ...ending, kind: 'replay' }
    case 'suspended':
      return { ...ending, kind: 'waiting', isContinued: true }
    case 'lost':
      return { kind: 'in-progress', retryAfterMs: 0 }
  }
}
