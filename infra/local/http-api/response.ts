import type { InvocationResult } from '../lambda/invocation.ts'

/** What goes over the wire. */
export interface WireResponse {
  readonly statusCode: number
  readonly headers: { readonly [name: string]: string | readonly string[] }
  readonly body: Buffer
}

/** An answer the gateway gives by itself. */
export function gatewayAnswer(
  statusCode: number,
  message: string,
  headers: WireResponse['headers'] = {},
): WireResponse {
  return {
    statusCode,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify({ message })),
  }
}

/** Turns the end of an invocation into a response as an HTTP API does (payload format 2.0). */
export function wireResponse(result: InvocationResult): WireResponse {
  if (result.kind === 'throttled') return gatewayAnswer(503, 'Service Unavailable')
  if (result.kind === 'error') return gatewayAnswer(500, 'Internal Server Error')
  const { payload } = result
  if (!isObject(payload) || payload.statusCode === undefined) {
    // "Inferred" responses: whatever has no status code is itself the body of a 200.
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) }
  }
  const { statusCode, headers, cookies, body, isBase64Encoded } = payload
  const status = Number(statusCode)
  const isValid =
    Number.isInteger(status) &&
    status >= 100 &&
    status <= 599 &&
    (body === undefined || body === null || typeof body === 'string') &&
    (headers === undefined || headers === null || isObject(headers)) &&
    (cookies === undefined || cookies === null || Array.isArray(cookies))
  if (!isValid) return gatewayAnswer(500, 'Internal Server Error')
  const named = Object.entries(isObject(headers) ? headers : {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value),
  ])
  return {
    statusCode: status,
    headers: {
      'content-type': 'text/plain;charset=UTF-8',
      ...Object.fromEntries(named),
      ...(Array.isArray(cookies) && cookies.length > 0 ? { 'set-cookie': cookies.map(String) } : {}),
    },
    body: Buffer.from(typeof body === 'string' ? body : '', isBase64Encoded === true ? 'base64' : 'utf8'),
  }
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
