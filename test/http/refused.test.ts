import middy from '@middy/core'
import httpCors from '@middy/http-cors'
import type { Context } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import type { HttpAnswer, IdempotentHttpOptions } from '../../lib/http/index.ts'
import type { Operation } from '../../lib/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { httpEvent, lambdaContext, restEvent, SOURCES } from './events.ts'
import { type Answered, deferred, headerOf, setUp, unmarked } from './harness.ts'

type Handler = (event: unknown, context: Context) => Promise<Answered>
type OnRefused = NonNullable<IdempotentHttpOptions['onRefused']>

const origin = 'https://shop.example'
const withCors: OnRefused = (answer) => ({
  ...answer,
  headers: { ...answer.headers, 'Access-Control-Allow-Origin': origin },
})
const created = () => ({ statusCode: 201, body: 'first' })

describe('every answer that refuses a request gets the headers, in a chain with CORS', () => {
  function corsChain(core: Parameters<typeof setUp>[1] = {}, fn: (...args: never[]) => unknown = created) {
    const setup = setUp({ onRefused: withCors }, core)
    const handler = middy()
      .use([setup.middleware, httpCors({ origin })] as middy.MiddlewareObj[])
      .handler(fn as never) as unknown as Handler
    return { ...setup, post: (event: unknown) => handler(event, lambdaContext()) }
  }
  const expectCors = (answer: Answered, status: number) => {
    expect(answer.statusCode).toBe(status)
    expect(headerOf(answer, 'access-control-allow-origin')).toBe(origin)
    expect(headerOf(answer, 'content-type')).toBe('application/problem+json')
  }

  test('400 without a key, with a malformed and with an overlong one', async () => {
    const { post, store } = corsChain()
    for (const key of [undefined, '"open', 'k'.repeat(256)]) expectCors(await post(restEvent({ key })), 400)
    expect(store.calls).toEqual([])
  })

  test('422 for another request', async () => {
    const { post } = corsChain()
    await post(restEvent())
    expectCors(await post(restEvent({ body: '{}' })), 422)
  })

  test('409 while it runs', async () => {
    const gate = deferred()
    const entered = deferred()
    const { post } = corsChain({}, async () => {
      entered.resolve()
      await gate.promise
      return created()
    })
    const first = post(restEvent())
    await entered.promise
    const refused = await post(restEvent())
    expectCors(refused, 409)
    expect(Number(headerOf(refused, 'retry-after'))).toBeGreaterThan(0)
    gate.resolve()
    await first
  })

  test('503 without a store', async () => {
    const { post, store } = corsChain()
    store.down = true
    expectCors(await post(restEvent()), 503)
  })

  test('409 in place of the handler’s own answer, when the outcome is unknown or the lease was lost', async () => {
    const unknown = corsChain({}, (_event: never, { operation }: { operation: Operation }) =>
      operation.step(
        'charge',
        () => {
          throw new Error('connection reset')
        },
        { onUnknown: 'stop' },
      ),
    )
    await expect(unknown.post(restEvent())).rejects.toThrow()
    expectCors(await unknown.post(restEvent()), 409)

    const clock = fakeClock()
    const gates = [deferred(), deferred()]
    const entered = [deferred(), deferred()]
    let runs = 0
    const lost = corsChain({ clock, leaseSeconds: 10 }, async () => {
      const run = runs++
      entered[run]!.resolve()
      await gates[run]!.promise
      return created()
    })
    const late = lost.post(restEvent())
    await entered[0]!.promise
    clock.advance(12_000)
    const winner = lost.post(restEvent())
    await entered[1]!.promise
    gates[0]!.resolve()
    expectCors(await late, 409)
    gates[1]!.resolve()
    expect((await winner).statusCode).toBe(201)
  })

  test('but replays are left as they are', async () => {
    const seen: HttpAnswer[] = []
    const { serve } = setUp({
      onRefused: (answer) => {
        seen.push(answer)
        return answer
      },
    })
    const handler = serve(created)
    const first = await handler(httpEvent())
    expect(unmarked(await handler(httpEvent()))).toMatchObject(first)
    expect(seen).toEqual([])
  })
})

describe.each(Object.entries(SOURCES))('%s', (source, make) => {
  test('headers can be added by one function for every source', async () => {
    const { serve } = setUp({ anonymous: true, onRefused: withCors })
    const answer = await serve(() => expect.unreachable())(make({ key: undefined }))
    expect(answer.statusCode).toBe(400)
    expect(headerOf(answer, 'access-control-allow-origin')).toBe(origin)
    expect(Object.keys(answer)).not.toContain(source === 'ALB, multi-value' ? 'headers' : 'multiValueHeaders')
  })
})

test('another error format, made of the event, and later', async () => {
  const { serve } = setUp({
    onRefused: async (answer: HttpAnswer, event: ReturnType<typeof httpEvent>) => ({
      ...answer,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ error: JSON.parse(answer.body).title, path: event.rawPath }),
    }),
  })
  const answer = await serve(() => expect.unreachable())(httpEvent({ key: undefined }))
  expect(answer.statusCode).toBe(400)
  expect(JSON.parse(answer.body)).toEqual({ error: 'The request has no idempotency key.', path: '/orders' })
})

describe('a function that goes wrong does not change the decision: the answer is given as it was', () => {
  test.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('x')
      },
    ],
    ['rejects', () => Promise.reject(new Error('x'))],
    [
      'changes the answer and throws',
      (answer: HttpAnswer) => {
        answer.statusCode = 200
        throw new Error('x')
      },
    ],
    ['forgets to return', () => undefined],
    ['gives a text', () => 'refused'],
    ['gives a body alone', () => ({ body: '' })],
    ['gives a status that is none', () => ({ statusCode: 99, body: '' })],
  ])('that %s', async (_, onRefused) => {
    const expected = await setUp().serve(() => expect.unreachable())(httpEvent({ key: undefined }))
    const { serve, events } = setUp({ onRefused: onRefused as OnRefused })
    expect(await serve(() => expect.unreachable())(httpEvent({ key: undefined }))).toEqual(expected)
    expect(events).toMatchObject([{ type: 'hook-failed', hook: 'onRefused', operationId: '' }])
  })

  test('and is reported under its operation, where there is one', async () => {
    const { serve, events, store } = setUp({ onRefused: () => Promise.reject(new Error('x')) })
    await serve(created)(httpEvent())
    expect((await serve(created)(httpEvent({ body: '{}' }))).statusCode).toBe(422)
    expect(events.at(-1)).toMatchObject({ type: 'hook-failed', operationId: store.records()[0]?.id })
  })
})
