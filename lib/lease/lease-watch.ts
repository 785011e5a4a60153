import { LeaseLostError } from '../base/errors.ts'
import type { Clock } from '../base/ports.ts'

/** How long before the end of its time `signal` aborts, so that the work can still stop in time, in ms. */
const ABORT_BEFORE_MS = 500

/** Node's timers hold 31 bits of milliseconds, and fire at once when given more. */
const LONGEST_WAIT_MS = 86_400_000

/** A lease that the operation's signal watches. Nothing runs until somebody asks for the signal. */
export interface LeaseWatch {
  readonly signal: AbortSignal
  /** The time of the work now ends then. */
  moved(endMs: number): void
  /** The lease is somebody else's. */
  lost(): void
  /** The operation has ended; nothing is left to watch. */
  stop(): void
}

export function watchLease(clock: Clock, firstEndMs: number): LeaseWatch {
  const controller = new AbortController()
  let endMs = firstEndMs
  let stopped: AbortController | undefined

  async function watch(stop: AbortSignal): Promise<void> {
    for (;;) {
      const leftMs = endMs - ABORT_BEFORE_MS - clock.now()
      if (leftMs <= 0) break
      await clock.wait(Math.min(leftMs, LONGEST_WAIT_MS), stop)
      if (stop.aborted) return
    }
    controller.abort(new LeaseLostError('The time of this execution is about to run out.'))
  }

  return Object.freeze({
    get signal() {
      if (stopped === undefined) {
        stopped = new AbortController()
        void watch(stopped.signal)
      }
      return controller.signal
    },
    moved(until: number) {
      endMs = until
    },
    lost() {
      stopped?.abort()
      controller.abort(new LeaseLostError())
    },
    stop() {
      stopped ??= new AbortController()
      stopped.abort()
    },
  })
}
