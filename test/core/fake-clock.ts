import type { Clock } from '../../lib/index.ts'

/** A clock that stands still until it is told to move. Waiting on it moves it. */
export interface FakeClock extends Clock {
  advance(ms: number): void
}

export function fakeClock(startMs = 1_700_000_000_000): FakeClock {
  let nowMs = startMs
  const waiting = new Set<() => void>()
  return {
    now: () => nowMs,
    async wait(ms: number, signal?: AbortSignal) {
      if (signal === undefined) {
        nowMs += ms
        return
      }
      const dueMs = nowMs + ms
      await new Promise<void>((resolve) => {
        const look = () => {
          if (nowMs < dueMs && !signal.aborted) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        signal.addEventListener('abort', look)
        look()
      })
    },
    advance(ms: number) {
      nowMs += ms
      for (const look of waiting) look()
    },
  }
}
