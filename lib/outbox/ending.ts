import { type InvocationContext, remainingTimeMs } from '../base/invocation.ts'
import type { Clock } from '../base/ports.ts'
import { storeUntil } from '../outcome/persist.ts'
import type { Store } from '../record/store.ts'

/** The end of an invocation, as far as a relay has to care. */
export interface Ending {
  /** Whether it is too late to start anything. */
  isNear(): boolean
  /** Aborts what is on its way early enough to say so. `undefined`: no end is known. */
  readonly signal: AbortSignal | undefined
  /** The store, each of whose calls ends with the invocation. */
  readonly store: Store
  /** Stops watching. */
  stop(): void
}

/** What is on its way gets half of the margin, so that what was started just before it is not given up at once. */
const GRACE = 0.5

/** Watches the end of an invocation. On hosts that name no end there is none. */
export function watchEnding(
  {
    store,
    clock,
    deadlineMarginMs,
  }: { readonly store: Store; readonly clock: Clock; readonly deadlineMarginMs: number },
  context: InvocationContext | undefined,
): Ending {
  const leftMs = remainingTimeMs(context)
  if (leftMs === undefined) return { isNear: () => false, signal: undefined, store, stop: () => undefined }
  const sending = new AbortController()
  const over = new AbortController()
  const waiting = clock.wait(Math.max(0, leftMs - deadlineMarginMs * GRACE), over.signal)
  waiting.then(() => sending.abort(new Error('The invocation is nearly over.'))).catch(() => undefined)
  return {
    isNear: () => (remainingTimeMs(context) ?? leftMs) < deadlineMarginMs,
    signal: sending.signal,
    store: storeUntil(store, clock, clock.now() + leftMs),
    stop: () => over.abort(),
  }
}
