import { startTcpProxy, type TcpProxy } from '../setup/tcp-proxy.ts'

/** A TCP proxy that can drop the answer to a request which it has already passed on. */
export interface LostAnswerProxy extends TcpProxy {
  /** Answers that were dropped so far. */
  readonly dropped: number
  /** Drops the answers to the next `count` requests whose text contains `part`. */
  drop(count: number, part: string): void
}

export async function startLostAnswerProxy(target: string): Promise<LostAnswerProxy> {
  let toDrop = 0
  let marker = ''
  let dropped = 0
  const proxy = await startTcpProxy(target, (client, upstream) => {
    let dropping = false
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
  })
  return {
    ...proxy,
    get dropped() {
      return dropped
    },
    drop(count, part) {
      toDrop = count
      marker = part
    },
  }
}
