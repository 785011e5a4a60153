import type { Clock } from '../base/ports.ts'

/** The signal of one attempt. Nothing runs until somebody asks for it. */
export interface AttemptSignal {
  readonly signal: AbortSignal
  /** Whether the time limit has aborted it. */
  readonly timedOut: boolean
  /** The attempt is over; the clock is no longer watched. The caller's own signal still aborts it. */
  stop(): void
}

export function attemptSignal(clock: Clock, limitMs: number, outer: AbortSignal | undefined): AttemptSignal {
  const limit = new AbortController()
  const stopped = new AbortController()
  const untilMs = clock.now() + limitMs
  let signal: AbortSignal | undefined

  async function watch(): Promise<void> {
    await clock.wait(Math.max(0, untilMs - clock.now()), stopped.signal)
    if (stopped.signal.aborted) return
    limit.abort(new DOMException(`The attempt took longer than ${limitMs / 1000} s.`, 'TimeoutError'))
  }

  return Object.freeze({
    get signal() {
      if (signal === undefined) {
        signal = outer === undefined ? limit.signal : AbortSignal.any([limit.signal, outer])
        void watch()
      }
      return signal
    },
    get timedOut() {
      return limit.signal.aborted
    },
    stop() {
      stopped.abort()
    },
  })
}
