import type { Context } from 'aws-lambda'
import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import type { Ending } from '../engine/ending.ts'
import { admit } from './admission.ts'
import { INNER_FORM } from './answer/inner.ts'
import type { HttpAnswer } from './answer/wire.ts'
import { answerInstead, endReturned, endThrown } from './ending.ts'
import { type HttpEvent, type IdempotentHttpOptions, type OperationContext, resolveHttpOptions } from './options.ts'

/** Set by `awslambda.streamifyResponse`, for Lambda's runtime to see. */
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming')

/**
 * Makes an HTTP handler safe to repeat, alone or inside Middy's `.handler(…)`. There the replay passes through the
 * chain like a response of the handler, and what the handler throws goes on to the error middlewares.
 *
 * @example
 * export const handler = idempotent({ idempotency }, async (event: APIGatewayProxyEventV2, { operation }) => ({
 *   statusCode: 201,
 *   body: await createOrder(event.body, operation.key),
 * }))
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function idempotent<E = HttpEvent, R = unknown, A extends readonly unknown[] = []>(
  options: IdempotentHttpOptions<E>,
  fn: (event: E, context: OperationContext, ...rest: A) => R | PromiseLike<R>,
): (event: E, context: Context, ...rest: A) => Promise<R | HttpAnswer> {
  const settings = resolveHttpOptions('idempotent', options, INNER_FORM)
  if (typeof fn !== 'function') {
    throw new InvalidOptionError(`idempotent(options, fn): fn must be a function; got ${show(fn)}.`)
  }
  if (STREAMING in fn) {
    throw new InvalidOptionError(
      'idempotent(options, fn): fn streams its response, which cannot be stored and replayed. Return the whole response, or leave this route without idempotency.',
    )
  }

  // A handler of Middy returns when Middy does: at its early timeout the function inside runs on.
  const isSettled = !('use' in fn)

  return async (event, context, ...rest) => {
    const admission = await admit(settings, event, context)
    if (admission.kind === 'answered') return admission.answer
    admission.execution.entered()
    let response: R
    let ending: Ending
    try {
      response = await admission.execution.within(() => fn(event, admission.context, ...rest))
      ending = await endReturned(settings, admission, response, { returned: response, isSettled })
    } catch (error) {
      const answer = await endThrown(settings, admission, error, { answersExposed: false })
      if (answer !== undefined) return answer
      throw error
    }
    return (await answerInstead(settings, admission, ending)) ?? response
  }
}
