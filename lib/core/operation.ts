import { LeaseLostError } from './errors.ts'
import { fenceOf } from './identity.ts'
import type { Clock } from './ports.ts'

/** The running operation, as the work sees it. */
export interface Operation {
  /** The operation's id: the same for every attempt and delivery. Safe to log; it does not contain the key. */
  readonly id: string
  /** The key as the caller gave it. */
  readonly key: string
  /** 1 for the first execution, +1 per takeover. */
  readonly attempt: number
  /** Sorts later for every later claim of the operation: what to fence writes to other tables with. */
  readonly fence: string
  /** Aborts when the lease is about to run out or is found lost. */
  readonly signal: AbortSignal
  /**
   * Makes the lease longer, counted from now; one that is longer already stays as it is.
   * @param seconds - the new length; by default that of the first lease
   * @throws LeaseLostError when another execution has taken over, or this one has ended
   */
  extend(seconds?: number): Promise<void>
  /**
   * Says that nothing has happened: when the work has returned, the key is released instead of an outcome stored.
   * From attempt 2 on this cannot be known, and the operation is stored as failed instead.
   */
  release(): void
}

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

/** Builds the work's view of an operation over what the engine lets it do. */
export function operationView(view: {
  readonly record: { readonly id: string; readonly attempt: number; readonly createdAtMs: number }
  readonly key: string
  readonly lease: LeaseWatch
  readonly extend: (seconds?: number) => Promise<void>
  readonly release: () => void
}): Operation {
  return Object.freeze({
    id: view.record.id,
    key: view.key,
    attempt: view.record.attempt,
    fence: fenceOf(view.record),
    get signal() {
      return view.lease.signal
    },
    extend: view.extend,
    release: view.release,
  })
}
