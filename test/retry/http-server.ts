import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How the server meets one request. */
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Cuts the connection without an answer. */
  | 'reset'
  /** Never answers. */
  | 'hang'
  /** Sends a head and then a body that never ends. */
  | 'endless-503'

export interface ScriptedServer {
  readonly url: string
  readonly requests: readonly {
    readonly method: string
    readonly headers: IncomingHttpHeaders
    readonly body: string
  }[]
  /** Connections that are open now. */
  openConnections(): Promise<number>
  stop(): Promise<void>
}

/** Answers one request after the other as the script says, and 200 after its end. */
export async function startScriptedServer(script: readonly Answer[]): Promise<ScriptedServer> {
  const requests: { method: string; headers: IncomingHttpHeaders; body: string }[] = []
  const server = createServer(async (request, response) => {
    const answer = script[requests.length] ?? { status: 200, body: 'done' }
    const seen = { method: request.method ?? '', headers: request.headers, body: '' }
    requests.push(seen)
    for await (const chunk of request) seen.body += chunk
    give(answer, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    openConnections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function give(answer: Answer, response: ServerResponse): void {
  if (answer === 'hang') return
  if (answer === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  if (answer === 'endless-503') {
    response.writeHead(503).write('x'.repeat(100_000))
    return
  }
  response.writeHead(answer.status, answer.headers).end(answer.body ?? '')
}
