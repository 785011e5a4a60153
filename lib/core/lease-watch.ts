import { LeaseLostError } from './errors.ts'
import type { Clock } from './ports.ts'

/** How long before the end of the lease `signal` aborts, so that the work can still stop in time, in ms. */
const ABORT_BEFORE_MS = 500

/** A lease that the operation's signal watches. Nothing runs until somebody asks for the signal. */
export interface LeaseWatch {
  readonly signal: AbortSignal
  /** The lease now ends then. */
  moved(leaseUntil: number): void
  /** The lease is somebody else's. */
  lost(): void
  /** The operation has ended; nothing is left to watch. */
  stop(): void
}

export function watchLease(clock: Clock, firstLeaseUntil: number): LeaseWatch {
  const controller = new AbortController()
  let leaseUntil = firstLeaseUntil
  let stopped: AbortController | undefined

  async function watch(stop: AbortSignal): Promise<void> {
    for (;;) {
      const leftMs = leaseUntil - ABORT_BEFORE_MS - clock.now()
      if (leftMs <= 0) break
      await clock.wait(leftMs, stop)
      if (stop.aborted) return
    }
    controller.abort(new LeaseLostError('The lease of this execution is about to run out.'))
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
      leaseUntil = until
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
