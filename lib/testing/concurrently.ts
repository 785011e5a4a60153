import { InvalidOptionError } from '../base/errors.ts'
import { integerOption, show } from '../base/guards.ts'

/** What came of calls that ran side by side, each list in the order of the calls. */
export interface Together<T> {
  readonly values: readonly T[]
  readonly errors: readonly unknown[]
}

/**
 * Starts `n` calls at the same moment, and waits for all of them.
 *
 * @example
 * const { values, errors } = await concurrently(20, () => idempotency.run({ key: 'order-1', input: 1 }, charge))
 * expect(values).toHaveLength(1)
 *
 * @param call - gets its number, from 0
 * @throws InvalidOptionError when `n` or `call` is wrong
 */
export async function concurrently<T>(n: number, call: (index: number) => T | PromiseLike<T>): Promise<Together<T>> {
  if (integerOption('concurrently(n, call): n', n, 1, 100_000) === undefined || typeof call !== 'function') {
    throw new InvalidOptionError(`concurrently(n, call) needs a number and a function; got ${show(n)}, ${show(call)}.`)
  }
  const settled = await Promise.allSettled(Array.from({ length: n }, async (_, index) => call(index)))
  return {
    values: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    errors: settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : [])),
  }
}
