import { isLambdaOnceError } from './errors.ts'
import type { Clock, Random } from './ports.ts'

const BASE_MS = 50
const CAP_MS = 1_000

/**
 * Repeats a write that may be repeated until it is answered: with full jitter, until `giveUpAtMs`, at least once.
 * An error that says the store refused the call for good is thrown at once.
 */
export async function untilAnswered<T>(
  write: () => Promise<T>,
  until: { readonly clock: Clock; readonly random: Random; readonly giveUpAtMs: number },
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await write()
    } catch (error) {
      if (isLambdaOnceError(error) && !error.retryable) throw error
      const pauseMs = until.random() * Math.min(CAP_MS, BASE_MS * 2 ** tries)
      if (until.clock.now() + pauseMs >= until.giveUpAtMs) throw error
      await until.clock.wait(pauseMs)
    }
  }
}
