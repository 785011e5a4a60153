import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LoopbackServer, listenOnLoopback } from '../engines/loopback-server.ts'
import type { InvocableFunction } from './invocation.ts'

const THROTTLE_BACKOFF_MS = 200
const INVOCATIONS = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/

/**
 * Lambda's own API, as far as functions call each other asynchronously
 * (https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html). An invocation that fails is not repeated.
 */
export async function startInvokeApi(
  functionNamed: (name: string) => InvocableFunction | undefined,
): Promise<LoopbackServer> {
  const inFlight = new Set<Promise<void>>()
  let stopped = false

  // Lambda keeps an event that it has no environment for.
  const run = async (worker: InvocableFunction, event: unknown): Promise<void> => {
    while (!stopped && (await worker.invoke(event)).kind === 'throttled') await sleep(THROTTLE_BACKOFF_MS)
  }

  const accept = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, type: string): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type })
      response.end(JSON.stringify({ message: type }))
    }
    const [, name] = INVOCATIONS.exec(request.url?.split('?')[0] ?? '') ?? []
    const worker = name === undefined ? undefined : functionNamed(nameOf(decodeURIComponent(name)))
    if (worker === undefined) return refuse(404, 'ResourceNotFoundException')
    if (request.headers['x-amz-invocation-type'] !== 'Event') return refuse(400, 'InvalidParameterValueException')
    const event: unknown = JSON.parse((await request.toArray()).join('') || '{}')
    const running = run(worker, event)
    inFlight.add(running)
    running.then(
      () => inFlight.delete(running),
      () => inFlight.delete(running),
    )
    response.writeHead(202).end()
  }

  const server = await listenOnLoopback(
    createServer((request, response) => {
      accept(request, response).catch(() => response.destroy())
    }),
  )
  return Object.freeze({
    endpoint: server.endpoint,
    stop: async () => {
      stopped = true
      await Promise.allSettled(inFlight)
      await server.stop()
    },
  })
}

/** A function is named by its name or by its ARN. */
function nameOf(name: string): string {
  return /:function:([^:]+)/.exec(name)?.[1] ?? name
}
