import { createServer, type IncomingMessage } from 'node:http'
import { type LoopbackServer, listenOnLoopback } from '../engines/loopback-server.ts'
import type { InvocationResult } from '../lambda/invocation.ts'
import type { LocalRoute } from '../template/model.ts'
import { httpApiEvent, type JwtIdentity } from './event.ts'
import { gatewayAnswer, type WireResponse, wireResponse } from './response.ts'
import { matchRoute } from './route-match.ts'
import type { TokenIssuer } from './token-issuer.ts'

// API Gateway's own limit.
const BODY_LIMIT_BYTES = 10 * 1024 * 1024

/** Options of {@link startHttpApi}. */
export interface HttpApiOptions {
  readonly routes: readonly LocalRoute[]
  readonly tokens: TokenIssuer
  /** Runs the function with this name. */
  readonly invoke: (functionName: string, event: unknown) => Promise<InvocationResult>
  /** @defaultValue a free port */
  readonly port?: number
}

/** Serves the template's routes on loopback as an API Gateway HTTP API does. */
export async function startHttpApi(options: HttpApiOptions): Promise<LoopbackServer> {
  const server = createServer((request, response) => {
    answer(options, request)
      .catch((error: unknown) => {
        console.error(error)
        return gatewayAnswer(500, 'Internal Server Error')
      })
      .then(({ statusCode, headers, body }) => {
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
        response.writeHead(statusCode).end(body)
      })
      // What is left to fail is writing to a client that has gone, or a header no HTTP server may send.
      .catch(() => response.destroy())
  })
  return listenOnLoopback(server, options.port)
}

async function answer(options: HttpApiOptions, request: IncomingMessage): Promise<WireResponse> {
  const path = request.url?.split('?')[0] ?? '/'
  const match = matchRoute(options.routes, request.method ?? 'GET', path)
  if (match === undefined) return gatewayAnswer(404, 'Not Found')
  const { route, pathParameters } = match
  const body = await readBody(request)
  if (body === undefined) return gatewayAnswer(413, 'Request Entity Too Large')
  let identity: JwtIdentity | undefined
  if (route.authorizer) {
    const token = request.headers[route.authorizer.header]
    const verified = await options.tokens.verify(typeof token === 'string' ? token : undefined, route.authorizer)
    if (verified === 'unauthorized') return gatewayAnswer(401, 'Unauthorized', { 'www-authenticate': 'Bearer' })
    if (verified === 'forbidden') return gatewayAnswer(403, 'Forbidden')
    identity = verified
  }
  const event = httpApiEvent({ message: request, body, routeKey: route.routeKey, pathParameters, identity })
  const timeout = Promise.withResolvers<WireResponse>()
  // An HTTP API answers 503 when the integration takes too long; the function runs on.
  const timer = setTimeout(() => timeout.resolve(gatewayAnswer(503, 'Service Unavailable')), route.timeoutMs)
  try {
    return await Promise.race([options.invoke(route.functionName, event).then(wireResponse), timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The body, or undefined when it is larger than API Gateway takes. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).byteLength
    if (size <= BODY_LIMIT_BYTES) chunks.push(chunk as Buffer)
  }
  return size <= BODY_LIMIT_BYTES ? Buffer.concat(chunks) : undefined
}
