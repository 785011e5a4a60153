import {
  InProgressError,
  InvalidOptionError,
  LeaseLostError,
  MismatchError,
  OperationFailedError,
  OutcomeNotRecordedError,
  UnknownOutcomeError,
  WaitingError,
} from '../base/errors.ts'
import { booleanOption, functionOption, refusePromise, refuseUnknown, show } from '../base/guards.ts'
import { type InvocationContext, remainingTimeMs, requestIdOf } from '../base/invocation.ts'
import { type Answer, createEngine, type Engine } from '../engine/engine.ts'
import { nameOperation, type RequestParts } from '../engine/request.ts'
import type { Operation } from '../operation/operation.ts'
import { type IdempotencyOptions, resolveOptions } from '../operation/options.ts'
import { type Receipt, readReceipts } from '../outcome/receipts.ts'
import type { KeyInput, Scope } from '../record/identity.ts'
import { type AcquireOptions, type Admission, acquire, checkMetadata } from './admission.ts'
import { type Settlement, type SettleResult, settle } from './settle.ts'
import { type SignalOptions, type SignalResult, signal } from './signal.ts'

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

const ENGINE: unique symbol = Symbol.for('lambda-once.engine')

/** The engine behind an `Idempotency`, for the shells built on it. */
export function engineOf(idempotency: Idempotency): Engine {
  const engine: unknown =
    typeof idempotency === 'object' && idempotency !== null ? Reflect.get(idempotency, ENGINE) : undefined
  if (engine === undefined) {
    throw new InvalidOptionError(`idempotency must be made by createIdempotency({ … }); got ${show(idempotency)}.`)
  }
  return engine as Engine
}

/**
 * Sets up idempotency for one family of operations.
 *
 * @example
 * const idempotency = createIdempotency({ store: dynamoStore({ tableName }), namespace: 'payments' })
 * const { value } = await idempotency.run({ key: order.id, input: order }, () => charge(order))
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const settings = resolveOptions(options)
  const engine = createEngine(settings)

  async function run<T>(
    request: RunRequest,
    work: (operation: Operation) => T | PromiseLike<T>,
  ): Promise<RunResult<T>> {
    refuseUnknown('run', request, REQUEST_PARTS)
    refuseUndefinedScope(request)
    if (typeof work !== 'function')
      throw new InvalidOptionError(`run(request, work): work must be a function; got ${show(work)}.`)
    const { key, scope, context, asyncInvocation = false } = request
    if (context !== undefined && (typeof context !== 'object' || context === null)) {
      throw new InvalidOptionError(`context must be Lambda’s context; got ${show(context)}.`)
    }
    refusePromise('context', [context])
    booleanOption('asyncInvocation', asyncInvocation)
    const asked = engine.request({
      key,
      scope,
      fingerprint: fingerprintFor(request),
      contract: 'answer',
      remainingMs: remainingTimeMs(context),
      metadata: checkMetadata(request.metadata),
      requestId: asyncInvocation ? undefined : requestIdOf(context),
    })
    return resultOf(await engine.execute(asked, work))
  }

  function wrap<A extends readonly unknown[], R>(
    work: (...args: A) => R | PromiseLike<R>,
    options: WrapOptions<A>,
  ): (...args: A) => Promise<R> {
    refuseUnknown('wrap', options, ['key', 'scope', 'input', 'context', 'asyncInvocation'])
    refuseUndefinedScope(options)
    const { key, scope, input, context, asyncInvocation = false } = options
    if (typeof work !== 'function' || typeof key !== 'function') {
      throw new InvalidOptionError(
        'wrap(work, { key }) needs a function and a key selector, such as (order) => order.id.',
      )
    }
    functionOption('scope', scope)
    if (input !== false) functionOption('input', input)
    functionOption('context', context)
    booleanOption('asyncInvocation', asyncInvocation)
    return async (...args) => {
      const identity: RequestIdentity =
        input === false ? { fingerprint: false } : { input: input === undefined ? args : input(...args) }
      const { value } = await run(
        {
          ...identity,
          key: key(...args),
          asyncInvocation,
          ...(scope && { scope: scope(...args) }),
          ...(context && { context: context(...args) }),
        },
        () => work(...args),
      )
      return value
    }
  }

  async function settleOne(operation: OperationName, settlement: Settlement): Promise<SettleResult> {
    const given = ['value', 'error', 'rerun'].filter((name) => Object.hasOwn(Object(settlement), name))
    if (given.length !== 1 || ('rerun' in settlement && settlement.rerun !== true)) {
      throw new InvalidOptionError(
        'settle(operation, settlement) takes exactly one of { value }, { error } or { rerun: true }.',
      )
    }
    refuseUnknown('settle', settlement, given)
    return settle(settings, engine.report, nameOf('settle', operation).id, settlement)
  }

  function nameOf(of: string, operation: OperationName): ReturnType<typeof nameOperation> {
    refuseUnknown(of, operation, ['key', 'scope'])
    refuseUndefinedScope(operation)
    return nameOperation(settings, operation)
  }

  const idempotency: Idempotency = {
    run,
    wrap,
    settle: settleOne,
    signal: async (operation, payload, options = {}) =>
      signal(settings, engine.report, nameOf('signal', operation).id, payload, options),
    acquire: async (name, options) => {
      const isName = typeof name === 'object' && name !== null && ('key' in name || 'scope' in name)
      return acquire(settings, engine.report, nameOf('acquire', isName ? name : { key: name }), options)
    },
    receipts: async (operation) => readReceipts(settings, nameOf('receipts', operation).id),
  }
  Object.defineProperty(idempotency, ENGINE, { value: engine })
  return Object.freeze(idempotency)
}

const REQUEST_PARTS = ['key', 'scope', 'input', 'fingerprint', 'metadata', 'context', 'asyncInvocation']

/** A scope that somebody meant and misspelt would be none: one tenant would get the results of another. */
function refuseUndefinedScope(given: { readonly scope?: unknown }): void {
  if ('scope' in given && given.scope === undefined) {
    throw new InvalidOptionError(
      'scope was given and is undefined: everybody would share one. Leave it out when there is none.',
    )
  }
}

