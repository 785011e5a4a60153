import { isMiddyTimeout } from '../../core/disposition.ts'
import { isLambdaOnceError } from '../../core/errors.ts'
import { fieldsOf, type Shape } from '../request/event.ts'
import { valuesOf, withHeader, withoutHeaders } from './headers.ts'
import { problem, statusProblem } from './problems.ts'
import { type HttpAnswer, wireResponse } from './wire.ts'

/** What the answers to an error are. */
export interface ErrorAnswer {
  /** To its first caller, whatever error middlewares made of it. */
  readonly answer?: HttpAnswer
  /** To its first caller, if there are no error middlewares. */
  readonly exposed?: HttpAnswer
  /** To every repetition, if the failure is stored. Never shows what an error did not mean to show. */
  readonly replayed: HttpAnswer
}

/** Seconds after which to come again when the handler asks for a retry without a time. */
const RETRY_LATER_SECONDS = 1

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
    const answer = theirs === undefined ? ours : onTopOf(theirs, ours)
    return { answer, replayed: answer }
  }
  if (theirs !== undefined) return { replayed: theirs }
  const exposed = exposedProblem(shape, error)
  return exposed === undefined ? { replayed: generalProblem(shape, error) } : { exposed, replayed: exposed }
}

/** The answer to an error that says "come again". */
function retryAnswer(shape: Shape, error: unknown, remainingMs: number | undefined): HttpAnswer | undefined {
  if (isLambdaOnceError(error, 'RETRY_LATER')) {
    return problem(shape, 'try-again', { retryAfterSeconds: RETRY_LATER_SECONDS })
  }
  if (!isMiddyTimeout(error)) return undefined
  return problem(shape, 'timeout', { retryAfterSeconds: Math.max(1, Math.ceil((remainingMs ?? 0) / 1000) + 1) })
}

function generalProblem(shape: Shape, error: unknown): HttpAnswer {
  return problem(shape, isLambdaOnceError(error, 'OUTCOME_UNSTORABLE') ? 'outcome-not-kept' : 'operation-failed')
}

/** An error in the manner of http-errors: its status, and its message where it is meant to be shown. */
function exposedProblem(shape: Shape, error: unknown): HttpAnswer | undefined {
  const { statusCode, expose, message, headers } = fieldsOf(error)
  if (typeof statusCode !== 'number' || !Number.isInteger(statusCode) || statusCode < 400 || statusCode > 599) {
    return undefined
  }
  const isShown = typeof expose === 'boolean' ? expose : statusCode < 500
  if (!isShown) return undefined
  const answer = statusProblem(shape, statusCode, typeof message === 'string' ? message : undefined)
  return Object.entries(fieldsOf(headers)).reduce(
    (so, [name, value]) => (typeof value === 'string' ? withHeader(so, name, value, placeOf(shape)) : so),
    answer,
  )
}

/** Their headers (CORS among them) with our status and document. */
function onTopOf(theirs: HttpAnswer, ours: HttpAnswer): HttpAnswer {
  const { headers, multiValueHeaders } = withoutHeaders(theirs, (name) => valuesOf(ours, name).length > 0).response
  return {
    ...ours,
    ...((headers || ours.headers) && { headers: { ...headers, ...ours.headers } }),
    ...((multiValueHeaders || ours.multiValueHeaders) && {
      multiValueHeaders: { ...multiValueHeaders, ...ours.multiValueHeaders },
    }),
  }
}

function placeOf(shape: Shape): 'headers' | 'multiValueHeaders' {
  return shape === 'alb-multi' ? 'multiValueHeaders' : 'headers'
}

/** What error middlewares answered, when it is a response that can be stored. */
function readable(shape: Shape, answered: unknown): HttpAnswer | undefined {
  try {
    return wireResponse(shape, answered)
  } catch {
    return undefined
  }
}
