import type { Context } from 'aws-lambda'

/** Time left until the end of the invocation, in ms; 0 and less are numbers too. `undefined`: no invocation is known. */
export function remainingMs(context: Context | undefined): number | undefined {
  if (typeof context?.getRemainingTimeInMillis !== 'function') return undefined
  const leftMs: unknown = context.getRemainingTimeInMillis()
  return typeof leftMs === 'number' && Number.isFinite(leftMs) ? leftMs : undefined
}

/**
 * A copy of the context with one property more: requests of one process may share a context object, and must not
 * find each other's batch in it.
 */
export function contextWith<K extends symbol, V>(
  context: Context | undefined,
  name: K,
  value: V,
): Context & { readonly [N in K]: V } {
  const given = context ?? {}
  return Object.create(Object.getPrototypeOf(given), {
    ...Object.getOwnPropertyDescriptors(given),
    [name]: { value, configurable: true },
  })
}
