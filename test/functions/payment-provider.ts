import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the provider does with one call; by default it charges. */
export type Fate =
  /** Refuses with this status, and charges nothing. */
  | { readonly status: number }
  /** Charges, and the answer never arrives. */
  | { readonly lost: true }
  /** Charges, and answers when the promise has settled. */
  | { readonly after: Promise<unknown> }

/** A payment provider that honours idempotency keys and does what the test says. */
export interface Provider {
  readonly url: string
  /** What happens to the next calls, in order. */
  readonly fates: Fate[]
  /** The idempotency keys of all calls. */
  readonly keys: (string | undefined)[]
  /** The bodies of the charges that were really made. */
  readonly charges: unknown[]
  /** Resolves when this many calls have come in. */
  called(times: number): Promise<void>
  stop(): Promise<void>
}

export async function startProvider(): Promise<Provider> {
  const fates: Fate[] = []
  const keys: (string | undefined)[] = []
  const charges: unknown[] = []
  const chargeByKey = new Map<string | undefined, string>()
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await request.toArray()).join(''))
    const key = request.headers['idempotency-key']?.toString()
    const fate = fates.shift()
    const isRefused = fate !== undefined && 'status' in fate
    if (!isRefused && !chargeByKey.has(key)) {
      charges.push(body)
      chargeByKey.set(key, `charge-${charges.length}`)
    }
    // A call that goes astray shows among the keys.
    keys.push(request.url === '/charges' && request.method === 'POST' ? key : `${request.method} ${request.url}`)
    server.emit('called')
    if (fate !== undefined && 'lost' in fate) return void request.socket.destroy()
    if (fate !== undefined && 'after' in fate) await fate.after
    response.writeHead(isRefused ? fate.status : 201, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isRefused ? { error: 'refused' } : { chargeId: chargeByKey.get(key) }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fates,
    keys,
    charges,
    async called(times) {
      while (keys.length < times) await once(server, 'called')
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
