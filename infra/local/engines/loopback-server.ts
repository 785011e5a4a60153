import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server that only this machine can reach. */
export interface LoopbackServer {
  readonly endpoint: string
  /** Drops its connections and resolves when it is closed. */
  stop(): Promise<void>
}

/**
 * Has a server listen on loopback and resolves when it does.
 *
 * @param port - a fixed TCP port; a free one by default.
 */
export async function listenOnLoopback(server: Server, port = 0): Promise<LoopbackServer> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return Object.freeze({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  })
}
