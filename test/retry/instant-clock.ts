import type { Clock } from '../../lib/retry/index.ts'

/** A clock on which every wait is over at once, and has taken its time. */
export interface InstantClock extends Clock {
  /** Every wait so far, in ms. */
  readonly waits: readonly number[]
  advance(ms: number): void
}

export function instantClock(): InstantClock {
  const waits: number[] = []
  let nowMs = 1_700_000_000_000
  return {
    waits,
    now: () => nowMs,
    async wait(ms, signal) {
      if (signal?.aborted) return
      waits.push(ms)
      nowMs += ms
    },
    advance(ms) {
      nowMs += ms
    },
  }
}
