import middy from '@middy/core'
import httpCors from '@middy/http-cors'
import httpErrorHandler from '@middy/http-error-handler'
import httpJsonBodyParser from '@middy/http-json-body-parser'
import validator from '@middy/validator'
import type { Context } from 'aws-lambda'
import { describe, expect, test, vi } from 'vitest'
import { idempotentHttp } from '../../lib/http/index.ts'
import { InvalidOptionError, type Operation, RetryLater } from '../../lib/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { httpEvent, lambdaContext, restEvent } from './events.ts'
import { type Answered, deferred, headerOf, type Setup, setUp, unmarked } from './harness.ts'

type Handler = (event: unknown, context: Context) => Promise<Answered>
type Middleware = middy.MiddlewareObj

/** A chain with ours first, as the docs say. */
function chain(setup: Setup, others: readonly unknown[], fn: (event: never, context: never) => unknown): Handler {
  return middy()
    .use([setup.middleware, ...others] as Middleware[])
    .handler(fn as never) as unknown as Handler
}

const quiet = () => httpErrorHandler({ logger: false })
const created = () => ({ statusCode: 201, headers: { 'Content-Type': 'application/json' }, body: '{"id":1}' })
const isPositive = (event: { body: { quantity?: number } }) => (event.body.quantity ?? 0) > 0
const schema = (check: (event: never) => boolean) => Object.assign(check, { errors: [] }) as never

describe('registered first', () => {
  test('a replay is the final wire response, after every other after hook', async () => {
    const setup = setUp()
    let runs = 0
    const handler = chain(
      setup,
      [
        httpCors({ origin: 'https://shop.example' }),
        { after: (r: middy.Request) => void Object.assign(r.response.headers, { 'X-Late': 'yes' }) },
      ],
      () => {
        runs += 1
        return created()
      },
    )
    const first = await handler(restEvent(), lambdaContext())
    const replay = await handler(restEvent(), lambdaContext())
    expect(first.headers).toMatchObject({ 'Access-Control-Allow-Origin': 'https://shop.example', 'X-Late': 'yes' })
    expect(headerOf(replay, 'Access-Control-Expose-Headers')).toBe('Idempotent-Replayed')
    const { 'Access-Control-Expose-Headers': _, ...headers } = unmarked(replay).headers ?? {}
    expect({ ...replay, headers }).toEqual(first)
    expect(runs).toBe(1)
  })

  test('key and fingerprint come before a body parser changes the event', async () => {
    const setup = setUp()
    const bodies: unknown[] = []
    const handler = chain(setup, [httpJsonBodyParser()], (event: { body: unknown; headers?: object }) => {
      bodies.push(event.body)
      event.body = 'changed'
      delete event.headers
      return created()
    })
    await handler(httpEvent({ body: '{"a":1,"b":2}' }), lambdaContext())
    const replay = await handler(httpEvent({ body: '{"b":2,"a":1}' }), lambdaContext())
    expect(replay.statusCode).toBe(201)
    expect(bodies).toEqual([{ a: 1, b: 2 }])
    expect(setup.store.records()).toMatchObject([{ status: 'COMPLETED' }])
  })

  test('what a validator or a parser refuses releases the key: a corrected retry works', async () => {
    const setup = setUp()
    let runs = 0
    const handler = chain(
      setup,
      [quiet(), httpJsonBodyParser(), validator({ eventSchema: schema(isPositive as never) })],
      () => {
        runs += 1
        return created()
      },
    )
    expect((await handler(httpEvent({ body: '{' }), lambdaContext())).statusCode).toBe(422)
    expect(setup.store.records()).toMatchObject([{ status: 'RELEASED' }])
    expect((await handler(httpEvent({ body: '{"quantity":0}' }), lambdaContext())).statusCode).toBe(400)
    expect((await handler(httpEvent({ body: '{"quantity":2}' }), lambdaContext())).statusCode).toBe(201)
    expect(runs).toBe(1)
  })

  test('without an error handler, such a refusal is answered with its status', async () => {
    const handler = chain(setUp(), [httpJsonBodyParser()], created)
    const answer = await handler(httpEvent({ body: '{' }), lambdaContext())
    expect(answer.statusCode).toBe(422)
    expect(headerOf(answer, 'content-type')).toBe('application/problem+json')
  })

  test('the operation is in the context, whose own fields stay', async () => {
    const seen: { operation: { key: string }; functionName: string; callbackWaitsForEmptyEventLoop: boolean }[] = []
    let waits = true
    const context = lambdaContext()
    Object.defineProperty(context, 'callbackWaitsForEmptyEventLoop', {
      get: () => waits,
      set: (value: boolean) => {
        waits = value
      },
      enumerable: true,
      configurable: true,
    })
    const handler = chain(setUp(), [], (_event, context: (typeof seen)[number]) => {
      context.callbackWaitsForEmptyEventLoop = false
      seen.push(context)
      return created()
    })
    await handler(httpEvent({ key: 'k-9' }), context)
    expect(seen[0]).toMatchObject({ operation: { key: 'k-9', attempt: 1 }, functionName: 'orders' })
    expect({ ...seen[0] }).toHaveProperty('operation')
    expect(waits).toBe(false)
    expect(context).not.toHaveProperty('operation')
  })
})

