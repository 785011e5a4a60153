import { clearLine, cursorTo } from 'node:readline'

const PLAIN_EVERY_MS = 5000
const LIVE_EVERY_MS = 200

/** Shows how far a run is: one live line in a terminal, a plain line now and then elsewhere. */
export function startProgress(describe: () => string, stream: NodeJS.WriteStream = process.stdout): { stop(): void } {
  const startedAtMs = Date.now()
  const line = (): string => `${String(Math.round((Date.now() - startedAtMs) / 1000)).padStart(4)} s  ${describe()}`
  const show = (): void => {
    if (!stream.isTTY) {
      stream.write(`${line()}\n`)
      return
    }
    cursorTo(stream, 0)
    stream.write(line().slice(0, stream.columns - 1))
    clearLine(stream, 1)
  }
  const timer = setInterval(show, stream.isTTY ? LIVE_EVERY_MS : PLAIN_EVERY_MS)
  return Object.freeze({
    stop: () => {
      clearInterval(timer)
      show()
      if (stream.isTTY) stream.write('\n')
    },
  })
}
