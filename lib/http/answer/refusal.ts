import { InvalidOptionError } from '../../base/errors.ts'
import { refusePromise, show } from '../../base/guards.ts'
import type { Refusal } from '../../engine/refusal.ts'
import type { Outcome } from '../../outcome/outcome.ts'
import { fieldsOf } from '../fields.ts'
import type { HttpSettings } from '../options.ts'
import type { Shape } from '../request/event.ts'
import type { KeyReading } from '../request/key.ts'
import { fitted } from './fit.ts'
import { problem, waitingAnswer } from './problems.ts'
import { isStored, replayOf, type StoredResponse, storedForm } from './replay.ts'
import { type HttpAnswer, wireResponse } from './wire.ts'

/** How long a client is to wait when the store could not be reached. */
const STORE_RETRY_AFTER_MS = 2_000

/** A request that is answered here, not by its handler. */
export interface Asked {
  readonly event: unknown
  readonly shape: Shape
}

/** Why a request is not run: what the engine says, or that there is no key to ask it with. */
export type HttpRefusal = Refusal | Exclude<KeyReading, { kind: 'key' }>

/** The answer to a request whose operation is not run: the stored one, or one of ours that says why. */
export async function refusalAnswer(
  settings: HttpSettings,
  asked: Asked,
  refusal: HttpRefusal,
  operationId = '',
): Promise<HttpAnswer> {
  return refusal.kind === 'replay'
    ? replayAnswer(settings, asked, refusal.outcome, operationId)
    : asWished(settings, asked, refusedAs(settings, asked.shape, refusal), operationId)
}

function refusedAs(
  { header }: HttpSettings,
  shape: Shape,
  refusal: Exclude<HttpRefusal, { kind: 'replay' }>,
): HttpAnswer {
  switch (refusal.kind) {
    case 'missing-key':
      return problem(shape, refusal.kind, {
        detail: `Send a unique ${header} header, and the same one with every repetition.`,
      })
    case 'invalid-key':
      return problem(shape, refusal.kind, { detail: refusal.why })
    case 'outcome-lost':
      // It is there, and its codec may be able to read it later.
      return fieldsOf(refusal.error).retryable === true
        ? problem(shape, 'try-again', { retryAfterMs: STORE_RETRY_AFTER_MS })
        : problem(shape, 'outcome-not-kept')
    case 'mismatch':
      return problem(shape, 'key-reused')
    case 'unknown':
      return problem(shape, 'outcome-unknown')
    case 'waiting':
      return waitingAnswer(shape, refusal.retryAfterMs)
    case 'in-progress':
      return problem(shape, refusal.kind, { retryAfterMs: refusal.retryAfterMs })
    case 'store-unavailable':
      return problem(shape, refusal.kind, { retryAfterMs: STORE_RETRY_AFTER_MS })
  }
}

/**
 * An answer of ours as the user wants it. What goes wrong in the user's function must not turn a refusal into another
 * decision, so then ours is given as it is.
 */
async function asWished(
  { engine, onRefused }: HttpSettings,
  { shape, event }: Asked,
  answer: HttpAnswer,
  operationId: string,
): Promise<HttpAnswer> {
  if (onRefused === undefined) return answer
  try {
    const theirs = await onRefused(structuredClone(answer), event)
    if (typeof fieldsOf(theirs).statusCode === 'number') return fitted(shape, wireResponse(shape, theirs))
    throw new InvalidOptionError(`onRefused must give a response with a statusCode; it gave ${show(theirs)}.`)
  } catch (error) {
    engine.report({ type: 'hook-failed', hook: 'onRefused', error }, operationId)
    return answer
  }
}

/** The stored answer of a finished operation, marked as a replay. A failure is always answered as it was. */
async function replayAnswer(
  settings: HttpSettings,
  asked: Asked,
  outcome: Outcome,
  operationId: string,
): Promise<HttpAnswer> {
  const { refresh, inner } = settings
  const { shape, event } = asked
  const stored = storedAnswer(settings, asked, outcome, operationId)
  if (outcome.kind === 'failure' || refresh === undefined) return (inner?.replayOf ?? replayOf)(shape, stored)
  const refreshed = wireResponse(shape, await refresh(stored, event))
  return replayOf(shape, { ...refreshed, ...(stored.stripped && { stripped: stored.stripped }) })
}

function storedAnswer(settings: HttpSettings, asked: Asked, outcome: Outcome, operationId: string): StoredResponse {
  const { shape } = asked
  if (outcome.kind === 'failure') {
    return isStored(outcome.value) ? outcome.value : failureProblem(shape, outcome.failure)
  }
  const own = outcome.isCommitted ? outcome.wire : outcome.value
  return isStored(own)
    ? own
    : (committedForm(settings, asked, outcome.value, operationId) ?? problem(shape, 'outcome-not-kept'))
}

/** A value that is no response of ours (committed, recovered or settled) as one; `undefined` when none can be made of it. */
export function committedForm(
  settings: HttpSettings,
  { shape, event }: Asked,
  value: unknown,
  operationId: string,
): StoredResponse | undefined {
  const { engine, render } = settings
  // Elsewhere an object without a status would be taken for an empty response of status 200.
  if (render === undefined && shape !== 'http' && fieldsOf(value).statusCode === undefined) return undefined
  try {
    const response: unknown = render === undefined ? value : render(value, event)
    refusePromise('render', [response])
    return storedForm(settings, wireResponse(shape, response), response)
  } catch (error) {
    if (render !== undefined) engine.report({ type: 'hook-failed', hook: 'render', error }, operationId)
    return undefined
  }
}

/** What is said of a failure whose own answer is not known or not to be shown. */
export function failureProblem(shape: Shape, failure: unknown): HttpAnswer {
  return problem(shape, fieldsOf(failure).code === 'OUTCOME_UNSTORABLE' ? 'outcome-not-kept' : 'operation-failed')
}
