import type { Context } from 'aws-lambda'

/** What is read of the invocation: Lambda's context. */
export interface InvocationContext {
  readonly awsRequestId?: string
  getRemainingTimeInMillis(): number
}

/**
 * Time left until the end of the invocation, in ms; 0 and less are numbers too. `undefined`: no invocation is known,
 * as in tests and on hosts other than Lambda, which may give no context or one without a clock.
 */
export function remainingTimeMs(context: InvocationContext | undefined): number | undefined {
  if (typeof context?.getRemainingTimeInMillis !== 'function') return undefined
  const leftMs: unknown = context.getRemainingTimeInMillis()
  return typeof leftMs === 'number' && Number.isFinite(leftMs) ? leftMs : undefined
}

/** The invocation's id, which Lambda gives anew to every repetition by a caller. `undefined`: none is known. */
export function requestIdOf(context: InvocationContext | undefined): string | undefined {
  const id: unknown = context?.awsRequestId
  return typeof id === 'string' && id !== '' ? id : undefined
}

/**
 * A copy of the context with one property more, and with everything it has, accessors such as
 * `callbackWaitsForEmptyEventLoop` included: requests of one process may share a context object, and must not find
 * each other's operation in it.
 */
export function contextWith<K extends PropertyKey, V>(
  context: Context | undefined,
  name: K,
  value: V,
): Context & { readonly [N in K]: V } {
  const given = context ?? {}
  return Object.create(Object.getPrototypeOf(given), {
    ...Object.getOwnPropertyDescriptors(given),
    [name]: { value, enumerable: typeof name === 'string', configurable: true, writable: true },
  })
}
