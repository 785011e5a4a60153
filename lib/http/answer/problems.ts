import { retryAfterSeconds } from '../../idempotency/result.ts'
import type { Shape } from '../request/event.ts'
import { fitted } from './fit.ts'
import type { HttpAnswer } from './wire.ts'

/** The start of every problem's `type`. What follows is its {@link ProblemKind}. */
export const PROBLEM_TYPE_BASE = 'https://lambda-once.dev/problems/'

/** Why a request got no answer of its handler. The `type` URIs made of these never change. */
export type ProblemKind =
  | 'missing-key'
  | 'invalid-key'
  | 'key-reused'
  | 'in-progress'
  | 'outcome-unknown'
  | 'outcome-not-kept'
  | 'operation-failed'
  | 'try-again'
  | 'store-unavailable'
  | 'timeout'

/** Not imported: an ES import of `node:http` loads all of Node's fetch with it, ten times the time of this package. */
const reasonOf = (status: number): string | undefined => process.getBuiltinModule('node:http').STATUS_CODES[status]

const LATER = 'Repeat the same request later.'
const NOT_AGAIN = 'Do not repeat the request under another key.'

const PROBLEMS: Readonly<Record<ProblemKind, readonly [status: number, title: string, detail?: string]>> = {
  'missing-key': [400, 'The request has no idempotency key.'],
  'invalid-key': [400, 'The idempotency key is not valid.'],
  'key-reused': [
    422,
    'The idempotency key was used before with a different request.',
    'Use a new key for a new operation, or repeat the first request unchanged.',
  ],
  'in-progress': [409, 'A request with this idempotency key is still in progress.', LATER],
  'outcome-unknown': [409, 'The outcome of the operation is not known, so it is not run again.', NOT_AGAIN],
  'outcome-not-kept': [500, 'The operation was carried out, but its response was not kept.', NOT_AGAIN],
  'operation-failed': [500, 'The operation failed.', 'It is not run again under this idempotency key.'],
  'try-again': [503, 'The operation could not be finished now.', LATER],
  'store-unavailable': [503, 'The request was not carried out: it cannot be protected against repetition now.', LATER],
  timeout: [504, 'The operation did not finish in time. It may still be running.', LATER],
}

/** A problem as RFC 9457 has it, in the form that the source takes. */
export function problem(
  shape: Shape,
  kind: ProblemKind,
  more: { readonly detail?: string; readonly retryAfterMs?: number | undefined } = {},
): HttpAnswer {
  const [status, title, detail = more.detail] = PROBLEMS[kind]
  const document = { type: PROBLEM_TYPE_BASE + kind, title, status, detail }
  return documentAnswer(shape, status, document, more.retryAfterMs)
}

/** A problem that a handler's own error describes: no type of its own, and no text it did not mean to show. */
export function statusProblem(shape: Shape, status: number, detail: string | undefined): HttpAnswer {
  const document = { type: 'about:blank', title: reasonOf(status) ?? 'Error', status, detail }
  return documentAnswer(shape, status, document, undefined)
}

/** The answer to a repetition of an operation that waits: accepted, not finished. */
export function waitingAnswer(shape: Shape, retryAfterMs: number | undefined): HttpAnswer {
  const document = { status: 'waiting', detail: `The operation will be continued. ${LATER}` }
  return documentAnswer(shape, 202, document, retryAfterMs, 'application/json')
}

function documentAnswer(
  shape: Shape,
  statusCode: number,
  document: object,
  retryAfterMs: number | undefined,
  contentType = 'application/problem+json',
): HttpAnswer {
  return fitted(shape, {
    statusCode,
    statusDescription: `${statusCode} ${reasonOf(statusCode) ?? ''}`.trim(),
    headers: {
      'Content-Type': contentType,
      ...(retryAfterMs !== undefined && { 'Retry-After': String(retryAfterSeconds(retryAfterMs)) }),
    },
    body: JSON.stringify(document),
    isBase64Encoded: false,
  })
}
