import type { CommitPlan } from './commit-plan.ts'
import type { StepContext, StepOptions } from './step-options.ts'
import type { DelayUntil, Suspension } from './suspension.ts'

/** The running operation, as the work sees it. */
export interface Operation {
  /** The operation's id: the same for every attempt and delivery. Safe to log; it does not contain the key. */
  readonly id: string
  /** The key as the caller gave it. */
  readonly key: string
  /** 1 for the first execution, +1 per takeover. */
  readonly attempt: number
  /** The caller's small notes, as the first attempt had them. */
  readonly metadata: Readonly<Record<string, string>>
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
  /**
   * Completes the operation in one DynamoDB transaction with your own writes, messages and a receipt: all of it is
   * there afterwards, or nothing. The value is the operation's outcome; return what this answers, or nothing.
   *
   * @throws CommitConflictError when a condition of your own writes does not hold: nothing was written, and the
   * operation is still open
   * @throws InvalidInputError when it cannot be one transaction; OutcomeUnstorableError naming the path of a value
   * that cannot be stored; nothing was sent
   * @throws LeaseLostError when another execution took over; StoreError when nobody knows whether it was written: the
   * next attempt finds out
   */
  commit<T>(value: T, plan?: CommitPlan): Promise<T>
  /**
   * Made to be returned: the operation is continued when the time has come, from its start, with its steps recorded.
   * @throws InvalidOptionError when nobody would continue it
   */
  delay(when: DelayUntil, why?: string): Suspension
  /**
   * Made to be returned: the operation is continued when `idempotency.signal(…)` brings something, or an operator
   * settles it.
   * @throws InvalidOptionError when nobody would continue it
   */
  wait(why?: string): Suspension
  /** The payloads of all signals that had come when this attempt began, in their order. */
  signals(): Promise<readonly unknown[]>
}
