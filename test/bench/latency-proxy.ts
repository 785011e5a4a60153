import { startTcpProxy, type TcpProxy } from '../setup/tcp-proxy.ts'

/** Passes everything on, each request later by so many ms; requests on different connections do not wait for each other. */
export function startLatencyProxy(target: string, delayMs: number): Promise<TcpProxy> {
  return startTcpProxy(target, (client, upstream) => {
    // Timers of one length end in the order they were begun, so the pieces of a request stay in order.
    client.on('data', (chunk) => setTimeout(() => upstream.write(chunk), delayMs))
    upstream.on('data', (chunk) => client.write(chunk))
  })
}
