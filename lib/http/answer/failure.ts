import { isLambdaOnceError } from '../../base/errors.ts'
import { isMiddyTimeout } from '../../record/disposition.ts'
import { fieldsOf, pairsOf } from '../fields.ts'
import type { Shape } from '../request/event.ts'
import { withHeaders } from './headers.ts'
import { problem, statusProblem } from './problems.ts'
import { failureProblem } from './refusal.ts'
import { type HttpAnswer, isStatus, wireResponse } from './wire.ts'

/** What the answers to an error are. */
export interface ErrorAnswer {
  /** To its first caller, whatever error middlewares made of it. */
  readonly answer?: HttpAnswer
  /** To its first caller, if there are no error middlewares. */
  readonly exposed?: HttpAnswer
  /** To every repetition, if the failure is stored. Never shows what an error did not mean to show. */
  readonly replayed: HttpAnswer
}

/** How long a client is to wait when the handler asks for a retry, and how long after the end of an invocation. */
const RETRY_AFTER_MS = 1_000

/**
 * Decides from an error and from what error middlewares made of it. An error that nobody answered stays an error,
 * so that Lambda's logs, metrics and alarms see it; one that says which status it is for gets that.
 */
export function errorAnswer(
  shape: Shape,
  error: unknown,
  answered: unknown,
  remainingMs: number | undefined,
): ErrorAnswer {
  const theirs = answered === undefined ? undefined : readable(shape, answered)
  const ours = retryAnswer(shape, error, remainingMs)
  // Error middlewares know these errors as "any other" and answer a general 500.
  if (ours !== undefined && (theirs === undefined || theirs.statusCode === 500)) {
    const answer = theirs === undefined ? ours : onTopOf(shape, theirs, ours)
    return { answer, replayed: answer }
  }
  if (theirs !== undefined) return { replayed: theirs }
  const exposed = exposedProblem(shape, error)
  return exposed === undefined ? { replayed: failureProblem(shape, error) } : { exposed, replayed: exposed }
}

/** The answer to an error that says "come again". */
function retryAnswer(shape: Shape, error: unknown, remainingMs: number | undefined): HttpAnswer | undefined {
  if (isLambdaOnceError(error, 'RETRY_LATER')) return problem(shape, 'try-again', { retryAfterMs: RETRY_AFTER_MS })
  if (!isMiddyTimeout(error)) return undefined
  return problem(shape, 'timeout', { retryAfterMs: (remainingMs ?? 0) + RETRY_AFTER_MS })
}

/** An error in the manner of http-errors: its status, and its message where it is meant to be shown. */
function exposedProblem(shape: Shape, error: unknown): HttpAnswer | undefined {
  const { statusCode, expose, message, headers } = fieldsOf(error)
  if (!isStatus(statusCode, 400)) return undefined
  const isShown = typeof expose === 'boolean' ? expose : statusCode < 500
  if (!isShown) return undefined
  const answer = statusProblem(shape, statusCode, typeof message === 'string' ? message : undefined)
  return withHeaders(shape, answer, pairsOf(headers))
}

/** Their headers (CORS among them) with our status and document. */
function onTopOf(shape: Shape, theirs: HttpAnswer, ours: HttpAnswer): HttpAnswer {
  const { headers, multiValueHeaders, ...document } = ours
  return { ...withHeaders(shape, theirs, pairsOf(headers ?? multiValueHeaders)), ...document }
}

/** What error middlewares answered, when it is a response that can be stored. */
function readable(shape: Shape, answered: unknown): HttpAnswer | undefined {
  try {
    return wireResponse(shape, answered)
  } catch {
    return undefined
  }
}
