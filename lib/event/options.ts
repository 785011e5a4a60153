import type { Context } from 'aws-lambda'
import { InvalidOptionError } from '../base/errors.ts'
import { functionOption, refuseUnknown, show } from '../base/guards.ts'
import type { Engine } from '../engine/engine.ts'
import type { Idempotency } from '../idempotency/api.ts'
import { engineOf } from '../idempotency/idempotency.ts'
import type { Operation } from '../operation/operation.ts'
import { type KeyInput, normalizeScope, type Scope } from '../record/identity.ts'
import type { EventSource } from './source.ts'

/** Lambda's context, and the operation that the handler is executing. */
export type EventContext = Context & { readonly operation: Operation }

/** Options of `idempotentEvent` and `eventHandler`. */
export interface IdempotentEventOptions<E> {
  /** Made by `createIdempotency`. Two functions that do different things with one event need two namespaces. */
  readonly idempotency: Idempotency
  /** Where the events come from: `eventBridge()`, `sns()`, `s3()`, `asyncInvoke()`. */
  readonly source: EventSource<E>
  /**
   * What names the operation, such as `({ detail }) => detail.orderId`. A producer that sends twice makes two ids; only
   * a business id protects from that.
   * @defaultValue what the source says: the event's own id
   */
  readonly key?: (event: E, context: Context) => KeyInput
  /**
   * Who asks.
   * @defaultValue what the source says: the bus's account and source, the topic, the bucket
   */
  readonly scope?: Scope | ((event: E, context: Context) => Scope)
  /**
   * What tells one request from another under the same key; `false`: nothing does.
   * @defaultValue what the event says, without ids and times of its sending
   */
  readonly fingerprint?: false | ((event: E) => unknown)
  /**
   * The function's own name or ARN, so that an operation that waits, or that Lambda has stopped retrying, is continued:
   * the event is stored with the claim, and a reconciler, or a signal through the relay, invokes the function with it.
   * @defaultValue none: only Lambda's retries continue it
   */
  readonly redrive?: { readonly functionName: string }
}

/** Options after validation. */
export interface EventSettings<E> extends Pick<IdempotentEventOptions<E>, 'key' | 'scope' | 'fingerprint' | 'redrive'> {
  readonly engine: Engine
  readonly source: EventSource<E>
}

const OPTION_NAMES: readonly string[] = ['idempotency', 'source', 'key', 'scope', 'fingerprint', 'redrive']

/** @throws InvalidOptionError naming the option, what was expected and what came. */
export function resolveEventOptions<E>(of: string, options: IdempotentEventOptions<E>): EventSettings<E> {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(`${of} expects an options object; got ${show(options)}.`)
  }
  refuseUnknown(of, options, OPTION_NAMES)
  const { idempotency, source, scope, fingerprint, redrive } = options
  if (typeof source?.read !== 'function') {
    throw new InvalidOptionError(`source must be eventBridge(), sns(), s3() or asyncInvoke(); got ${show(source)}.`)
  }
  if (scope !== undefined && typeof scope !== 'function' && normalizeScope(scope).every((part) => part === '')) {
    throw new InvalidOptionError(`scope must name who asks; got ${show(scope)}.`)
  }
  if (redrive !== undefined && (typeof redrive?.functionName !== 'string' || redrive.functionName === '')) {
    throw new InvalidOptionError(`redrive must be { functionName }; got ${show(redrive)}.`)
  }
  const key = functionOption('key', options.key)
  if (redrive !== undefined && source.isInvocation && key === undefined) {
    throw new InvalidOptionError(
      'redrive needs a key: the invocation that continues an operation has another request id, and would be another operation.',
    )
  }
  return Object.freeze({
    engine: engineOf(idempotency),
    source,
    ...(key !== undefined && { key }),
    ...(scope !== undefined && { scope }),
    ...(fingerprint !== undefined && {
      fingerprint: fingerprint === false ? fingerprint : functionOption('fingerprint', fingerprint),
    }),
    ...(redrive !== undefined && { redrive }),
  } as EventSettings<E>)
}
