import { InvalidOptionError } from '../base/errors.ts'
import { integerOption, refuseUnknown, show } from '../base/guards.ts'

/** Options of {@link retryBudget}. */
export interface RetryBudgetOptions {
  /**
   * How many retries the budget holds when it is full, and at the start.
   * @defaultValue 10
   */
  readonly maxRetries?: number
  /**
   * How much of a retry every call earns: 0.1 lets retries add at most 10 % to the calls of a long outage.
   * @defaultValue 0.1
   */
  readonly retriesPerCall?: number
}

/** A token bucket of retries. Give the same one to every policy that calls the same dependency. */
export interface RetryBudget {
  readonly retriesLeft: number
  /** A call begins, and earns its share of a retry. */
  earn(): void
  /** Takes one retry; `false` when there is none. */
  take(): boolean
}

/** The defaults of {@link retryBudget}. */
export const BUDGET_DEFAULTS: Readonly<Required<RetryBudgetOptions>> = Object.freeze({
  maxRetries: 10,
  retriesPerCall: 0.1,
})

/** Sums of 0.1 are not exact: ten of them must buy a retry. */
const ROUNDING = 1e-9

/**
 * Makes a budget that retries of one dependency share, in this process. Earned by calls and not by time: a Lambda
 * sandbox makes so few calls that a rate per second would never hold anything back.
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function retryBudget(options: RetryBudgetOptions = {}): RetryBudget {
  refuseUnknown('retryBudget', options, ['maxRetries', 'retriesPerCall'])
  const maxRetries = integerOption('maxRetries', options.maxRetries, 1, 1_000_000) ?? BUDGET_DEFAULTS.maxRetries
  const retriesPerCall = options.retriesPerCall ?? BUDGET_DEFAULTS.retriesPerCall
  if (typeof retriesPerCall !== 'number' || !(retriesPerCall >= 0 && retriesPerCall <= 1)) {
    throw new InvalidOptionError(`retriesPerCall must be a number from 0 to 1; got ${show(retriesPerCall)}.`)
  }
  let left = maxRetries
  return Object.freeze({
    get retriesLeft() {
      return Math.floor(left + ROUNDING)
    },
    earn() {
      left = Math.min(maxRetries, left + retriesPerCall)
    },
    take() {
      if (left + ROUNDING < 1) return false
      left = Math.max(0, left - 1)
      return true
    },
  })
}
