import type { Context } from 'aws-lambda'
import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import { contextWith } from '../base/invocation.ts'
import type { Ending } from '../engine/ending.ts'
import { admitEvent } from './admission.ts'
import { delivered, ended, failed, refused } from './answer.ts'
import { type EventContext, type IdempotentEventOptions, resolveEventOptions } from './options.ts'

/**
 * A Lambda handler for single events, without Middy; otherwise the same as `idempotentEvent`.
 *
 * @example
 * export const handler = eventHandler(
 *   { idempotency, source: eventBridge<Order>(), key: ({ detail }) => detail.orderId },
 *   async ({ detail }, { operation }) => operation.step('charge', ({ idempotencyKey }) => charge(detail, idempotencyKey)),
 * )
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function eventHandler<E, R>(
  options: IdempotentEventOptions<E>,
  fn: (event: E, context: EventContext) => R | PromiseLike<R>,
): (event: E, context: Context) => Promise<R | undefined> {
  const settings = resolveEventOptions('eventHandler', options)
  if (typeof fn !== 'function') {
    throw new InvalidOptionError(`eventHandler(options, fn): fn must be a function; got ${show(fn)}.`)
  }
  return async (event, context) => {
    const claim = await admitEvent(settings, event, context)
    if (claim === undefined) return undefined
    // What a record holds was returned by the same function.
    if (claim.kind !== 'claimed') return delivered(refused(claim)) as R
    const { execution } = claim
    execution.entered()
    let value: R
    let ending: Ending
    try {
      value = await execution.within(() => fn(event, contextWith(context, 'operation', execution.operation)))
      ending = await execution.complete(value)
    } catch (error) {
      return delivered(failed(await execution.reject(error), error)) as R
    }
    return delivered(ended(ending, value)) as R
  }
}
