import { STATUS_CODES } from 'node:http'
import type { Shape } from '../request/event.ts'
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

const PROBLEMS: Readonly<Record<ProblemKind, { status: number; title: string; detail?: string }>> = {
  'missing-key': { status: 400, title: 'The request has no idempotency key.' },
  'invalid-key': { status: 400, title: 'The idempotency key is not valid.' },
  'key-reused': {
    status: 422,
    title: 'The idempotency key was used before with a different request.',
    detail: 'Use a new key for a new operation, or repeat the first request unchanged.',
  },
  'in-progress': {
    status: 409,
    title: 'A request with this idempotency key is still in progress.',
    detail: 'Repeat the same request later.',
  },
  'outcome-unknown': {
    status: 409,
    title: 'The outcome of the operation is not known.',
    detail: 'It is not run again until it has been settled. Do not repeat the request under another key.',
  },
  'outcome-not-kept': {
    status: 500,
    title: 'The operation was carried out, but its response was not kept.',
    detail: 'It is not run again. Do not repeat the request under another key.',
  },
  'operation-failed': {
    status: 500,
    title: 'The operation failed.',
    detail: 'It is not run again under this idempotency key.',
  },
  'try-again': {
    status: 503,
    title: 'The operation could not be finished now.',
    detail: 'Repeat the same request later.',
  },
  'store-unavailable': {
    status: 503,
    title: 'The request cannot be protected against repetition now, so it was not carried out.',
    detail: 'Repeat the same request later.',
  },
  timeout: {
    status: 504,
    title: 'The operation did not finish in time.',
    detail: 'It may still be running. Repeat the same request later to get its answer.',
  },
}

/** A problem as RFC 9457 has it, in the form that the source takes. */
export function problem(
  shape: Shape,
  kind: ProblemKind,
  more: { readonly detail?: string; readonly retryAfterSeconds?: number | undefined } = {},
): HttpAnswer {
  const document = { type: PROBLEM_TYPE_BASE + kind, ...PROBLEMS[kind], ...(more.detail && { detail: more.detail }) }
  return documentAnswer(shape, document.status, 'application/problem+json', document, more.retryAfterSeconds)
}

/** A problem that a handler's own error describes: no type of its own, and no text it did not mean to show. */
export function statusProblem(shape: Shape, status: number, detail: string | undefined): HttpAnswer {
  const document = { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, ...(detail && { detail }) }
  return documentAnswer(shape, status, 'application/problem+json', document)
}

/** The answer to a repetition of an operation that waits: accepted, not finished. */
export function waitingAnswer(shape: Shape, retryAfterSeconds: number | undefined): HttpAnswer {
  const document = {
    status: 'waiting',
    detail: 'The operation will be continued. Repeat the same request to get its answer.',
  }
  return documentAnswer(shape, 202, 'application/json', document, retryAfterSeconds)
}

function documentAnswer(
  shape: Shape,
  statusCode: number,
  contentType: string,
  document: object,
  retryAfterSeconds?: number,
): HttpAnswer {
  const headers = {
    'Content-Type': contentType,
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
  }
  const description = { statusDescription: `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trim() }
  return {
    statusCode,
    ...((shape === 'alb' || shape === 'alb-multi') && description),
    ...(shape === 'alb-multi'
      ? { multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])) }
      : { headers }),
    body: JSON.stringify(document),
    isBase64Encoded: false,
  }
}
