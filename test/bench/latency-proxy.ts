import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** A way to the engine that takes as long as the network does. */
export interface LatencyProxy {
  readonly endpoint: string
  stop(): Promise<void>
}

/** Passes everything on, each request later by so many ms; requests on different connections do not wait for each other. */
export async function startLatencyProxy(target: string, delayMs: number): Promise<LatencyProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: Number(port), host: hostname, noDelay: true })
    sockets.add(client).add(upstream)
    // Timers of one length end in the order they were begun, so the pieces of a request stay in order.
    client.on('data', (chunk) => setTimeout(() => upstream.write(chunk), delayMs))
    upstream.on('data', (chunk) => client.write(chunk))
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