describe('a handler that failed', () => {
  test('keeps the final wire response that the error middlewares made', async () => {
    const setup = setUp()
    let runs = 0
    const handler = chain(setup, [httpCors({ origin: '*' }), quiet()], () => {
      runs += 1
      throw Object.assign(new Error('No such product'), { statusCode: 404 })
    })
    const first = await handler(restEvent(), lambdaContext())
    const replay = await handler(restEvent(), lambdaContext())
    expect(first).toMatchObject({ statusCode: 404, body: 'No such product' })
    expect(replay).toMatchObject({ statusCode: 404, body: 'No such product' })
    expect(headerOf(replay, 'Access-Control-Allow-Origin')).toBe('*')
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true')
    expect(runs).toBe(1)
  })

  test('with an answer that may not be stored is stored without one', async () => {
    const setup = setUp({ onStripped: 'refuse' })
    const withCookie = {
      onError: (r: middy.Request) =>
        void Object.assign(r, { response: { statusCode: 418, cookies: ['a=1'], body: 'x' } }),
    }
    const handler = chain(setup, [withCookie], () => {
      throw new Error('secret')
    })
    expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(418)
    expect(await handler(httpEvent(), lambdaContext())).toMatchObject({ statusCode: 500 })
    expect(setup.store.records()).toMatchObject([{ status: 'FAILED' }])
  })

  test('that nobody answers stays an error for Lambda to see; its replay is a general 500', async () => {
    const setup = setUp()
    const handler = chain(setup, [], () => {
      throw new TypeError('secret')
    })
    await expect(handler(restEvent(), lambdaContext())).rejects.toThrow('secret')
    const replay = await handler(restEvent(), lambdaContext())
    expect(replay.statusCode).toBe(500)
    expect(replay.body).not.toContain('secret')
    expect(setup.store.records()).toMatchObject([{ status: 'FAILED', attempt: 1 }])
  })

  test('with an error that says its status gets it, with no error handler, first and in the replay', async () => {
    const handler = chain(setUp(), [], () => {
      throw Object.assign(new Error('Sold out'), { statusCode: 410, headers: { 'X-Why': 'stock' } })
    })
    const first = await handler(restEvent(), lambdaContext())
    expect(first).toMatchObject({ statusCode: 410, headers: { 'X-Why': 'stock' } })
    expect(JSON.parse(first.body)).toEqual({ type: 'about:blank', title: 'Gone', status: 410, detail: 'Sold out' })
    expect(unmarked(await handler(restEvent(), lambdaContext()))).toEqual(first)
  })

  test.each([
    ['a 5xx that is not exposed', { statusCode: 503 }],
    ['an error that says not to expose it', { statusCode: 404, expose: false }],
  ])('with %s shows nothing', async (_, fields) => {
    const handler = chain(setUp(), [], () => {
      throw Object.assign(new Error('secret'), fields)
    })
    await expect(handler(restEvent(), lambdaContext())).rejects.toThrow('secret')
    const replay = await handler(restEvent(), lambdaContext())
    expect(replay.statusCode).toBe(500)
    expect(replay.body).not.toContain('secret')
  })

  test('with RetryLater: 503, Retry-After, and the next request runs; through http-error-handler too', async () => {
    for (const others of [[], [httpCors({ origin: '*' }), quiet()]]) {
      const setup = setUp()
      let runs = 0
      const handler = chain(setup, others, () => {
        runs += 1
        if (runs === 1) throw new RetryLater()
        return created()
      })
      const first = await handler(restEvent(), lambdaContext())
      expect(first.statusCode).toBe(503)
      expect(Number(headerOf(first, 'retry-after'))).toBeGreaterThanOrEqual(1)
      expect(JSON.parse(first.body).type).toMatch(/try-again$/)
      if (others.length > 0) expect(headerOf(first, 'Access-Control-Allow-Origin')).toBe('*')
      expect((await handler(restEvent(), lambdaContext())).statusCode).toBe(201)
      expect(setup.store.records()).toMatchObject([{ status: 'COMPLETED', attempt: 2 }])
    }
  })

  test('with RetryLater that an error middleware answers its own way: theirs', async () => {
    const handler = chain(
      setUp(),
      [
        {
          onError: (r: middy.Request) =>
            void Object.assign(r, { response: { statusCode: 429, headers: {}, body: 'slow down' } }),
        },
      ],
      () => {
        throw new RetryLater()
      },
    )
    expect(await handler(restEvent(), lambdaContext())).toEqual({ statusCode: 429, headers: {}, body: 'slow down' })
  })
})

