import { InvalidOptionError } from '../base/errors.ts'
import type { Settings } from '../operation/options.ts'
import type { StepContext, StepOptions } from '../operation/step-options.ts'
import { isSuspension } from '../operation/suspension.ts'
import { lazily } from '../outcome/lazily.ts'

const retrying = /* @__PURE__ */ lazily(() => import('../retry/retry.ts'))

/** Calls the work of a step, and again where its options say so. */
export async function attemptStep<T>(
  { clock, random }: Pick<Settings, 'clock' | 'random'>,
  context: StepContext,
  work: (step: StepContext) => T | PromiseLike<T>,
  { retry: policy }: StepOptions<T>,
): Promise<T> {
  const value = await (policy === undefined ? work(context) : retried(policy))
  // Recorded as a step's result it would be plain data for the next attempt, and nobody would be waiting.
  if (isSuspension(value)) {
    throw new InvalidOptionError(
      'A step returned what operation.delay or operation.wait made: return it from the handler.',
    )
  }
  return value

  async function retried(given: NonNullable<StepOptions<T>['retry']>): Promise<T> {
    const { retry } = await retrying()
    const ends = [context.signal, ...(given.signal ? [given.signal] : [])]
    const { idempotencyKey, attempt } = context
    return retry(({ signal }) => work({ idempotencyKey, attempt, signal }), {
      clock,
      random,
      ...given,
      signal: AbortSignal.any(ends),
    })
  }
}
