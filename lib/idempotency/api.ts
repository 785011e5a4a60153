import type { InvocationContext } from '../base/invocation.ts'
import type { Operation } from '../operation/operation.ts'
import type { Receipt } from '../outcome/receipts.ts'
import type { KeyInput, Scope } from '../record/identity.ts'
import type { AcquireOptions, Admission } from './admission.ts'
import type { Settlement, SettleResult } from './settle.ts'
import type { SignalOptions, SignalResult } from './signal.ts'

/** What tells the same request from another one under the same key: exactly one of the three. */
export type RequestIdentity =
  /** The request itself; equal values count as the same request, whatever the order of their keys. */
  | { readonly input: unknown; readonly fingerprint?: undefined }
  /** A fingerprint made elsewhere, or `false`: every request under this key counts as the same one. */
  | { readonly fingerprint: string | false; readonly input?: undefined }

/** One call of `run`. */
export type RunRequest = RequestIdentity & {
  /** The caller's idempotency key, or a business id. */
  readonly key: KeyInput
  /**
   * Who asks. Two scopes never collide and never see each other's results.
   * @defaultValue none: the key alone names the operation within its namespace
   */
  readonly scope?: Scope
  /** Small notes that are kept with the operation, at most 1,000 bytes: `operation.metadata`. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Lambda's context, whose remaining time becomes the lease. */
  readonly context?: InvocationContext
  /**
   * Says that Lambda invokes the function asynchronously (S3, SNS, EventBridge, `InvocationType: 'Event'`) and so
   * keeps `context.awsRequestId` over its own retries: it may then be a part of the key. It protects from these retries
   * only; an event that is sent again comes under another id.
   * @defaultValue false: a key or scope made of the context's request id is refused, as every repetition would be new
   */
  readonly asyncInvocation?: boolean
}

/** What names an operation within its namespace. */
export interface OperationName {
  readonly key: KeyInput
  readonly scope?: Scope
}

/** What `run` answers. */
export interface RunResult<T> {
  readonly value: T
  /** Whether the value came from the record, without running the work. */
  readonly replayed: boolean
  readonly attempt: number
}

/** How `wrap` finds the parts of a request in the arguments of a call. */
export interface WrapOptions<A extends readonly unknown[]> {
  readonly key: (...args: A) => KeyInput
  readonly scope?: (...args: A) => Scope
  /**
   * What is fingerprinted.
   * @defaultValue all arguments; `false` fingerprints nothing
   */
  readonly input?: ((...args: A) => unknown) | false
  readonly context?: (...args: A) => InvocationContext
  /** As with `run`. */
  readonly asyncInvocation?: boolean
}

/** Makes operations run once. Made by {@link createIdempotency}. */
export interface Idempotency {
  /**
   * Runs the work once for this key and scope, and answers every repetition with its stored outcome.
   *
   * @throws MissingKeyError, InvalidKeyError, InvalidOptionError: nothing was claimed
   * @throws MismatchError: the key was used before with another request
   * @throws InProgressError: another execution is running
   * @throws OperationFailedError: it failed for good before
   * @throws StoreUnavailableError: the store cannot be reached, nothing ran
   * @throws OutcomeNotRecordedError: the work ran, its outcome could not be recorded; carries the value
   * @throws LeaseLostError: the lease ended while the work ran, and another execution took over
   * @throws what the work throws
   */
  run<T>(request: RunRequest, work: (operation: Operation) => T | PromiseLike<T>): Promise<RunResult<T>>
  /**
   * Ends an operation whose outcome no machine may decide: an unknown one, or one whose lease is over under
   * `takeover: 'never'`. Never touches one that is running or finished.
   *
   * @throws OutcomeUnstorableError when the value cannot be stored: nothing is written
   * @throws StoreError when the store cannot be reached: look again before you settle again
   */
  settle(operation: OperationName, settlement: Settlement): Promise<SettleResult>
  /**
   * Gives an operation what it waits for: its next attempt finds the payload in `operation.signals()`. It may come
   * before the operation waits.
   *
   * @throws OutcomeUnstorableError when the payload is no plain data; StoreError when nobody knows whether it was
   * stored: send it again, under the same id
   */
  signal(operation: OperationName, payload?: unknown, options?: SignalOptions): Promise<SignalResult>
  /**
   * Takes a key for a time, without an outcome: `admitted` is true once, and false while the key exists.
   *
   * @throws InvalidOptionError, MissingKeyError, InvalidKeyError
   * @throws StoreUnavailableError when the key could not be asked for, or the store may only be read: nothing is admitted
   */
  acquire(key: KeyInput | OperationName, options: AcquireOptions): Promise<Admission>
  /** The receipts of an operation, oldest first, whether its record is still there or not. */
  receipts(operation: OperationName): Promise<readonly Receipt[]>
  /** The same function, run once per key. What it throws and when is as with {@link Idempotency.run}. */
  wrap<A extends readonly unknown[], R>(
    work: (...args: A) => R | PromiseLike<R>,
    options: WrapOptions<A>,
  ): (...args: A) => Promise<R>
}