describe('a middleware that fails after the handler has returned', () => {
  test('never releases the key: the failure is stored', async () => {
    const setup = setUp()
    let runs = 0
    const handler = chain(
      setup,
      [
        {
          after: () => {
            throw new Error('serializer broke')
          },
        },
      ],
      () => {
        runs += 1
        return created()
      },
    )
    await expect(handler(httpEvent(), lambdaContext())).rejects.toThrow('serializer broke')
    expect(setup.store.records()).toMatchObject([{ status: 'FAILED' }])
    expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(500)
    expect(runs).toBe(1)
  })

  test('not even with a 4xx of Middy’s own packages, which before the handler means "not entered"', async () => {
    const setup = setUp()
    const handler = chain(
      setup,
      [
        {
          after: () => {
            throw Object.assign(new Error('Not Acceptable', { cause: { package: '@middy/http-x' } }), {
              statusCode: 406,
            })
          },
        },
      ],
      created,
    )
    await handler(httpEvent(), lambdaContext()).catch(() => undefined)
    expect(setup.store.records()).toMatchObject([{ status: 'FAILED' }])
  })

  test('as a validator of responses does', async () => {
    const setup = setUp()
    const handler = chain(setup, [quiet(), validator({ responseSchema: schema(() => false) })], created)
    expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(500)
    expect(setup.store.records()).toMatchObject([{ status: 'FAILED' }])
  })

  test('and a failure of one outside of ours leaves the completed record alone', async () => {
    const setup = setUp()
    const handler = middy()
      .use({
        after: () => {
          throw new Error('outer')
        },
      })
      .use(setup.middleware as Middleware)
      .handler(created as never) as unknown as Handler
    await expect(handler(httpEvent(), lambdaContext())).rejects.toThrow('outer')
    const replay = await handler(httpEvent(), lambdaContext())
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true')
    expect(setup.store.records()).toMatchObject([{ status: 'COMPLETED' }])
  })
})

