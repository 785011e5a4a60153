import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import middy7 from '@middy/core'
import httpCors from '@middy/http-cors'
import httpResponseSerializer from '@middy/http-response-serializer'
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2, APIGatewayProxyResultV2 } from 'aws-lambda'
import { build } from 'esbuild'
import middy6 from 'middy6'
import { describe, expect, test, vi } from 'vitest'
import { eachRecord, idempotentBatch } from '../../lib/batch/index.ts'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { createIdempotency, isLambdaOnceError, MismatchError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { event, invocation, message } from '../batch/sqs-event.ts'
import { codeOf, setUp as core, ORDER } from '../core/harness.ts'
import { albMultiEvent, httpEvent, lambdaContext, restEvent, SOURCES } from '../http/events.ts'
import { type Answered, headerOf, setUp, unmarked } from '../http/harness.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MIDDY = { 6: middy6 as unknown as typeof middy7, 7: middy7 }
type Handler = (event: unknown, context?: unknown) => Promise<Answered>

function chained(middlewares: readonly unknown[], fn: (event: never) => unknown, middy = middy7): Handler {
  const handler = middy()
    .use(middlewares as middy7.MiddlewareObj[])
    .handler(fn as never) as unknown as Handler
  return (given, context = lambdaContext()) => handler(given, context)
}

describe('Middy and TypeScript', () => {
  test('The error hook ran for a duplicate that was refused, and deleted the original’s record: it touches only what its own request claimed', async () => {
    const { middleware } = setUp()
    const gate = Promise.withResolvers<void>()
    let calls = 0
    const handler = chained([middleware], async () => {
      calls += 1
      await gate.promise
      return { statusCode: 201, body: 'A' }
    })
    const first = handler(httpEvent())
    await new Promise(setImmediate)
    for (const _ of ['B', 'C']) expect((await handler(httpEvent())).statusCode).toBe(409)
    gate.resolve()
    await first
    expect((await handler(httpEvent({ body: '{"other":1}' }))).statusCode).toBe(422)
    expect(headerOf(await handler(httpEvent()), 'Idempotent-Replayed')).toBe('true')
    expect(calls).toBe(1)
  })

  test.each([[undefined], [null], [0], [''], [false]])(
    'A handler that returns nothing ran again for every duplicate: its result is a result (%j)',
    async (value) => {
      const { idempotency, memory } = core()
      let calls = 0
      const work = () => {
        calls += 1
        return value
      }
      expect((await idempotency.run(ORDER, work)).value).toBe(value)
      expect(await idempotency.run(ORDER, work)).toMatchObject({ value, replayed: true })
      expect(calls).toBe(1)
      expect(memory.records()[0]?.status).toBe('COMPLETED')
    },
  )

  test('The handler changed the event, and the result was stored under another key: key and fingerprint are made once', async () => {
    const { middleware, store } = setUp()
    const handler = chained([middleware], async (given: { body?: string; headers?: object }) => {
      given.body = 'x'
      delete given.headers
      return { statusCode: 201, body: '' }
    })
    await handler(httpEvent())
    expect(headerOf(await handler(httpEvent()), 'Idempotent-Replayed')).toBe('true')
    expect(store.records()).toHaveLength(1)
  })

  test.each(Object.entries(SOURCES))(
    'A concurrent duplicate was answered with 500 and a stack: it is a problem document with 409 (%s)',
    async (_name, make) => {
      const { serve } = setUp({ anonymous: true })
      const handler = serve(() => new Promise(() => undefined))
      void handler(make())
      await new Promise(setImmediate)
      const answer = await handler(make())
      expect(answer.statusCode).toBe(409)
      expect(headerOf(answer, 'Content-Type')).toBe('application/problem+json')
      expect(Number(headerOf(answer, 'Retry-After'))).toBeGreaterThan(0)
      expect(answer.body).not.toMatch(/at .*\.ts/)
    },
  )

  test('Two copies of the package in one bundle did not know each other’s errors: they are told by a mark, not by their class', async () => {
    vi.resetModules()
    const other: typeof import('../../lib/index.ts') = await import('../../lib/index.ts')
    expect(other.MismatchError).not.toBe(MismatchError)
    const foreign = new other.MismatchError()
    expect(foreign instanceof MismatchError).toBe(false)
    expect(isLambdaOnceError(foreign, 'MISMATCH')).toBe(true)
    const { idempotency, record } = core()
    expect(await codeOf(idempotency.run(ORDER, () => Promise.reject(new other.NoEffectError())))).toBe('NO_EFFECT')
    expect(record()?.status).toBe('RELEASED')
  })

  test('Two wrappers over one store shared the first one’s settings, and a key’s prefix grew with each call: a store has no settings', async () => {
    const store = memoryStore()
    const short = createIdempotency({ store, namespace: 'a', retentionSeconds: 60 })
    const long = createIdempotency({ store, namespace: 'b', retentionSeconds: 3_600 })
    for (let call = 0; call < 100; call++) {
      await short.run(ORDER, () => 1)
      await long.run(ORDER, () => 2)
    }
    const [a, b] = store.records()
    expect([a!.id.split('#')[0], b!.id.split('#')[0], store.records().length]).toEqual(['a', 'b', 2])
    expect(b!.expiresAt! - a!.expiresAt!).toBeGreaterThanOrEqual(3_539)
  })

  test.each(['inside', 'outside'])(
    'An after hook threw though the handler had succeeded, and the error hook released the key: an effect is never run again (%s)',
    async (place) => {
      const { middleware, store } = setUp()
      let calls = 0
      const failing = {
        after: () => {
          throw new Error('after')
        },
      }
      const handler = chained(place === 'inside' ? [middleware, failing] : [failing, middleware], async () => {
        calls += 1
        return { statusCode: 201, body: '' }
      })
      for (const _ of ['first', 'again']) await handler(httpEvent()).catch(() => undefined)
      expect(calls).toBe(1)
      expect(store.records().map(({ status }) => status)).toEqual([place === 'inside' ? 'FAILED' : 'COMPLETED'])
    },
  )

  test('A replay skipped the after hooks and had no CORS headers: registered first, it is the final answer', async () => {
    const { middleware } = setUp()
    const handler = chained([middleware, httpCors({ origin: 'https://shop.example' })], async () => ({
      statusCode: 201,
      body: '{}',
    }))
    const first = await handler(restEvent())
    const replay = await handler(restEvent())
    expect(headerOf(replay, 'Access-Control-Allow-Origin')).toBe('https://shop.example')
    const { 'Access-Control-Expose-Headers': _, ...headers } = unmarked(replay).headers ?? {}
    expect({ ...replay, headers }).toEqual(first)
  })

  test('A replay inside the chain was made into text twice by the serializer: it gets the value it got the first time', async () => {
    const { options } = setUp({ anonymous: true })
    const serializer = httpResponseSerializer({
      serializers: [{ regex: /json/, serializer: ({ body }) => JSON.stringify(body) }],
      defaultContentType: 'application/json',
    })
    const handler = chained([serializer], idempotent(options, () => ({ statusCode: 201, body: { id: 1 } })) as never)
    const first = await handler(restEvent())
    expect(first.body).toBe('{"id":1}')
    expect(unmarked(await handler(restEvent()))).toEqual(first)
  })

  test('Another middleware for partial failures took the ready answer for a failure of everything: it is named in an error', async () => {
    const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })
    const logged: unknown[] = []
    const theirs = {
      after: (request: middy7.Request) => {
        try {
          void request.response[0]
        } catch (error) {
          logged.push(error)
        }
      },
    }
    const handler = middy7()
      .use([theirs, idempotentBatch({ idempotency })] as middy7.MiddlewareObj[])
      .handler(eachRecord(() => undefined) as never)
    await handler(event(message('1')) as never, invocation() as never)
    expect(String(logged)).toContain('@middy/sqs-partial-batch-failure')
  })

  test.each<[string, object]>([
    ['null headers', { headers: null, multiValueHeaders: null }],
    ['no headers', { headers: undefined, multiValueHeaders: undefined }],
    ['null body', { body: null }],
    ['no body', { body: undefined }],
    ['empty body', { body: '' }],
    ['base64 without a body', { body: null, isBase64Encoded: true }],
  ])('Requests without body, headers or media type crashed middlewares: they do not (%s)', async (_name, over) => {
    for (const make of Object.values(SOURCES)) {
      const { serve } = setUp({ anonymous: true })
      const answer = await serve(() => ({ statusCode: 201, body: '' }))({ ...make(), ...over })
      expect([201, 400]).toContain(answer.statusCode)
    }
  })

  test('A streamed response was stored as {} and the stream consumed: it is not stored, and its first caller can still read it', async () => {
    const { middleware, store } = setUp()
    const body = Readable.from(['a'])
    const answer = await chained([middleware], async () => ({ statusCode: 200, body }))(restEvent())
    expect(store.records()).toMatchObject([{ status: 'FAILED', outcome: { failure: { code: 'OUTCOME_UNSTORABLE' } } }])
    expect(answer.body).toBe(body)
    expect(await body.toArray()).toEqual(['a'])
  })

  test('A new minor version of Middy broke the types: the middleware is typed for 6 and 7', async () => {
    const { options } = setUp()
    const on7 = middy7<APIGatewayProxyEventV2, APIGatewayProxyResultV2>()
      .use(idempotentHttp(options))
      .handler(async (_event, { operation }) => ({ statusCode: 201, body: operation.key }))
    const on6 = middy6<APIGatewayProxyEvent>()
      .use(idempotentHttp(options))
      .handler(async (_event, { operation }) => ({ statusCode: 201, body: operation.key }))
    expect(await on7(httpEvent({ key: 'a' }), lambdaContext() as never)).toMatchObject({ body: 'a' })
    expect(await on6(restEvent({ key: 'b' }), lambdaContext() as never)).toMatchObject({ body: 'b' })
  })

  test.each(Object.entries(MIDDY))(
    'What one major version of Middy dropped was used on another: both are run against (%s)',
    async (_major, middy) => {
      const { middleware } = setUp()
      const handler = chained([middleware], async () => undefined, middy)
      expect(await handler(httpEvent())).toBeUndefined()
      expect(headerOf(await handler(httpEvent()), 'Idempotent-Replayed')).toBe('true')
    },
  )

  test('An ESM bundle died of a dynamic require: the bundle runs, with the SDK in it or outside', async () => {
    const folder = mkdtempSync(join(ROOT, 'node_modules', '.bundle-'))
    try {
      for (const external of [[], ['@aws-sdk/*']]) {
        const outfile = join(folder, `bundle-${external.length}.mjs`)
        await build({
          stdin: {
            contents: `
              import { createIdempotency } from './lib/index.ts'
              import { dynamoStore } from './lib/dynamodb/index.ts'
              import { idempotent } from './lib/http/index.ts'
              const idempotency = createIdempotency({ store: dynamoStore({ tableName: 't' }), namespace: 'n' })
              console.log(typeof idempotent({ idempotency }, () => 1))`,
            resolveDir: ROOT,
            loader: 'ts',
          },
          bundle: true,
          format: 'esm',
          platform: 'node',
          mainFields: ['module', 'main'],
          external,
          outfile,
          logLevel: 'silent',
        })
        expect(execFileSync(process.execPath, [outfile], { encoding: 'utf8' }).trim()).toBe('function')
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('Answers for a load balancer with multi-value headers had plain ones', async () => {
    const { serve } = setUp({ anonymous: true })
    const answer = await serve(() => ({ statusCode: 201 }))(albMultiEvent({ key: undefined }))
    expect(answer).toMatchObject({ statusCode: 400, multiValueHeaders: expect.any(Object) })
    expect(answer).not.toHaveProperty('headers')
  })
})
