import middy from '@middy/core'
import type {
  ALBEvent,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyEventV2WithIAMAuthorizer,
  APIGatewayProxyEventV2WithJWTAuthorizer,
  APIGatewayProxyResultV2,
  Context,
  SQSEvent,
} from 'aws-lambda'
import { expect, expectTypeOf, test } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import type { Idempotency, Operation } from '../../lib/index.ts'
import {
  albEvent,
  concurrently,
  functionUrlEvent,
  httpApiEvent,
  redeliver,
  restApiEvent,
  sqsEvent,
  type Verification,
  verifyIdempotent,
} from '../../lib/testing/index.ts'

test('the world, the event and the operation infer from what is given', async () => {
  const verification = verifyIdempotent(({ idempotency, effect, clock }) => {
    expectTypeOf(idempotency()).toEqualTypeOf<Idempotency>()
    expectTypeOf(clock.now()).toEqualTypeOf<number>()
    return idempotent(
      { idempotency: idempotency({ effects: 'steps-only' }) },
      async (event: APIGatewayProxyEventV2, { operation }) => {
        expectTypeOf(event.body).toEqualTypeOf<string | undefined>()
        expectTypeOf(operation).toEqualTypeOf<Operation>()
        const nothing = await effect('audit', { idempotencyKey: operation.id })
        expectTypeOf(nothing).toEqualTypeOf<undefined>()
        const charge = await effect('charge', { idempotencyKey: operation.id, result: { id: 'ch_1' } })
        expectTypeOf(charge).toEqualTypeOf<{ id: string }>()
        return { statusCode: 201, body: charge.id }
      },
    )
  }, httpApiEvent())
  expectTypeOf(verification).toEqualTypeOf<Promise<Verification>>()
  expect((await verification).effects).toEqual({ audit: 1, charge: 1 })
})

test('a Middy handler, one of a wider event, and one without a context fit', async () => {
  await verifyIdempotent(
    ({ idempotency, effect }) =>
      middy<APIGatewayProxyEventV2, APIGatewayProxyResultV2>()
        .use(idempotentHttp({ idempotency: idempotency() }))
        .handler(async (_event, { operation }) => {
          await operation.step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey }))
          return { statusCode: 201 }
        }),
    httpApiEvent(),
  )
  await verifyIdempotent(
    ({ idempotency, effect }) =>
      (order) => {
        expectTypeOf(order).toEqualTypeOf<{ id: string }>()
        return idempotency().run({ key: order.id, input: order }, () => effect('c', { idempotencyKey: order.id }))
      },
    { id: 'order-1' },
  )
})

test('the events have their types', () => {
  expectTypeOf(restApiEvent()).toEqualTypeOf<APIGatewayProxyEvent>()
  expectTypeOf(httpApiEvent()).toEqualTypeOf<APIGatewayProxyEventV2WithJWTAuthorizer>()
  expectTypeOf(httpApiEvent()).toExtend<APIGatewayProxyEventV2>()
  expectTypeOf(functionUrlEvent()).toEqualTypeOf<APIGatewayProxyEventV2WithIAMAuthorizer>()
  expectTypeOf(albEvent()).toEqualTypeOf<ALBEvent>()
  expectTypeOf(sqsEvent({ body: 1 })).toEqualTypeOf<SQSEvent>()
  // @ts-expect-error a load balancer verifies nobody
  expect(() => albEvent({ principal: 'anna' })).not.toThrow()
})

test('what runs side by side, and what is delivered, keeps its types', async () => {
  const { values } = await concurrently(2, (index) => ({ index }))
  expectTypeOf(values).toEqualTypeOf<readonly { index: number }[]>()
  const { deadLetters } = await redeliver(
    (event, context) => {
      expectTypeOf(event).toEqualTypeOf<SQSEvent>()
      expectTypeOf(context).toEqualTypeOf<Context>()
    },
    sqsEvent({ body: 1 }),
  )
  expect(deadLetters).toEqual([])
})

test('wrong options are type errors', () => {
  const build = () => batchHandler
  // @ts-expect-error how often is one of three words
  void verifyIdempotent(build, sqsEvent({ body: 1 }), { effects: { charge: 'twice' } }).catch(() => undefined)
  // @ts-expect-error a message has a body
  sqsEvent({ messageId: 'm' })
  expect(build).toBeTypeOf('function')
})
