import { OutcomeUnstorableError } from '../../base/errors.ts'
import { show } from '../../base/guards.ts'
import { type Fields, fieldsOf } from '../fields.ts'
import type { Shape } from '../request/event.ts'
import { type Headed, type HeaderValue, mapHeaders } from './headers.ts'

/** A response in full form, as the gateways take it. */
export interface HttpAnswer extends Headed {
  statusCode: number
  /** Application Load Balancers only. */
  statusDescription?: string
  headers?: { [name: string]: HeaderValue }
  multiValueHeaders?: { [name: string]: HeaderValue[] }
  /** HTTP APIs and Function URLs only. */
  cookies?: string[]
  body: string
  isBase64Encoded?: boolean
}

/**
 * What a source makes of a handler's response, in full form and with nothing in it that the source ignores.
 *
 * HTTP APIs and Function URLs take a value without `statusCode` as the body of a 200
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
 *
 * @throws OutcomeUnstorableError when it is no response that the source could send.
 */
export function wireResponse(shape: Shape, response: unknown): HttpAnswer {
  const fields = fieldsOf(response)
  if (isStream(response) || isStream(fields.body)) {
    // Reading it would take it from the caller.
    throw new OutcomeUnstorableError('The response is a stream, which cannot be replayed: return a string body.')
  }
  const { body, statusDescription, headers, multiValueHeaders, cookies, isBase64Encoded } = fields
  const statusCode = fields.statusCode ?? undefined
  if (shape === 'http' && statusCode === undefined) {
    return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: textOf(response ?? null) }
  }
  if (!isMap(response)) {
    const got = typeof response === 'string' ? 'a string' : show(response)
    throw new OutcomeUnstorableError(`The handler must return { statusCode, headers, body }; it returned ${got}.`)
  }
  return {
    statusCode: statusOf(statusCode),
    ...(shape.startsWith('alb') && typeof statusDescription === 'string' && { statusDescription }),
    ...(isMap(headers) && { headers: mapHeaders(headers, headerValue) }),
    ...(shape === 'http'
      ? Array.isArray(cookies) && { cookies: cookies.map(String) }
      : isMap(multiValueHeaders) && {
          multiValueHeaders: mapHeaders(multiValueHeaders, (values) =>
            [values].flat().flatMap((value) => headerValue(value) ?? []),
          ),
        }),
    body: textOf(body ?? ''),
    ...(typeof isBase64Encoded === 'boolean' && { isBase64Encoded }),
  }
}

function statusOf(given: unknown = 200): number {
  const status = typeof given === 'string' ? Number(given) : given
  if (isStatus(status, 100)) return status
  throw new OutcomeUnstorableError(`The response's statusCode must be a number from 100 to 599; got ${show(given)}.`)
}

/** Whether it is an HTTP status from `low` on. */
export function isStatus(value: unknown, low: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= low && value <= 599
}

function isStream(value: unknown): boolean {
  const fields = fieldsOf(value)
  return 'pipe' in fields || 'pipeTo' in fields || Symbol.asyncIterator in fields
}

function textOf(value: unknown): string {
  let cause: unknown
  try {
    const text: string | undefined = typeof value === 'string' ? value : JSON.stringify(value)
    if (text !== undefined) return text
  } catch (error) {
    cause = error
  }
  throw new OutcomeUnstorableError(`The response cannot be written as JSON; got ${show(value)}.`, { cause })
}

function headerValue(value: unknown): HeaderValue | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
