import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import type { Clock } from '../base/ports.ts'

/** A clock that stands still until it is told to move. */
export interface FakeClock extends Clock {
  /**
   * Resolves when the clock has moved that far, or when the signal aborts. Without a signal nothing else could end the
   * wait, so it moves the clock itself: back-offs cost no time.
   */
  wait(ms: number, signal?: AbortSignal): Promise<void>
  /** Moves on by so many ms, and ends the waits that are over by then. */
  advance(ms: number): void
  /** When the next wait is over, in ms since 1970; `undefined` when nobody waits. */
  nextDueMs(): number | undefined
}

/** Where event builders and clocks of this module start, so that their times agree: 2026-01-01. */
export const START_MS = 1_767_225_600_000

/**
 * A clock for tests: give it to `createIdempotency({ clock })`, and move it past a lease, a delay, a retention.
 *
 * @param startMs - where it begins, in ms since 1970
 * @throws InvalidOptionError when it is to start or move by what is no time
 */
export function fakeClock(startMs: number = START_MS): FakeClock {
  let nowMs = time('startMs', startMs)
  const waiting = new Map<() => void, number>()

  function advance(ms: number): void {
    nowMs += time('advance(ms)', ms)
    for (const look of [...waiting.keys()]) look()
  }

  return Object.freeze({
    now: () => nowMs,
    advance,
    nextDueMs: () => (waiting.size === 0 ? undefined : Math.min(...waiting.values())),
    async wait(ms: number, signal?: AbortSignal) {
      if (signal === undefined) return advance(Math.max(0, ms))
      const dueMs = nowMs + ms
      await new Promise<void>((resolve) => {
        const look = () => {
          if (nowMs < dueMs && !signal.aborted) return
          waiting.delete(look)
          signal.removeEventListener('abort', look)
          resolve()
        }
        waiting.set(look, dueMs)
        signal.addEventListener('abort', look)
        look()
      })
    },
  })
}

function time(name: string, ms: unknown): number {
  if (typeof ms === 'number' && Number.isFinite(ms) && ms >= 0) return ms
  throw new InvalidOptionError(`${name} must be a number of milliseconds, at least 0; got ${show(ms)}.`)
}
