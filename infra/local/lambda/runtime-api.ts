import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenOnLoopback } from '../engines/loopback-server.ts'

// Lambda's limit on a buffered response: 6 MB.
const RESPONSE_LIMIT_BYTES = 6 * 1024 * 1024

/** The error a runtime reports. */
export interface ReportedError {
  readonly errorType: string
  readonly errorMessage: string
}

/** What a runtime says to its Runtime API. */
export interface RuntimeListener {
  /** The runtime is ready for an invocation; `deliver` hands it one. */
  onNext(deliver: (invocation: { headers: Record<string, string>; body: string }) => void): void
  /** False when this request id is not the one in flight. */
  onResponse(requestId: string, body: string): boolean
  /** False when this request id is not the one in flight. */
  onError(requestId: string, error: ReportedError): boolean
  onInitError(error: ReportedError): void
}

/** The Runtime API of one execution environment. */
export interface RuntimeApi {
  /** `host:port`, for AWS_LAMBDA_RUNTIME_API. */
  readonly address: string
  close(): void
}

/** Serves the Runtime API for one execution environment on loopback. */
export async function startRuntimeApi(listener: RuntimeListener): Promise<RuntimeApi> {
  const server = createServer((request, response) => {
    void serve(listener, request, response).catch(() => response.destroy())
  })
  // A frozen runtime keeps its connection for as long as it sleeps; closing it would break the first call after thawing.
  server.keepAliveTimeout = 0
  const { endpoint, stop } = await listenOnLoopback(server)
  return Object.freeze({ address: new URL(endpoint).host, close: () => void stop() })
}

async function serve(listener: RuntimeListener, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url?.replace('/2018-06-01/runtime/', '') ?? ''
  if (request.method === 'GET' && path === 'invocation/next') {
    listener.onNext(({ headers, body }) => {
      response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(body)
    })
    return
  }
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const accept = (known: boolean): void => {
    if (known) response.writeHead(202).end('{"status":"OK"}')
    else response.writeHead(400).end('{"errorType":"InvalidRequestID","errorMessage":"Invalid request ID"}')
  }
  if (request.method === 'POST' && path === 'init/error') {
    listener.onInitError(readError(body))
    return accept(true)
  }
  const [, requestId, what] = /^invocation\/([^/]+)\/(response|error)$/.exec(path) ?? []
  if (request.method !== 'POST' || requestId === undefined) {
    response.writeHead(404).end()
    return
  }
  if (what === 'error') return accept(listener.onError(requestId, readError(body)))
  if (body.byteLength > RESPONSE_LIMIT_BYTES) {
    const errorMessage = `Response payload size exceeded maximum allowed payload size (${RESPONSE_LIMIT_BYTES} bytes).`
    listener.onError(requestId, { errorType: 'Function.ResponseSizeTooLarge', errorMessage })
    response.writeHead(413).end('{"errorType":"RequestEntityTooLarge"}')
    return
  }
  accept(listener.onResponse(requestId, body.toString('utf8')))
}

function readError(body: Buffer): ReportedError {
  try {
    const { errorType, errorMessage } = JSON.parse(body.toString('utf8')) as Partial<ReportedError>
    return { errorType: String(errorType), errorMessage: String(errorMessage) }
  } catch {
    return { errorType: 'Runtime.Unknown', errorMessage: body.toString('utf8') }
  }
}
