import type { Clock } from './ports.ts'

/** The system's clock. */
export const systemClock: Clock = /* @__PURE__ */ Object.freeze({
  now: () => Date.now(),
  wait: (ms: number, signal?: AbortSignal) =>
    // Not `node:timers/promises`: it makes an error of every wait that ends early, as the one behind each store call does.
    new Promise<void>((resolve) => {
      const timer = setTimeout(end, signal?.aborted ? 0 : ms)
      function end() {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      signal?.addEventListener('abort', end)
    }),
  after(ms: number, act: () => void) {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
})
