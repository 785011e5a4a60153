import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the provider does with one call; by default it charges. */
export type Fate =
  /** Refuses with this status, and charges nothing. */
  | { readonly status: number }
  /** Charges, and says that it has to be confirmed. */
  | { readonly pending: true }
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
  readonly charges: { readonly orderId?: unknown }[]
  /** The orders whose charges were asked for. */
  readonly lookups: (string | null)[]
  /** Resolves when this many calls have come in. */
  called(times: number): Promise<void>
  stop(): Promise<void>
}

export async function startProvider(): Promise<Provider> {
  const fates: Fate[] = []
  const keys: (string | undefined)[] = []
  const charges: { orderId?: unknown }[] = []
  const lookups: (string | null)[] = []
  const chargeByKey = new Map<string | undefined, string>()
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider')
    if (request.method === 'GET') {
      const orderId = searchParams.get('orderId')
      lookups.push(pathname === '/charges' ? orderId : pathname)
      const found = charges.flatMap((charge, index) => (charge.orderId === orderId ? [`charge-${index + 1}`] : []))
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ charges: found.map((chargeId) => ({ chargeId })) }))
    }
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
    const status = fate !== undefined && 'pending' in fate ? 'pending' : 'succeeded'
    response.end(
      JSON.stringify(isRefused ? { error: 'refused' } : { chargeId: chargeByKey.get(key), status, version: 1 }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fates,
    keys,
    charges,
    lookups,
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
