import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from './ports.ts'

/** The system's clock. */
export const systemClock: Clock = /* @__PURE__ */ Object.freeze({
  now: () => Date.now(),
  async wait(ms: number, signal?: AbortSignal) {
    await delay(ms, undefined, signal && { signal }).catch(() => undefined)
  },
})
