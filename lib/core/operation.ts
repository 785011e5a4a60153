import { fenceOf } from './identity.ts'
import type { LeaseWatch } from './lease-watch.ts'
import type { StepContext, StepOptions } from './step-options.ts'

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
  /** Aborts half a second before the invocation or the lease ends, or when the lease is found lost. */
  readonly signal: AbortSignal
  /**
   * Makes the lease longer, counted from now; one that is longer already stays as it is.
   * @param seconds - the new length; by default that of the first lease
   * @throws LeaseLostError when another execution has taken over, or this one has ended
   */
  extend(seconds?: number): Promise<void>
  /**
   * Runs a named piece of work and records its result: a later attempt gets the result without running it again.
   * The result is stored like an outcome, so it is plain data.
   *
   * @param name - unique within the operation, and the same in every attempt
   * @throws what the work throws; LeaseLostError when another execution took over; UnknownOutcomeError when an
   * earlier attempt began the step and nobody knows whether its effect happened
   */
  step<T>(name: string, work: (step: StepContext) => T | PromiseLike<T>, options?: StepOptions<T>): Promise<T>
  /**
   * Says that nothing has happened: when the work has returned, the key is released instead of an outcome stored.
   * From attempt 2 on this cannot be known: the outcome is stored all the same, and nothing runs again.
   */
  release(): void
}

/** Builds the work's view of an operation over what the engine lets it do. */
export function operationView(view: {
  readonly record: { readonly id: string; readonly attempt: number; readonly createdAtMs: number }
  readonly key: string
  readonly lease: LeaseWatch
  readonly step: Operation['step']
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
    step: view.step,
    extend: view.extend,
    release: view.release,
  })
}
