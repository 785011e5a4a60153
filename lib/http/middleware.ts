import type middy from '@middy/core'
import type { Context } from 'aws-lambda'
import { afterReturn, type Watched, watch } from '../middy/watch.ts'
import { isSuspension } from '../operation/suspension.ts'
import { type Admission, admit } from './admission.ts'
import { answerInstead, endReturned, endThrown } from './ending.ts'
import { type HttpEvent, type IdempotentHttpOptions, type OperationContext, resolveHttpOptions } from './options.ts'

/** The event type that `.use(…)` adds: none, unless the options fix one. */
export type MiddlewareEvent<E> = HttpEvent extends E ? unknown : E

/**
 * Makes an HTTP handler safe to repeat: a Middy middleware (Middy 6 and 7) for API Gateway, Function URLs and
 * load balancers.
 *
 * Register it first: it then sees and stores the final wire response, after every other `after` hook, and a replay
 * is that response. A middleware behind it must not answer early from its own `before`: Middy then skips every
 * `after`, and the key stays in progress until its lease ends.
 *
 * @example
 * export const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyResultV2>()
 *   .use(idempotentHttp({ idempotency }))
 *   .use(httpJsonBodyParser())
 *   .handler(async (event, { operation }) => ({ statusCode: 201, body: await createOrder(event.body, operation.key) }))
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function idempotentHttp<E = HttpEvent>(
  options: IdempotentHttpOptions<E>,
): middy.MiddlewareObj<MiddlewareEvent<E>, unknown, Error, OperationContext> {
  const settings = resolveHttpOptions('idempotentHttp', options)
  const running = new WeakMap<object, Running>()

  return Object.freeze({
    name: 'idempotentHttp',

    async before(request: Request): Promise<unknown> {
      const admission = await admit(settings, request.event, request.context)
      if (admission.kind === 'answered') return admission.answer
      running.set(request, { admission, seen: watch(request) })
      admission.execution.entered()
      request.context = admission.context
      return undefined
    },

    async after(request: Request): Promise<void> {
      const entry = running.get(request)
      if (entry === undefined) return
      const { admission, seen } = entry
      const ending = await endReturned(settings, admission, request.response, seen)
      running.delete(request)
      const answer = await answerInstead(settings, admission, ending)
      if (answer !== undefined) request.response = answer
    },

    /** Touches only what this very request has claimed: it runs for errors before its own `before` and in it, too. */
    async onError(request: Request): Promise<void> {
      const entry = running.get(request)
      if (entry === undefined) return
      running.delete(request)
      const { admission, seen } = entry
      const error = seen.firstError ?? request.error
      // The handler has said that it waits; a middleware that cannot make a response of that changes nothing.
      if (isSuspension(seen.returned)) {
        request.response = await answerInstead(settings, admission, await admission.execution.complete(seen.returned))
        return
      }
      const answer = await endThrown(settings, admission, seen.hasReturned ? afterReturn(error) : error, {
        answered: request.response,
        answersExposed: true,
      })
      // Set, not returned: a returned value would keep Middy from calling the error hooks further out.
      if (answer !== undefined) request.response = answer
    },
  })
}

interface Running {
  readonly admission: Exclude<Admission, { kind: 'answered' }>
  readonly seen: Watched
}

type Request = middy.Request<unknown, unknown, Error, Context>
