import { AsyncLocalStorage } from 'node:async_hooks'

/** What this process writes, told apart by who wrote it. */
export interface CapturedOutput {
  /** Runs the work; lines that it writes, also later, go to `onLine` instead of the terminal. */
  run<Value>(onLine: (line: string) => void, work: () => Value): Value
  /** Gives the process its streams back. */
  stop(): void
}

/** Takes over stdout and stderr of this process, console included; what nobody runs in `run` passes through. */
export function captureOutput(): CapturedOutput {
  const listeners = new AsyncLocalStorage<(line: string) => void>()
  const giveBack = [process.stdout, process.stderr].map((stream) => {
    const write = stream.write
    const captured = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const onLine = listeners.getStore()
      if (onLine === undefined) return Reflect.apply(write, stream, [chunk, ...rest]) as boolean
      // Functions write whole lines: console does, and so does the observer.
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
      for (const line of text.replace(/\n$/, '').split('\n')) onLine(line)
      const done = rest.at(-1)
      if (typeof done === 'function') process.nextTick(done)
      return true
    }
    stream.write = captured as typeof stream.write
    return () => {
      stream.write = write
    }
  })
  return Object.freeze({
    run: <Value>(onLine: (line: string) => void, work: () => Value): Value => listeners.run(onLine, work),
    stop: () => {
      for (const undo of giveBack) undo()
    },
  })
}
