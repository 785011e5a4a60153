import { InvalidOptionError } from '../base/errors.ts'
import { functionOption, oneOf, refuseUnknown, secondsOption, show } from '../base/guards.ts'
import type { RetryPolicy } from '../retry/policy.ts'

/** What the work of a step is given. */
export interface StepContext {
  /**
   * A key for a third party's own idempotency: the same in every attempt of this step of this operation,
   * and different from that of every other step.
   */
  readonly idempotencyKey: string
  readonly attempt: number
  /** Aborts when the operation's lease is about to run out or is found lost. */
  readonly signal: AbortSignal
}

/** What a look at the third party has found out about a step that was begun. */
export type ProbeResult<T> =
  /** The effect happened; this is the step's result. */
  | { readonly kind: 'done'; readonly value: T }
  /** The effect certainly did not happen, and will not. */
  | { readonly kind: 'not-done' }
  | { readonly kind: 'unknown' }

/** Options of a step. */
export interface StepOptions<T> {
  /**
   * What to do when an earlier attempt began the step and did not record its end: `retry` runs it again (at least
   * once), `stop` makes the operation UNKNOWN instead (at most once). `stop` costs one write before the step.
   * @defaultValue 'retry'
   */
  readonly onUnknown?: 'retry' | 'stop'
  /**
   * How long the third party remembers an idempotency key, in seconds (Stripe: 86 400). Past it, counted from the
   * first start, a retry would be a new effect: the operation becomes UNKNOWN. Costs one write before the step.
   */
  readonly keyValidSeconds?: number
  /**
   * Repeats the work within this attempt when it fails for a while: `lambda-once/retry`'s policy, kept within the
   * operation's time. Not with `onUnknown: 'stop'`: a failure may have had its effect.
   */
  readonly retry?: RetryPolicy
  /**
   * Makes of the result the receipt of the step's destination, such as the provider's charge id. It is written in one
   * transaction with the step, and read back with `idempotency.receipts`: evidence that the destination answered, even
   * when the operation's own outcome is never confirmed.
   */
  readonly receipt?: (result: T) => unknown
  /** Asks the third party what became of a step that was begun. */
  readonly probe?: (step: StepContext) => ProbeResult<T> | PromiseLike<ProbeResult<T>>
}

/** The longest name of a step, in UTF-8 bytes. */
const MAX_NAME_BYTES = 64

/** @throws InvalidOptionError naming what is wrong */
export function checkStep<T>(name: unknown, work: unknown, options: StepOptions<T>): void {
  const isText = typeof name === 'string' && name.isWellFormed() && name !== ''
  // The SDK reads no item that has a field of this name.
  if (!isText || name === '__proto__' || Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new InvalidOptionError(
      `step(name): name must be a string of 1 to ${MAX_NAME_BYTES} bytes, the same in every attempt, and not "__proto__"; got ${show(name)}.`,
    )
  }
  if (typeof work !== 'function') {
    throw new InvalidOptionError(`step("${name}", work): work must be a function; got ${show(work)}.`)
  }
  refuseUnknown(`step("${name}")`, options, ['onUnknown', 'keyValidSeconds', 'retry', 'receipt', 'probe'])
  oneOf('onUnknown', options.onUnknown, ['retry', 'stop'])
  secondsOption('keyValidSeconds', options.keyValidSeconds, 1)
  functionOption('probe', options.probe)
  functionOption('receipt', options.receipt)
  const { retry } = options
  // The names in it are looked at by the retries themselves, which are loaded only by those who use them.
  if (retry !== undefined && (typeof retry !== 'object' || retry === null)) {
    throw new InvalidOptionError(`step("${name}"): retry must be a policy, an object; got ${show(retry)}.`)
  }
  const signal = retry?.signal
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidOptionError(`step("${name}"): retry.signal must be an AbortSignal; got ${show(signal)}.`)
  }
  if (retry !== undefined && options.onUnknown === 'stop') {
    throw new InvalidOptionError(
      `step("${name}"): retry and onUnknown: 'stop' exclude each other. A try that failed may have had its effect, and 'stop' promises that there is no second one.`,
    )
  }
}
