import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import { type Reading, type RetryAttempt, runAttempts } from './attempts.ts'
import { verdictOfError } from './failure.ts'
import { POLICY_OPTIONS, type RetryPolicy, resolvePolicy } from './policy.ts'

const READING: Reading<unknown> = {
  failureOf: (outcome) => (outcome.kind === 'error' ? { failure: outcome.error, listed: outcome.error } : undefined),
  verdictOf: verdictOfError,
  discard: async () => undefined,
}

/**
 * Calls `work` again when it fails in a way that may pass: time-outs, resets, 429, 502, 503 and 504.
 * Inside another retry the two share the attempts of the more sparing one.
 *
 * @param work - safe to call more than once; should hand its `signal` on
 * @throws what the work threw, when it is no passing failure; {@link RetryError} with all failures when it gave up;
 * the signal's reason when it was aborted; InvalidOptionError when the policy is wrong
 *
 * @example
 * const rate = await retry(({ signal }) => fetchRate('EUR', { signal }), { maxAttempts: 4, signal: operation.signal })
 */
export async function retry<T>(
  work: (attempt: RetryAttempt) => T | PromiseLike<T>,
  policy: RetryPolicy = {},
): Promise<T> {
  if (typeof work !== 'function') throw new InvalidOptionError(`retry expects a function to call; got ${show(work)}.`)
  return runAttempts(resolvePolicy('retry', policy, POLICY_OPTIONS), work, READING as Reading<T>)
}
