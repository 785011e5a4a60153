import middy from '@middy/core'
import type {
  ALBEvent,
  ALBResult,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyEventV2WithJWTAuthorizer,
  APIGatewayProxyResult,
  APIGatewayProxyResultV2,
  Context,
} from 'aws-lambda'
import { expect, expectTypeOf, test } from 'vitest'
import {
  type HttpAnswer,
  type HttpEvent,
  idempotent,
  idempotentHttp,
  type StoredResponse,
} from '../../lib/http/index.ts'
import { createIdempotency, type Operation } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { httpEvent, lambdaContext, restEvent } from './events.ts'

const idempotency = createIdempotency({ store: memoryStore(), namespace: 'orders' })

test('with Middy, event and operation reach the handler typed', async () => {
  const handler = middy<APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyResultV2>()
    .use(idempotentHttp({ idempotency }))
    .handler(async (event, context) => {
      expectTypeOf(event).toEqualTypeOf<APIGatewayProxyEventV2WithJWTAuthorizer>()
      expectTypeOf(context.operation).toEqualTypeOf<Operation>()
      expectTypeOf(context.functionName).toEqualTypeOf<string>()
      const id = await context.operation.step('create', () => 7)
      expectTypeOf(id).toEqualTypeOf<number>()
      return { statusCode: 201, body: String(id) }
    })
  // Middy's type asks callers for all that middlewares add to the context; Lambda, and a test, give the plain one.
  const context = lambdaContext() as Context & { operation: Operation }
  expect(await handler(httpEvent(), context)).toMatchObject({ statusCode: 201, body: '7' })
})

test('the options’ functions see every event there may be, or the one that is named', () => {
  idempotentHttp({
    idempotency,
    scope: (event, context) => {
      expectTypeOf(event).toEqualTypeOf<HttpEvent>()
      expectTypeOf(context).toEqualTypeOf<Context>()
      return event.headers?.['x-tenant'] ?? 'none'
    },
  })
  const named = idempotentHttp<APIGatewayProxyEventV2>({
    idempotency,
    scope: (event) => event.requestContext.accountId,
    fingerprint: (event) => event.body,
    replay: (stored, event) => {
      expectTypeOf(stored).toEqualTypeOf<StoredResponse>()
      return { ...stored, body: event.rawPath }
    },
    storeResponse: (response) => {
      expectTypeOf(response).toEqualTypeOf<HttpAnswer>()
      return response.statusCode < 500
    },
    onRefused: (answer, event) => {
      expectTypeOf(answer).toEqualTypeOf<HttpAnswer>()
      return { ...answer, headers: { ...answer.headers, 'X-Path': event.rawPath } }
    },
  })
  const annotated = idempotentHttp({ idempotency, scope: (event: APIGatewayProxyEvent) => event.requestContext.apiId })
  middy()
    .use(named)
    .handler(async (event) => {
      expectTypeOf(event.rawPath).toEqualTypeOf<string>()
      return { statusCode: 200, body: '' }
    })
  middy()
    .use(annotated)
    .handler(async (event) => {
      expectTypeOf(event.requestContext.apiId).toEqualTypeOf<string>()
      return { statusCode: 200, body: '' }
    })
})

test('every source’s handler types fit', () => {
  middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(idempotentHttp({ idempotency }))
    .handler(async (event, { operation }) => ({ statusCode: 201, body: `${event.httpMethod} ${operation.key}` }))
  middy<ALBEvent, ALBResult>()
    .use(idempotentHttp({ idempotency, anonymous: true }))
    .handler(async (event, { operation }) => ({ statusCode: 201, body: `${event.path} ${operation.attempt}` }))
})

test('the wrapper alone infers from its handler', async () => {
  const handler = idempotent({ idempotency }, async (event: APIGatewayProxyEvent, { operation }) => {
    expectTypeOf(operation).toEqualTypeOf<Operation>()
    return { statusCode: 201, body: event.path }
  })
  expectTypeOf(handler).parameters.toEqualTypeOf<[event: APIGatewayProxyEvent, context: Context]>()
  expectTypeOf(handler).returns.resolves.toEqualTypeOf<{ statusCode: number; body: string } | HttpAnswer>()
  expectTypeOf(handler).returns.resolves.toExtend<APIGatewayProxyResult>()
  expectTypeOf(handler).returns.resolves.toExtend<APIGatewayProxyResultV2>()
  expectTypeOf(handler).returns.resolves.toExtend<ALBResult>()
  expect((await handler(restEvent({ key: 'alone' }), lambdaContext())).body).toBe('/orders')
})

test('the wrapper fits into a chain, and hands Middy’s signal on', async () => {
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyResultV2>().handler(
    idempotent(
      { idempotency },
      async (event: APIGatewayProxyEventV2, { operation }, { signal }: { signal: AbortSignal }) => ({
        statusCode: 200,
        body: `${event.rawPath} ${operation.key} ${signal.aborted}`,
      }),
    ),
  )
  expect(await handler(httpEvent({ key: 'chained' }), lambdaContext())).toMatchObject({ body: '/orders chained false' })
})

test('wrong options are type errors', () => {
  // @ts-expect-error a number is no key policy
  expect(() => idempotentHttp({ idempotency, key: 1 })).toThrow()
  // @ts-expect-error misspelt
  expect(() => idempotentHttp({ idempotency, header_: 'x' })).toThrow()
})