describe('errors that are not ours', () => {
  test('one of a middleware before ours passes untouched, and nothing is claimed', async () => {
    const setup = setUp()
    const handler = middy()
      .use({
        before: () => {
          throw new Error('outer')
        },
      })
      .use(setup.middleware as Middleware)
      .handler(created as never) as unknown as Handler
    await expect(handler(httpEvent(), lambdaContext())).rejects.toThrow('outer')
    expect(setup.store.calls).toEqual([])
  })

  test('a refused duplicate touches neither a running nor a completed original', async () => {
    const setup = setUp()
    const gate = deferred()
    const entered = deferred()
    const handler = chain(setup, [quiet()], async () => {
      entered.resolve()
      await gate.promise
      return created()
    })
    const first = handler(httpEvent(), lambdaContext())
    await entered.promise
    const running = setup.store.records()
    for (let i = 0; i < 3; i++) expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(409)
    expect((await handler(httpEvent({ body: '{}' }), lambdaContext())).statusCode).toBe(422)
    expect(setup.store.records()).toEqual(running)
    gate.resolve()
    await first
    const completed = setup.store.records()
    expect((await handler(httpEvent({ body: '{}' }), lambdaContext())).statusCode).toBe(422)
    expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(201)
    expect(setup.store.records()).toEqual(completed)
  })

  test('a configuration error is thrown for the developer, and tells a client nothing', async () => {
    const logged: unknown[] = []
    const setup = setUp()
    const bare = chain(setup, [], created)
    await expect(bare(httpEvent({ sub: null }), lambdaContext())).rejects.toThrow(InvalidOptionError)
    const handled = chain(setup, [httpErrorHandler({ logger: (error: unknown) => logged.push(error) })], created)
    const answer = await handled(httpEvent({ sub: null }), lambdaContext())
    expect(answer.statusCode).toBe(500)
    expect(JSON.stringify(answer)).not.toMatch(/scope|principal|anonymous/)
    expect(logged).toEqual([expect.any(InvalidOptionError)])
  })
})

describe('Middy’s early timeout', () => {
  const nearTheEnd = () => lambdaContext(30)

  test.each([
    ['alone', []],
    ['through http-error-handler', [quiet()]],
  ])('%s: 504, and the key stays in progress while the handler still runs', async (_, others) => {
    const setup = setUp()
    const gate = deferred()
    let runs = 0
    const handler = chain(setup, others, async () => {
      runs += 1
      await gate.promise
      return created()
    })
    const answer = await handler(httpEvent(), nearTheEnd())
    expect(answer.statusCode).toBe(504)
    expect(Number(headerOf(answer, 'retry-after'))).toBeGreaterThanOrEqual(1)
    expect(JSON.parse(answer.body).type).toMatch(/timeout$/)
    expect(setup.store.records()).toMatchObject([{ status: 'IN_PROGRESS', attempt: 1 }])
    expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(409)
    expect(runs).toBe(1)
    gate.resolve()
  })

  describe.each([10, 2_000, 29_000])('%i ms before the end, answered by timeoutEarlyResponse', (early) => {
    const timedOut = (statusCode: number) =>
      middy({ timeoutEarlyInMillis: early, timeoutEarlyResponse: () => ({ statusCode, body: 'late' }) })

    test.each([408, 502, 503, 504])('with %i: the key is not released while the handler still runs', async (status) => {
      const setup = setUp()
      const gate = deferred()
      const handler = timedOut(status)
        .use(setup.middleware as Middleware)
        .handler(() => gate.promise as never) as unknown as Handler
      expect((await handler(httpEvent(), lambdaContext(early + 10))).body).toBe('late')
      expect(setup.store.records()).toMatchObject([{ status: 'IN_PROGRESS' }])
      gate.resolve()
    })

    test('with a status that storeResponse refuses: nor then', async () => {
      const setup = setUp({ storeResponse: () => false })
      const gate = deferred()
      const handler = timedOut(202)
        .use(setup.middleware as Middleware)
        .handler(() => gate.promise as never) as unknown as Handler
      expect((await handler(httpEvent(), lambdaContext(early + 10))).body).toBe('late')
      expect(setup.store.records()).toMatchObject([{ status: 'IN_PROGRESS' }])
      gate.resolve()
    })

    test('in a wrapper around Middy: nor there', async () => {
      const setup = setUp()
      const gate = deferred()
      const handler = setup.serve(timedOut(504).handler(() => gate.promise as never) as never)
      expect((await handler(httpEvent(), lambdaContext(early + 10))).body).toBe('late')
      expect(setup.store.records()).toMatchObject([{ status: 'IN_PROGRESS' }])
      gate.resolve()
    })

    test('around the wrapper: it runs on, and what it returns is stored', async () => {
      const setup = setUp()
      const gate = deferred()
      const inner = setup.serve(async () => {
        await gate.promise
        return created()
      })
      const handler = timedOut(504).handler(inner as never) as unknown as Handler
      expect((await handler(httpEvent(), lambdaContext(early + 10))).body).toBe('late')
      gate.resolve()
      await vi.waitFor(() => expect(setup.store.records()).toMatchObject([{ status: 'COMPLETED' }]))
    })
  })
})

