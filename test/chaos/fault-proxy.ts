import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenOnLoopback } from '../../infra/local/engines/loopback-server.ts'
import type { Chance } from '../sim/chance.ts'

/** What is done to a request on its way to DynamoDB. */
export const PROXY_FAULTS = ['answer dropped', 'delayed', 'reset', 'html 500', 'throttled', 'arrives late'] as const
export type ProxyFault = (typeof PROXY_FAULTS)[number]

/** An HTTP proxy that lets most requests pass. */
export interface FaultProxy {
  readonly endpoint: string
  readonly counts: Readonly<Record<ProxyFault, number>>
  readonly requests: number
  /** From now on everything passes. */
  calm(): void
  stop(): Promise<void>
}

const HTML = '<html><body><h1>500 Internal Server Error</h1></body></html>'
const THROTTLED = JSON.stringify({
  __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException',
  message: 'Rate exceeded',
})

/** @param rate - the share of requests that something is done to */
export async function startFaultProxy(target: string, chance: Chance, rate: number): Promise<FaultProxy> {
  const { hostname, port } = new URL(target)
  const counts = Object.fromEntries(PROXY_FAULTS.map((fault) => [fault, 0])) as Record<ProxyFault, number>
  let isCalm = false
  let requests = 0

  function forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ hostname, port, method, path: url, headers }, resolve)
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  async function pass(incoming: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const answer = await forward(incoming, body)
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    requests++
    if (isCalm || !chance.happens(rate)) return pass(incoming, body, response)
    const fault = chance.pick(PROXY_FAULTS)
    counts[fault]++
    switch (fault) {
      case 'answer dropped':
        ;(await forward(incoming, body)).resume()
        incoming.socket.resetAndDestroy()
        return
      case 'delayed':
        await sleep(chance.between(50, 4_000))
        return pass(incoming, body, response)
      case 'reset':
        incoming.socket.resetAndDestroy()
        return
      case 'html 500':
        response.writeHead(500, { 'content-type': 'text/html' }).end(HTML)
        return
      case 'throttled':
        response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(THROTTLED)
        return
      case 'arrives late':
        incoming.socket.resetAndDestroy()
        await sleep(chance.between(50, 2_000))
        ;(await forward(incoming, body)).resume()
    }
  }

  const server = createServer((incoming, response) => {
    // A caller that was killed, or an engine that is stopping.
    serve(incoming, response).catch(() => response.destroy())
  })
  const { endpoint, stop } = await listenOnLoopback(server)
  return {
    endpoint,
    counts,
    get requests() {
      return requests
    },
    calm() {
      isCalm = true
    },
    stop,
  }
}
