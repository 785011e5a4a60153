import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { idempotent } from '../../lib/http/index.ts'
import type { Operation } from '../../lib/index.ts'
import {
  httpApiEvent,
  type VerifyOptions,
  verifyIdempotent,
  type World,
  type WorldIdempotencyOptions,
} from '../../lib/testing/index.ts'

export const ORDER = httpApiEvent({ path: '/orders', body: { cents: 100 } })

/** What verifying comes to: a text when it passed, else the error's message. */
export async function said(verifying: Promise<unknown>): Promise<string> {
  return verifying.then(
    () => 'passed',
    (error: Error) => `${error.name}: ${error.message}`,
  )
}

/** Verifies an HTTP handler that does this in its operation. */
export function verifyHttp(
  work: (operation: Operation, world: World, event: APIGatewayProxyEventV2) => unknown,
  options: VerifyOptions & { readonly idempotency?: WorldIdempotencyOptions } = {},
) {
  const { idempotency, ...verifying } = options
  return verifyIdempotent(
    (world) =>
      idempotent({ idempotency: world.idempotency(idempotency) }, async (event: APIGatewayProxyEventV2, context) => {
        await work(context.operation, world, event)
        return { statusCode: 201 }
      }),
    ORDER,
    verifying,
  )
}

/** Verifies what is done in an operation of `run`, for an order. */
export function verifyRun(
  work: (operation: Operation, world: World) => unknown,
  options: VerifyOptions & { readonly idempotency?: WorldIdempotencyOptions } = {},
) {
  const { idempotency, ...verifying } = options
  return verifyIdempotent(
    (world) => {
      const { run } = world.idempotency(idempotency)
      return async (order, context) => {
        const { value } = await run({ key: order.id, input: order, context }, (operation) => work(operation, world))
        return value
      }
    },
    { id: 'order-1' },
    verifying,
  )
}
