import { refusePromise } from '../base/guards.ts'
import { attemptSignal } from './attempt-signal.ts'
import { type GaveUpReason, RetryError } from './errors.ts'
import { type FailureContext, type Verdict, verdictOfUser } from './failure.ts'
import { enclosingLayer, insideLayer, type Layer, takeRetry } from './layers.ts'
import type { RetrySettings } from './policy.ts'

/** What the work is told about the attempt it makes. */
export interface RetryAttempt {
  /** 1 for the first call. */
  readonly attempt: number
  /** Aborts at the attempt's time limit, at the deadline of the whole, and with the policy's signal. */
  readonly signal: AbortSignal
}

/** What an attempt came to. A value may be a failure too: a response with status 503. */
export type AttemptOutcome<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'error'; readonly error: unknown }

/** What differs between retrying any work and retrying a fetch. */
export interface Reading<T> {
  /** The failure that an outcome is; `undefined` when it is a success. */
  failureOf(outcome: AttemptOutcome<T>): { readonly failure: unknown; readonly listed: unknown } | undefined
  verdictOf(failure: unknown, context: FailureContext): Verdict
  /** Lets go of a value that nobody will see. */
  discard(value: T): Promise<void>
}

/** What is left before the deadline must be at least this long for another attempt, in ms: timers fire a little early. */
const SHORTEST_ATTEMPT_MS = 10

/** Full jitter: random between 0 and min(cap, base·2^retries), so that callers who failed together do not return together. */
export function jitterMs(
  retries: number,
  { baseDelayMs, maxDelayMs, random }: Pick<RetrySettings, 'baseDelayMs' | 'maxDelayMs' | 'random'>,
): number {
  return random() * Math.min(maxDelayMs, baseDelayMs * 2 ** retries)
}

/** Calls `work` until it succeeds, fails for good, or the policy ends it. */
export async function runAttempts<T>(
  settings: RetrySettings,
  work: (attempt: RetryAttempt) => T | PromiseLike<T>,
  reading: Reading<T>,
): Promise<T> {
  const { clock, budget } = settings
  const layer = openLayer(settings)
  const { signal, deadlineMs } = layer
  const failures: unknown[] = []
  signal?.throwIfAborted()
  budget?.earn()
  try {
    for (let attempt = 1; ; attempt++) {
      const { outcome, timedOut } = await oneAttempt(settings, layer, attempt, work)
      const failed = reading.failureOf(outcome)
      if (failed === undefined) return settle(outcome)
      const context = { nowMs: clock.now(), timedOut }
      const said = settings.classify?.(failed.failure)
      refusePromise('classify', [said])
      const verdict = said === undefined ? reading.verdictOf(failed.failure, context) : verdictOfUser(said)
      if (verdict.kind === 'final') return settle(outcome)

      // A time-out that the caller's own signal made is the caller's will, not a failure.
      if (outcome.kind === 'error') signal?.throwIfAborted()
      failures.push(failed.listed)
      const delayMs = verdict.atLeastMs + jitterMs(attempt - 1, settings)
      const gaveUp = reasonToStop(settings, layer, clock.now() + delayMs + SHORTEST_ATTEMPT_MS > deadlineMs)
      if (gaveUp !== undefined) {
        // One attempt is no retry: nothing is added to its error, and a layer around this one may still retry it.
        const neverRetried = gaveUp === 'attempts' && failures.length === 1
        if (outcome.kind === 'value' || neverRetried) return settle(outcome)
        throw new RetryError(gaveUp, failures)
      }
      if (outcome.kind === 'value') await reading.discard(outcome.value)
      await clock.wait(delayMs, signal)
      signal?.throwIfAborted()
    }
  } finally {
    layer.ended = true
  }
}

function openLayer(settings: RetrySettings): Layer {
  const parent = enclosingLayer()
  const signals = [settings.signal, parent?.signal].filter((signal) => signal !== undefined)
  return {
    parent,
    deadlineMs: Math.min(settings.clock.now() + settings.totalMs, parent?.deadlineMs ?? Number.POSITIVE_INFINITY),
    signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
    retriesLeft: settings.maxAttempts - 1,
    ended: false,
  }
}

async function oneAttempt<T>(
  { clock, attemptMs }: RetrySettings,
  layer: Layer,
  attempt: number,
  work: (attempt: RetryAttempt) => T | PromiseLike<T>,
): Promise<{ readonly outcome: AttemptOutcome<T>; readonly timedOut: boolean }> {
  const limitMs = Math.min(attemptMs, layer.deadlineMs - clock.now())
  const limited = attemptSignal(clock, limitMs, layer.signal)
  const told: RetryAttempt = Object.freeze({
    attempt,
    get signal() {
      return limited.signal
    },
  })
  try {
    const value = await insideLayer(layer, () => work(told))
    return { outcome: { kind: 'value', value }, timedOut: limited.timedOut }
  } catch (error) {
    return { outcome: { kind: 'error', error }, timedOut: limited.timedOut }
  } finally {
    limited.stop()
  }
}

/** Asked in the order of cost: only when everything else allows a retry is one taken from the budget. */
function reasonToStop(settings: RetrySettings, layer: Layer, pastDeadline: boolean): GaveUpReason | undefined {
  if (layer.retriesLeft <= 0) return 'attempts'
  if (pastDeadline) return 'deadline'
  if (settings.budget !== undefined && settings.budget.retriesLeft < 1) return 'budget'
  if (!takeRetry(layer)) return 'attempts'
  settings.budget?.take()
  return undefined
}

function settle<T>(outcome: AttemptOutcome<T>): T {
  if (outcome.kind === 'error') throw outcome.error
  return outcome.value
}
