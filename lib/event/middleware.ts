import type middy from '@middy/core'
import type { Context } from 'aws-lambda'
import { contextWith } from '../base/invocation.ts'
import type { Execution } from '../engine/execution.ts'
import { afterReturn, type Watched, watch } from '../middy/watch.ts'
import { isSuspension } from '../operation/suspension.ts'
import { admitEvent } from './admission.ts'
import { delivered, ended, failed, refused } from './answer.ts'
import { type EventContext, type IdempotentEventOptions, resolveEventOptions } from './options.ts'

/**
 * Makes the handler of single events safe to run again: a Middy middleware (Middy 6 and 7) for EventBridge, SNS, S3 and
 * asynchronous invocations. A repetition returns what the first run returned; what the handler throws is thrown on, so
 * that Lambda delivers the event again.
 *
 * Register it first: it then stores the final result, after every other `after` hook.
 *
 * @example
 * export const handler = middy<EventBridgeEvent<'OrderPlaced', Order>>()
 *   .use(idempotentEvent({ idempotency, source: eventBridge<Order, 'OrderPlaced'>() }))
 *   .handler(async ({ detail }, { operation }) => charge(detail, operation.key))
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function idempotentEvent<E>(
  options: IdempotentEventOptions<E>,
): middy.MiddlewareObj<E, unknown, Error, EventContext> {
  const settings = resolveEventOptions('idempotentEvent', options)
  const running = new WeakMap<object, Running>()

  return Object.freeze({
    name: 'idempotentEvent',

    async before(request: Request): Promise<undefined> {
      const claim = await admitEvent(settings, request.event, request.context)
      if (claim?.kind === 'claimed') {
        const { execution } = claim
        running.set(request, { execution, seen: watch(request) })
        execution.entered()
        request.context = contextWith(request.context, 'operation', execution.operation)
        return
      }
      // Set, not returned: a returned `undefined` would not keep Middy from running the handler.
      request.earlyResponse = claim === undefined ? undefined : delivered(refused(claim))
    },

    async after(request: Request): Promise<void> {
      const entry = running.get(request)
      if (entry === undefined) return
      // What others have made of a suspension is no result.
      const { returned } = entry.seen
      const ending = await entry.execution.complete(isSuspension(returned) ? returned : request.response)
      running.delete(request)
      request.response = delivered(ended(ending, request.response))
    },

    /** Touches only what this very request has claimed: it runs for errors before its own `before` and in it, too. */
    async onError(request: Request): Promise<void> {
      const entry = running.get(request)
      if (entry === undefined) return
      running.delete(request)
      const { execution, seen } = entry
      const error = seen.firstError ?? request.error
      const result = failed(await execution.reject(seen.hasReturned ? afterReturn(error) : error), error)
      if (result.kind === 'returned') request.response = result.value
    },
  })
}

interface Running {
  readonly execution: Execution
  readonly seen: Watched
}

type Request = middy.Request<unknown, unknown, Error, Context>
