import middy from '@middy/core'
import httpCors from '@middy/http-cors'
import httpErrorHandler from '@middy/http-error-handler'
import type { Context } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { type IdempotencyOptions, type Operation, OUTBOX_PREFIX, type Store, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { httpEvent, lambdaContext, restEvent, SOURCES } from './events.ts'
import { type Answered, headerOf, setUp } from './harness.ts'

type Handler = (event: unknown, context?: Context) => Promise<Answered>
type Work = (event: never, context: { readonly operation: Operation }) => unknown
type HttpOptions = Parameters<typeof setUp>[0]

const OK = { statusCode: 200, body: 'done' }
const FUNCTION = 'arn:aws:lambda:eu-central-1:111122223333:function:orders'

/** What @middy/http-response-serializer does: a response of the value, and its body as text. */
const serializer = {
  after: (request: middy.Request) => {
    request.response = { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: request.response }
    request.response.body = JSON.stringify(request.response.body)
  },
}

function world(work: Work, http: HttpOptions = {}, core: Partial<IdempotencyOptions> = {}, others: unknown[] = []) {
  const memory = memoryStore()
  const clock = fakeClock()
  let isDown = false
  const store: Store = {
    ...memory,
    async update(...args) {
      if (isDown && args[1].status === 'WAITING') throw new StoreError('The store is gone.', { retryable: true })
      return memory.update(...args)
    },
  }
  const setup = setUp(http, { store, clock, reconcilerShards: 1, reconcilerRecovers: true, ...core })
  const chained = middy()
    .use([setup.middleware, ...others] as middy.MiddlewareObj[])
    .handler(work as never) as unknown as Handler
  return {
    ...setup,
    memory,
    clock,
    takeDown: () => {
      isDown = true
    },
    handlers: {
      wrapper: setup.serve(work as never) as Handler,
      middleware: ((event, context = lambdaContext()) => chained(event, context)) as Handler,
    },
    record: () => memory.records()[0],
  }
}

const afterAMinute: Work = (_event, { operation }) =>
  operation.attempt === 1 ? operation.delay({ seconds: 60 }, 'settlement') : OK

describe.each(['wrapper', 'middleware'] as const)('a handler that suspends its operation, in the %s', (form) => {
  test.each(Object.entries(SOURCES))(
    'answers 202 with the time, and so do repetitions, from %s',
    async (source, event) => {
      const w = world(afterAMinute, source.startsWith('ALB') ? { scope: () => 'all' } : {})
      for (const leftSeconds of ['60', '50']) {
        const answer = await w.handlers[form](event())
        expect(answer.statusCode).toBe(202)
        expect(headerOf(answer, 'Retry-After')).toBe(leftSeconds)
        expect(headerOf(answer, 'Idempotent-Replayed')).toBeUndefined()
        expect(JSON.parse(answer.body)).toMatchObject({ status: 'waiting' })
        w.clock.advance(10_000)
      }
      w.clock.advance(50_000)
      expect(await w.handlers[form](event())).toMatchObject(OK)
      expect(w.record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
    },
  )

  test('until a signal comes answers 202 without a time, and goes on when it has come', async () => {
    const w = world(
      async (_event, { operation }) => {
        const [payload] = await operation.signals()
        return payload === undefined ? operation.wait() : { statusCode: 200, body: String(payload) }
      },
      { scope: () => 'all' },
    )
    const answer = await w.handlers[form](restEvent())
    expect(answer.statusCode).toBe(202)
    expect(headerOf(answer, 'Retry-After')).toBeUndefined()
    expect(await w.options.idempotency.signal({ key: 'key-1', scope: 'all' }, 'paid')).toBe('delivered')
    expect(await w.handlers[form](restEvent())).toMatchObject({ statusCode: 200, body: 'paid' })
  })

  test('lets onRefused change the answer', async () => {
    const w = world(afterAMinute, {
      onRefused: (answer) => ({ ...answer, headers: { ...answer.headers, 'Access-Control-Allow-Origin': '*' } }),
    })
    for (const _ of [1, 2]) {
      const answer = await w.handlers[form](restEvent())
      expect(answer.statusCode).toBe(202)
      expect(headerOf(answer, 'Access-Control-Allow-Origin')).toBe('*')
    }
  })

  test('and cannot be written as suspended is in progress, and the suspension is never the response', async () => {
    const w = world(afterAMinute)
    w.takeDown()
    const answer = await w.handlers[form](httpEvent(), lambdaContext(2_000))
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toContain('in-progress')
    expect(headerOf(answer, 'Retry-After')).toBe('1')
    expect(w.record()?.status).toBe('IN_PROGRESS')
  })

  test('which nobody would continue is an error', async () => {
    const w = world(afterAMinute, {}, { reconcilerShards: 0 })
    await expect(w.handlers[form](restEvent())).rejects.toThrow(/need somebody to continue/)
  })

  test('by a relay that can only invoke at once may wait, and not delay', async () => {
    const core = { reconcilerShards: 0, relay: true }
    const delaying = world(afterAMinute, { redrive: { functionName: FUNCTION } }, core)
    await expect(delaying.handlers[form](restEvent())).rejects.toThrow(/need somebody to continue/)
    const waiting = world((_event, { operation }) => operation.wait(), { redrive: { functionName: FUNCTION } }, core)
    expect((await waiting.handlers[form](restEvent())).statusCode).toBe(202)
  })

  test('without a key, where it is optional, is told why it cannot', async () => {
    const w = world(afterAMinute, { key: 'optional' })
    await expect(w.handlers[form](restEvent({ key: undefined }))).rejects.toThrow(/operation.delay needs a claim/)
  })
})

describe('middlewares that make a response of what the handler returned', () => {
  test.each<[string, unknown[]]>([
    ['http-cors', [httpCors({ origin: '*' })]],
    ['a response serializer', [serializer]],
    ['both, and an error handler', [httpErrorHandler({ logger: false }), httpCors({ origin: '*' }), serializer]],
  ])('do not hide the suspension: %s', async (_name, others) => {
    const w = world(afterAMinute, {}, {}, others)
    const first = await w.handlers.middleware(restEvent())
    expect(first.statusCode).toBe(202)
    expect(headerOf(first, 'Retry-After')).toBe('60')
    expect(w.record()?.status).toBe('WAITING')
    w.clock.advance(60_000)
    expect((await w.handlers.middleware(restEvent())).statusCode).toBe(200)
  })
})

describe('redrive', () => {
  test('stores the event with the claim, so that it can be delivered again', async () => {
    const w = world(() => OK, { redrive: { functionName: FUNCTION } })
    await w.handlers.wrapper(restEvent())
    expect(w.record()?.redrive).toMatchObject({ target: { functionName: FUNCTION } })
  })

  test('is not stored without the option', async () => {
    const w = world(() => OK)
    await w.handlers.wrapper(restEvent())
    expect(w.record()).not.toHaveProperty('redrive')
  })

  test('has a signal invoke the function with the stored event', async () => {
    const w = world(
      async (_event, { operation }) => ((await operation.signals()).length === 0 ? operation.wait() : OK),
      { redrive: { functionName: FUNCTION }, scope: () => 'all' },
      { relay: true },
    )
    const event = restEvent()
    await w.handlers.wrapper(event)
    await w.options.idempotency.signal({ key: 'key-1', scope: 'all' }, 'paid')
    const [item] = await w.memory.listBeside(w.record()?.id ?? '', OUTBOX_PREFIX)
    expect(item?.attributes).toMatchObject({ to: { functionName: FUNCTION }, state: 'pending' })
    expect(await w.handlers.wrapper(JSON.parse(JSON.stringify(event)))).toMatchObject(OK)
  })

  test.each([
    ['a text', FUNCTION],
    ['no name', {}],
    ['an empty name', { functionName: '' }],
    ['a queue', { queueUrl: 'x' }],
  ])('is refused at set-up with %s', (_name, redrive) => {
    expect(() => setUp({ redrive } as never).serve(() => OK)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})

test('an after hook that cannot make a response of a suspension changes nothing: the client is told to come again', async () => {
  const broken = {
    after: () => {
      throw new TypeError('response.headers is undefined')
    },
  }
  const w = world(afterAMinute, {}, {}, [broken])
  expect(await w.handlers.middleware(httpEvent())).toMatchObject({ statusCode: 202 })
  expect(w.record()).toMatchObject({ status: 'WAITING' })
  w.clock.advance(60_000)
  expect(w.record()).toMatchObject({ status: 'WAITING', attempt: 1 })
})

describe('an event that is stored to be delivered again', () => {
  test.each(Object.entries(SOURCES))('from %s has no credentials in it, and everything else', async (_name, build) => {
    const w = world(afterAMinute, { redrive: { functionName: FUNCTION }, scope: () => 'tenant' })
    const event = build({
      headers: { Authorization: 'Bearer secret-token', Cookie: 'session=secret', 'X-Kept': 'kept' },
    })
    await w.handlers.wrapper(event)
    const stored = JSON.stringify(w.record()?.redrive)
    expect(stored).not.toContain('secret')
    expect(stored).toContain('kept')
    expect(JSON.stringify(event)).toContain('secret-token')
  })
})

test('a large event is stored once, when the claim is won: neither repetitions nor the suspension store it again', async () => {
  const memory = memoryStore()
  const calls: string[] = []
  const store: Store = {
    ...memory,
    putParts: (parts) => {
      calls.push('putParts')
      return memory.putParts(parts)
    },
  }
  const clock = fakeClock()
  const { serve } = setUp({ redrive: { functionName: FUNCTION } }, { store, clock, reconcilerShards: 1 })
  const handler = serve(afterAMinute as never) as Handler
  const noise = Array.from({ length: 4_000 }, (_, n) => Math.sin(n)).join()
  for (let delivery = 0; delivery < 5; delivery++) await handler(httpEvent({ body: noise }))
  expect(calls).toEqual(['putParts'])
  expect(memory.records()[0]?.redrive).toMatchObject({ target: { functionName: FUNCTION } })
})
