import { LambdaOnceError } from '../base/errors.ts'

/** Why a retry stopped although the last failure was a passing one. */
export type GaveUpReason =
  /** The policy's attempts, or those of an enclosing retry, are spent. */
  | 'attempts'
  /** The next attempt would begin past the deadline. */
  | 'deadline'
  /** The dependency's retry budget is empty. */
  | 'budget'

const WHY: Readonly<Record<GaveUpReason, string>> = {
  attempts: 'no attempt is left',
  deadline: 'the next attempt would begin past the deadline',
  budget: 'the retry budget of the dependency is empty',
}

/**
 * Passing failures all the way: the retry gave up. `cause` is the last failure, `errors` are all of them, in order.
 * No retry ever retries this error, so that layers do not multiply.
 */
export class RetryError extends LambdaOnceError {
  readonly reason: GaveUpReason
  /** How often the work was called. */
  readonly attempts: number
  readonly errors: readonly unknown[]

  constructor(reason: GaveUpReason, errors: readonly unknown[]) {
    const last = errors.at(-1)
    const times = errors.length === 1 ? '1 attempt' : `${errors.length} attempts`
    const what = last instanceof Error ? `${last.name}: ${last.message}` : String(last)
    super('RETRY_GAVE_UP', `Gave up after ${times}: ${WHY[reason]}. Last failure: ${what}`, {
      cause: last,
      retryable: true,
    })
    this.name = 'RetryError'
    this.reason = reason
    this.attempts = errors.length
    this.errors = errors
  }
}
