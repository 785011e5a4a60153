import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { LOCAL_ACCOUNT_ID } from '../template/resolve.ts'

/** The claims of a verified token as the gateway passes them on: every value a string. */
export interface JwtIdentity {
  readonly claims: { readonly [name: string]: string }
  readonly scopes: readonly string[] | null
}

/** What of a request the event is made of. */
export interface GatewayRequest {
  readonly message: IncomingMessage
  readonly body: Buffer
  readonly routeKey: string
  readonly pathParameters: { readonly [name: string]: string } | undefined
  readonly identity: JwtIdentity | undefined
}

// What an HTTP API hands over as text; anything else, form posts included, arrives base64-encoded.
const TEXT_TYPE = /^(text\/.*|application\/(json|javascript|xml|.*\+json|.*\+xml))$/

/**
 * The payload (format 2.0) an HTTP API sends to a function
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
 */
export function httpApiEvent(request: GatewayRequest, nowMs = Date.now()): APIGatewayProxyEventV2 {
  const { message, body, routeKey, pathParameters, identity } = request
  const [rawPath = '/', rawQueryString = ''] = splitOnce(message.url ?? '/', '?')
  const { cookie, ...headers } = joinedHeaders(message)
  const query = queryParameters(rawQueryString)
  const isText = TEXT_TYPE.test((headers['content-type'] ?? 'text/plain').split(';')[0]?.trim().toLowerCase() ?? '')
  const method = message.method ?? 'GET'
  const event = {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString,
    ...(cookie === undefined ? {} : { cookies: cookie.split(/; */) }),
    headers,
    ...(Object.keys(query).length === 0 ? {} : { queryStringParameters: query }),
    requestContext: {
      accountId: LOCAL_ACCOUNT_ID,
      apiId: 'local',
      ...(identity === undefined ? {} : { authorizer: { jwt: identity } }),
      domainName: headers.host ?? '',
      domainPrefix: 'local',
      http: {
        method,
        path: rawPath,
        protocol: `HTTP/${message.httpVersion}`,
        sourceIp: message.socket.remoteAddress ?? '127.0.0.1',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey,
      stage: '$default',
      time: accessLogTime(nowMs),
      timeEpoch: nowMs,
    },
    ...(body.byteLength === 0 ? {} : { body: body.toString(isText ? 'utf8' : 'base64') }),
    ...(pathParameters === undefined ? {} : { pathParameters }),
    isBase64Encoded: body.byteLength > 0 && !isText,
  }
  return event as unknown as APIGatewayProxyEventV2
}

function joinedHeaders(message: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, values = []] of Object.entries(message.headersDistinct)) {
    // Cookies are a list of their own; elsewhere repeated headers are joined with commas.
    headers[name] = values.join(name === 'cookie' ? '; ' : ',')
  }
  return headers
}

function queryParameters(rawQueryString: string): Record<string, string> {
  const query: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    query[name] = query[name] === undefined ? value : `${query[name]},${value}`
  }
  return query
}

/** `12/Mar/2020:19:03:58 +0000` */
function accessLogTime(nowMs: number): string {
  const [, day, month, year, time] = new Date(nowMs).toUTCString().split(' ')
  return `${day}/${month}/${year}:${time} +0000`
}

function splitOnce(text: string, separator: string): string[] {
  const position = text.indexOf(separator)
  return position < 0 ? [text] : [text.slice(0, position), text.slice(position + separator.length)]
}