describe('a handler that says "come again" itself', () => {
  test.each([503, 504])('with %i keeps the key to the end of the lease, as a time-out does', async (statusCode) => {
    const clock = fakeClock()
    const setup = setUp({}, { clock })
    let runs = 0
    const handler = chain(setup, [], () => {
      runs += 1
      return runs === 1 ? { statusCode, body: 'later' } : created()
    })
    expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(statusCode)
    expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(409)
    clock.advance((setup.store.records()[0]?.leaseUntil ?? 0) - clock.now() + 60_000)
    expect(setup.store.records()).toMatchObject([{ status: 'IN_PROGRESS' }])
    expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(201)
    expect(runs).toBe(2)
  })

  test.each([401, 403, 425, 429])('with %i, which is no time-out’s, releases it', async (statusCode) => {
    const setup = setUp()
    const handler = chain(setup, [], () => ({ statusCode, body: 'later' }))
    await handler(httpEvent(), lambdaContext())
    expect(setup.store.records()).toMatchObject([{ status: 'RELEASED' }])
  })

  test('inside the wrapper, whose end is certain, releases it close to the deadline, too', async () => {
    const setup = setUp()
    await setup.serve(() => ({ statusCode: 503, body: 'later' }))(httpEvent(), lambdaContext(500))
    expect(setup.store.records()).toMatchObject([{ status: 'RELEASED' }])
  })
})

test('a handler that returns nothing, on a source that allows it, is not run again', async () => {
  const setup = setUp()
  let runs = 0
  const handler = chain(setup, [], async () => {
    runs += 1
  })
  expect(await handler(httpEvent(), lambdaContext())).toBeUndefined()
  expect(await handler(httpEvent(), lambdaContext())).toMatchObject({ statusCode: 200, body: 'null' })
  expect(runs).toBe(1)
})

test('requests that need no protection pass, and get an operation of their own', async () => {
  const setup = setUp()
  const handler = chain(setup, [], (_event, { operation }: { operation: Operation }) =>
    operation.step('count', () => ({ statusCode: 200, body: 'ok' })),
  )
  expect(await handler(httpEvent({ method: 'GET', sub: null }), lambdaContext())).toEqual({
    statusCode: 200,
    body: 'ok',
  })
  expect(setup.store.calls).toEqual([])
})

test('two of them in one chain, for two kinds of key, do not disturb each other', async () => {
  const { options, store } = setUp()
  const outer = idempotentHttp({ ...options, header: 'X-Outer', key: 'optional' })
  const handler = middy()
    .use([outer, idempotentHttp(options)] as Middleware[])
    .use(quiet() as Middleware)
    .handler((() => {
      throw new RetryLater()
    }) as never) as unknown as Handler
  const answer = await handler(httpEvent({ key: 'a', headers: { 'x-outer': 'b' } }), lambdaContext())
  expect(answer.statusCode).toBe(503)
  expect(store.records().map(({ status }) => status)).toEqual(['RETRYABLE', 'RETRYABLE'])
})