function fingerprintFor(request: RunRequest): RequestParts['fingerprint'] {
  const given = ['input', 'fingerprint'].filter((name) => name in request && Reflect.get(request, name) !== undefined)
  if (given.length === 2 || !('input' in request || 'fingerprint' in request)) {
    throw new InvalidOptionError(
      'run({ … }) takes exactly one of input (what is fingerprinted), fingerprint (made elsewhere) or fingerprint: false.',
    )
  }
  const { fingerprint } = request
  if (fingerprint === undefined) {
    refusePromise('input', [request.input])
    return { value: request.input }
  }
  if (fingerprint === false) return false
  if (typeof fingerprint === 'string' && fingerprint !== '') return { text: fingerprint }
  throw new InvalidOptionError(`fingerprint must be a non-empty string or false; got ${show(fingerprint)}.`)
}

/** Seconds for a `Retry-After`: whole, at least 1. */
export function retryAfterSeconds(retryAfterMs: number | undefined): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000))
}

function resultOf<T>(answer: Answer<T>): RunResult<T> {
  switch (answer.kind) {
    case 'executed':
      if (answer.ending.kind === 'unrecorded') throw new OutcomeNotRecordedError(answer.value, answer.ending.error)
      return { value: answer.value, replayed: false, attempt: answer.attempt }
    case 'replay':
      if (answer.outcome.kind === 'failure') throw new OperationFailedError(answer.outcome.failure)
      // The record was written by this operation's own work, whose type is T.
      return { value: answer.outcome.value as T, replayed: true, attempt: answer.attempt }
    case 'threw':
      throw answer.error
    case 'lease-lost':
      throw Object.assign(new LeaseLostError(), answer.error !== undefined && { cause: answer.error })
    case 'mismatch':
      throw new MismatchError()
    case 'in-progress':
      throw new InProgressError(retryAfterSeconds(answer.retryAfterMs))
    case 'waiting':
    case 'suspended':
      throw new WaitingError(retryAfterSeconds(answer.retryAfterMs))
    case 'unknown':
      throw new UnknownOutcomeError()
    case 'store-unavailable':
    case 'outcome-lost':
      throw answer.error
  }
}
