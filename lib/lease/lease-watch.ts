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
  let endMs = firstEndMs
  /** Made when somebody asks for the signal. */
  let watched: { readonly end: AbortController; readonly stop: AbortController } | undefined
  let reason: LeaseLostError | undefined
  let isStopped = false

  function end(why: LeaseLostError): void {
    reason ??= why
    watched?.end.abort(reason)
  }

  async function watch(stop: AbortSignal): Promise<void> {
    for (;;) {
      const leftMs = endMs - ABORT_BEFORE_MS - clock.now()
      if (leftMs <= 0) break
      await clock.wait(Math.min(leftMs, LONGEST_WAIT_MS), stop)
      if (stop.aborted) return
    }
    end(new LeaseLostError('The time of this execution is about to run out.'))
  }

  function stop(): void {
    isStopped = true
    watched?.stop.abort()
  }

  return Object.freeze({
    get signal() {
      if (watched === undefined) {
        watched = { end: new AbortController(), stop: new AbortController() }
        if (reason !== undefined) watched.end.abort(reason)
        else if (!isStopped) void watch(watched.stop.signal)
      }
      return watched.end.signal
    },
    moved(until: number) {
      endMs = until
    },
    lost() {
      stop()
      end(new LeaseLostError())
    },
    stop,
  })
}
