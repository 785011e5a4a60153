import { OutcomeUnstorableError } from '../../core/errors.ts'
import { type Fields, fieldsOf, type Shape } from '../request/event.ts'
import type { Headed, HeaderValue } from './headers.ts'

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
  refuseStream(response)
  const fields = fieldsOf(response)
  if (shape === 'http' && (fields.statusCode === undefined || fields.statusCode === null)) {
    return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: textOf(response ?? null) }
  }
  if (typeof response !== 'object' || response === null || Array.isArray(response)) {
    const got = Array.isArray(response) ? 'an array' : response === null ? 'null' : typeof response
    throw new OutcomeUnstorableError(
      `The handler returned ${got}, which this source cannot send. Return { statusCode, headers, body }.`,
    )
  }
  return { ...headFields(shape, fields), ...bodyFields(fields) }
}

function headFields(shape: Shape, fields: Fields): Omit<HttpAnswer, 'body'> {
  const head: Omit<HttpAnswer, 'body'> = { statusCode: statusOf(fields.statusCode) }
  if ((shape === 'alb' || shape === 'alb-multi') && typeof fields.statusDescription === 'string') {
    head.statusDescription = fields.statusDescription
  }
  if (isObject(fields.headers)) head.headers = mapped(fields.headers, headerValue)
  if (shape === 'http') {
    if (Array.isArray(fields.cookies)) head.cookies = fields.cookies.map(String)
  } else if (isObject(fields.multiValueHeaders)) {
    head.multiValueHeaders = mapped(fields.multiValueHeaders, headerValues)
  }
  return head
}

function bodyFields({ body, isBase64Encoded }: Fields): Pick<HttpAnswer, 'body' | 'isBase64Encoded'> {
  return {
    body: body === undefined || body === null ? '' : textOf(body),
    ...(typeof isBase64Encoded === 'boolean' && { isBase64Encoded }),
  }
}

function statusOf(given: unknown): number {
  if (given === undefined || given === null) return 200
  const status = typeof given === 'string' ? Number(given) : given
  if (typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599) return status
  throw new OutcomeUnstorableError('The response has a statusCode that is none: it must be a number from 100 to 599.')
}

/** A stream cannot be stored, and reading it would take it from the caller. */
function refuseStream(response: unknown): void {
  if (!isStream(response) && !isStream(fieldsOf(response).body)) return
  throw new OutcomeUnstorableError(
    'The response is a stream, which cannot be stored and replayed. Return a string body, or leave this route without idempotency.',
  )
}

function isStream(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return 'pipe' in value || 'pipeTo' in value || Symbol.asyncIterator in value
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw new OutcomeUnstorableError('The response cannot be written as JSON.', { cause: error })
  }
  if (text === undefined)
    throw new OutcomeUnstorableError(`The response is a ${typeof value}, which JSON cannot express.`)
  return text
}

function headerValue(value: unknown): HeaderValue | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
}

function headerValues(values: unknown): HeaderValue[] {
  return [values].flat().flatMap((value) => headerValue(value) ?? [])
}

function mapped<V>(map: Fields, change: (value: unknown) => V | undefined): { [name: string]: V } {
  return Object.fromEntries(
    Object.entries(map).flatMap(([name, value]) => {
      const changed = change(value)
      return changed === undefined ? [] : [[name, changed]]
    }),
  )
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
