import { InvalidOptionError } from '../base/errors.ts'
import { booleanOption, functionOption, refusePromise, refuseUnknown, show } from '../base/guards.ts'
import { remainingTimeMs, requestIdOf } from '../base/invocation.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import { nameOperation, type RequestParts } from '../engine/request.ts'
import type { Operation } from '../operation/operation.ts'
import { type IdempotencyOptions, resolveOptions } from '../operation/options.ts'
import { lazily } from '../outcome/lazily.ts'
import type { Idempotency, OperationName, RequestIdentity, RunRequest, RunResult, WrapOptions } from './api.ts'
import { checkMetadata } from './metadata.ts'
import { resultOf } from './result.ts'
import type { Settlement, SettleResult } from './settle.ts'

/** What `run` and `wrap` do not need. */
const admitting = /* @__PURE__ */ lazily(() => import('./admission.ts'))
const settling = /* @__PURE__ */ lazily(() => import('./settle.ts'))
const signalling = /* @__PURE__ */ lazily(() => import('./signal.ts'))
const receipting = /* @__PURE__ */ lazily(() => import('../outcome/receipts.ts'))

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
    const { id } = nameOf('settle', operation)
    const { settle } = await settling()
    return settle(settings, engine.report, id, settlement)
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
    signal: async (operation, payload, options = {}) => {
      const { id } = nameOf('signal', operation)
      const { signal } = await signalling()
      return signal(settings, engine.report, id, payload, options)
    },
    acquire: async (name, options) => {
      const isName = typeof name === 'object' && name !== null && ('key' in name || 'scope' in name)
      const named = nameOf('acquire', isName ? name : { key: name })
      const { acquire } = await admitting()
      return acquire(settings, engine.report, named, options)
    },
    receipts: async (operation) => {
      const { id } = nameOf('receipts', operation)
      const { readReceipts } = await receipting()
      return readReceipts(settings, id)
    },
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
