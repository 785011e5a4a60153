import { InvalidEventError } from '../../base/errors.ts'
import { type Fields, fieldsOf, headerValues, pairsOf } from '../fields.ts'

/**
 * The form in which an answer has to be given: API Gateway's payload format 1.0 (`rest`), its format 2.0 and
 * Function URLs (`http`), a load balancer's target group without and with multi-value headers.
 */
export type Shape = 'rest' | 'http' | 'alb' | 'alb-multi'

/** What the four event formats say in common. A view: the event itself is never changed. */
export interface HttpRequest {
  readonly shape: Shape
  /** In upper case. */
  readonly method: string
  /** The concrete path, as the client wrote it. */
  readonly path: string
  /** Name and value of every query parameter, in the order and encoding in which the source gives them. */
  readonly query: readonly (readonly [string, string])[]
  /** `null`, `undefined` and `""` all mean that there is none. */
  readonly body: unknown
  readonly isBase64Encoded: boolean
  readonly requestContext: Fields
  /** Every value that came under this name, in any case, from `headers` and `multiValueHeaders`. */
  header(name: string): readonly string[]
}

/** @throws InvalidEventError when the event is not an HTTP request of one of the four kinds. */
export function readRequest(event: unknown): HttpRequest {
  const fields = fieldsOf(event)
  const requestContext = fieldsOf(fields.requestContext)
  const http = fieldsOf(requestContext.http)
  if (fields.version === '2.0' && typeof http.method === 'string' && typeof fields.rawPath === 'string') {
    return view(fields, requestContext, {
      shape: 'http',
      method: http.method,
      path: fields.rawPath,
      query: rawQuery(fields.rawQueryString),
    })
  }
  if (typeof fields.httpMethod === 'string' && typeof fields.path === 'string') {
    return view(fields, requestContext, {
      shape: 'elb' in requestContext ? (fields.multiValueHeaders ? 'alb-multi' : 'alb') : 'rest',
      method: fields.httpMethod,
      path: fields.path,
      query: pairsOf(fields.multiValueQueryStringParameters ?? fields.queryStringParameters),
    })
  }
  throw new InvalidEventError(
    'The event is no HTTP request of API Gateway, a Function URL or a load balancer. For queues and streams use idempotentBatch, for single events idempotentEvent, for WebSocket messages, AppSync resolvers and anything else run or wrap.',
  )
}

function view(
  fields: Fields,
  requestContext: Fields,
  common: Pick<HttpRequest, 'shape' | 'method' | 'path' | 'query'>,
): HttpRequest {
  return {
    ...common,
    method: common.method.toUpperCase(),
    body: fields.body,
    isBase64Encoded: fields.isBase64Encoded === true,
    requestContext,
    // REST APIs keep the client's casing of header names, so the lookup ignores it everywhere.
    header: (name) => headerValues(fields, name),
  }
}

/** Kept in its encoded form: decoding would make distinct ill-formed escapes equal. */
function rawQuery(text: unknown): (readonly [string, string])[] {
  if (typeof text !== 'string') return []
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name, value.join('=')]
    })
}
