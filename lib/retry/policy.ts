import { systemClock } from '../base/clock.ts'
import { InvalidOptionError } from '../base/errors.ts'
import { functionOption, integerOption, refuseUnknown, secondsOption, show } from '../base/guards.ts'
import type { Clock, Random } from '../base/ports.ts'
import type { RetryBudget } from './budget.ts'

/** What a classifier says of a failure; `undefined` leaves it to the default. */
export type RetryVerdict =
  | 'retry'
  | 'stop'
  /** Retry, but not before so many seconds. */
  | { readonly retryAfterSeconds: number }
  | undefined

/** When to repeat, how often, and how long at the most. */
export interface RetryPolicy {
  /**
   * How often the work is called at the most, the first call included.
   * @defaultValue 3
   */
  readonly maxAttempts?: number
  /**
   * The wait before the first retry is random between 0 and this, in seconds; it doubles with every retry.
   * @defaultValue 0.1
   */
  readonly baseDelaySeconds?: number
  /**
   * What that doubling stops at, in seconds. A `Retry-After` may ask for more.
   * @defaultValue 5
   */
  readonly maxDelaySeconds?: number
  /**
   * How long everything may take, waits included, in seconds.
   * @defaultValue 20
   */
  readonly totalSeconds?: number
  /**
   * After how many seconds the signal of one attempt aborts.
   * @defaultValue 10
   */
  readonly attemptSeconds?: number
  /** Ends everything at once, such as `operation.signal`: waits stop, and the attempt's own signal aborts. */
  readonly signal?: AbortSignal
  /**
   * Retries that several policies share, one budget per dependency.
   * @defaultValue no limit but `maxAttempts`
   */
  readonly budget?: RetryBudget
  /**
   * What a failure means: what was thrown, or in `retryingFetch` also a `Response` with a status of 400 or more.
   * @defaultValue passing failures only: time-outs, resets, 429, 502, 503 and 504
   */
  readonly classify?: (failure: unknown) => RetryVerdict
  /** @defaultValue the system's clock */
  readonly clock?: Clock
  /** @defaultValue `Math.random` */
  readonly random?: Random
}

/** The defaults of a {@link RetryPolicy}, in their units. */
export const RETRY_DEFAULTS: Readonly<{
  maxAttempts: number
  baseDelaySeconds: number
  maxDelaySeconds: number
  totalSeconds: number
  attemptSeconds: number
}> = Object.freeze({
  maxAttempts: 3,
  baseDelaySeconds: 0.1,
  maxDelaySeconds: 5,
  totalSeconds: 20,
  attemptSeconds: 10,
})

/** A policy after validation, with every default filled in, in ms. */
export interface RetrySettings {
  readonly maxAttempts: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly totalMs: number
  readonly attemptMs: number
  readonly signal: AbortSignal | undefined
  readonly budget: RetryBudget | undefined
  readonly classify: ((failure: unknown) => RetryVerdict) | undefined
  readonly clock: Clock
  readonly random: Random
}

/** The names of a policy's options. */
export const POLICY_OPTIONS: readonly string[] = [
  'maxAttempts',
  'baseDelaySeconds',
  'maxDelaySeconds',
  'totalSeconds',
  'attemptSeconds',
  'signal',
  'budget',
  'classify',
  'clock',
  'random',
]

/** More would be a loop, not a policy. */
const MOST_ATTEMPTS = 100

/** @throws InvalidOptionError naming the option, what was expected and what came. */
export function resolvePolicy(of: string, policy: RetryPolicy, known: readonly string[]): RetrySettings {
  if (typeof policy !== 'object' || policy === null) {
    throw new InvalidOptionError(`${of} expects a policy, an object; got ${show(policy)}.`)
  }
  refuseUnknown(of, policy, known)
  const seconds = (name: SecondsOption, low: number): number =>
    secondsOption(name, policy[name], low) ?? RETRY_DEFAULTS[name]
  const maxDelaySeconds = seconds('maxDelaySeconds', 0)
  const baseDelaySeconds = seconds('baseDelaySeconds', 0)
  if (baseDelaySeconds > maxDelaySeconds) {
    throw new InvalidOptionError(
      `baseDelaySeconds must be at most maxDelaySeconds, both in seconds; got ${baseDelaySeconds} and ${maxDelaySeconds}.`,
    )
  }
  const { signal, budget, clock } = policy
  if (signal !== undefined && typeof signal.throwIfAborted !== 'function') {
    throw new InvalidOptionError(`signal must be an AbortSignal; got ${show(signal)}.`)
  }
  if (budget !== undefined && (typeof budget.take !== 'function' || typeof budget.earn !== 'function')) {
    throw new InvalidOptionError(`budget must come from retryBudget(…); got ${show(budget)}.`)
  }
  if (clock !== undefined && (typeof clock.now !== 'function' || typeof clock.wait !== 'function')) {
    throw new InvalidOptionError(`clock must have now() and wait(); got ${show(clock)}.`)
  }
  return Object.freeze({
    maxAttempts: integerOption('maxAttempts', policy.maxAttempts, 1, MOST_ATTEMPTS) ?? RETRY_DEFAULTS.maxAttempts,
    baseDelayMs: baseDelaySeconds * 1000,
    maxDelayMs: maxDelaySeconds * 1000,
    totalMs: seconds('totalSeconds', 0.001) * 1000,
    attemptMs: seconds('attemptSeconds', 0.001) * 1000,
    signal,
    budget,
    classify: functionOption('classify', policy.classify),
    clock: clock ?? systemClock,
    random: functionOption('random', policy.random) ?? Math.random,
  })
}

type SecondsOption = 'baseDelaySeconds' | 'maxDelaySeconds' | 'totalSeconds' | 'attemptSeconds'
