import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** A TCP proxy that can drop the answer to a request which it has already passed on. */
export interface LostAnswerProxy {
  readonly endpoint: string
  /** Answers that were dropped so far. */
  readonly dropped: number
  /** Drops the answers to the next `count` requests whose text contains `part`. */
  drop(count: number, part: string): void
  stop(): Promise<void>
}

export async function startLostAnswerProxy(target: string): Promise<LostAnswerProxy> {
  const { hostname, port } = new URL(target)
  let toDrop = 0
  let marker = ''
  let dropped = 0
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    let dropping = false
    sockets.add(client).add(upstream)
    client.on('data', (chunk) => {
      if (toDrop > 0 && chunk.toString('latin1').includes(marker)) {
        toDrop--
        dropping = true
      }
      upstream.write(chunk)
    })
    // The answer proves that the write was applied; only then is the connection cut.
    upstream.on('data', (chunk) => {
      if (!dropping) {
        client.write(chunk)
        return
      }
      dropped++
      client.resetAndDestroy()
      upstream.destroy()
    })
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
    get dropped() {
      return dropped
    },
    drop(count, part) {
      toDrop = count
      marker = part
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
