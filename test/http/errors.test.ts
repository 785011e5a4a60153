import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { idempotent } from '../../lib/http/index.ts'
import {
  createIdempotency,
  type Disposition,
  InvalidOptionError,
  LeaseLostError,
  NoEffectError,
  type Operation,
  PermanentError,
  RetryLater,
  StepNotAwaitedError,
} from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { httpEvent, lambdaContext, restEvent } from './events.ts'
import { deferred, headerOf, setUp } from './harness.ts'

const throwing = (error: unknown) => () => {
  throw error
}

describe('what a thrown error means', () => {
  test.each<[string, unknown, string]>([
    ['any error', new Error('x'), 'FAILED'],
    ['a 4xx', Object.assign(new Error('x'), { statusCode: 409 }), 'FAILED'],
    ['a value that is no error', 'x', 'FAILED'],
    ['nothing at all', undefined, 'FAILED'],
    ['PermanentError', new PermanentError('x'), 'FAILED'],
    ['NoEffectError', new NoEffectError(), 'RELEASED'],
    [
      'a refusal of Middy’s own',
      Object.assign(new Error('x', { cause: { package: '@middy/validator' } }), { statusCode: 400 }),
      'RELEASED',
    ],
    [
      'Middy’s early timeout',
      Object.assign(new Error('x', { cause: { package: '@middy/core' } }), { name: 'TimeoutError' }),
      'IN_PROGRESS',
    ],
  ])('%s', async (_, error, status) => {
    const { serve, store } = setUp()
    await serve(throwing(error))(httpEvent()).catch(() => undefined)
    expect(store.records()).toMatchObject([{ status }])
  })

  test('the wrapper throws on what the handler threw, for error middlewares around it', async () => {
    for (const error of [new Error('x'), new NoEffectError(), Object.assign(new Error('x'), { statusCode: 404 })]) {
      await expect(setUp().serve(throwing(error))(httpEvent())).rejects.toBe(error)
    }
  })

  test('RetryLater is a 503 with Retry-After; the next request runs', async () => {
    const { serve, store } = setUp()
    const answer = await serve(throwing(new RetryLater()))(restEvent())
    expect(answer.statusCode).toBe(503)
    expect(headerOf(answer, 'retry-after')).toBe('1')
    expect(store.records()).toMatchObject([{ status: 'RETRYABLE' }])
    expect((await serve(() => ({ statusCode: 200, body: '' }))(restEvent())).statusCode).toBe(200)
  })

  test('effects in steps only: any error resumes, and the step is not run again', async () => {
    const { serve, store } = setUp({}, { effects: 'steps-only' })
    let charges = 0
    let fails = true
    const handler = serve(
      async (_event, { operation }: { operation: { step: (name: string, work: () => number) => Promise<number> } }) => {
        const charge = await operation.step('charge', () => ++charges)
        if (fails) throw new Error('x')
        return { statusCode: 200, body: String(charge) }
      },
    )
    await expect(handler(httpEvent())).rejects.toThrow('x')
    expect(store.records()).toMatchObject([{ status: 'RETRYABLE' }])
    fails = false
    expect((await handler(httpEvent())).body).toBe('1')
    expect(charges).toBe(1)
  })

  test.each<[Disposition, string]>([
    ['release', 'RELEASED'],
    ['resume', 'RETRYABLE'],
    ['fail', 'FAILED'],
    ['keep', 'IN_PROGRESS'],
  ])('onError may say %s', async (disposition, status) => {
    const { serve, store } = setUp({}, { onError: () => disposition })
    await serve(throwing(new Error('x')))(httpEvent()).catch(() => undefined)
    expect(store.records()).toMatchObject([{ status }])
  })

  test('a step that was not awaited is an error, not a completion', async () => {
    const { serve, store } = setUp()
    const gate = deferred<string>()
    const handler = serve(
      (
        _event,
        { operation }: { operation: { step: (name: string, work: () => Promise<string>) => Promise<string> } },
      ) => {
        void operation.step('slow', () => gate.promise).catch(() => undefined)
        setTimeout(gate.resolve, 1, 'x')
        return { statusCode: 200, body: '' }
      },
    )
    await expect(handler(httpEvent())).rejects.toThrow(StepNotAwaitedError)
    expect(store.records()).toMatchObject([{ status: 'FAILED' }])
  })

  test('a step that may not run twice and whose effect nobody knows: 409 of its own kind, for every repetition', async () => {
    const { serve, store } = setUp()
    const handler = serve((_event, { operation }: { operation: Operation }) =>
      operation.step('charge', throwing(new Error('connection reset')), { onUnknown: 'stop' }),
    )
    await expect(handler(httpEvent())).rejects.toThrow('connection reset')
    for (let i = 0; i < 2; i++) {
      const answer = await handler(httpEvent())
      expect(answer.statusCode).toBe(409)
      expect(JSON.parse(answer.body).type).toMatch(/outcome-unknown$/)
      expect(headerOf(answer, 'retry-after')).toBeUndefined()
    }
    expect(store.records()).toMatchObject([{ status: 'UNKNOWN' }])
  })

  test('operation.release() after the handler returned: the answer stands and the key is free', async () => {
    const { serve, store } = setUp()
    const handler = serve((_event, { operation }: { operation: { release(): void } }) => {
      operation.release()
      return { statusCode: 422, body: 'nothing happened' }
    })
    expect((await handler(httpEvent())).statusCode).toBe(422)
    expect(store.records()).toMatchObject([{ status: 'RELEASED' }])
  })
})

describe('responses that cannot be stored', () => {
  async function* chunks() {
    yield 'a'
  }
  test.each<[string, () => unknown]>([
    ['a Node stream', () => Readable.from(['a'])],
    ['a web stream', () => new Blob(['a']).stream()],
    ['an async iterable', chunks],
  ])('%s: its first caller’s, and left unread', async (_, make) => {
    for (const wrap of [(body: unknown) => ({ statusCode: 200, body }), (body: unknown) => body]) {
      const { serve, store } = setUp()
      const body = make()
      const response = wrap(body)
      expect(await serve(() => response)(httpEvent())).toBe(response)
      expect(store.records()).toMatchObject([
        {
          status: 'FAILED',
          outcome: { failure: { code: 'OUTCOME_UNSTORABLE', message: expect.stringContaining('is a stream') } },
        },
      ])
      expect(await new Response(body as ReadableStream).text()).toBe('a')
    }
  })

  test('a handler that streams is refused at set-up', () => {
    const streaming = Object.assign(async () => undefined, {
      [Symbol.for('aws.lambda.runtime.handler.streaming')]: 'response',
    })
    expect(() => idempotent(setUp().options, streaming)).toThrow(InvalidOptionError)
  })

  test.each<[string, unknown]>([
    ['a bigint', { total: 1n }],
    [
      'a cycle',
      (() => {
        const a: Record<string, unknown> = {}
        a.self = a
        return a
      })(),
    ],
    ['a function', () => undefined],
  ])('%s: its first caller’s, and not run again', async (_, value) => {
    const { serve } = setUp()
    let runs = 0
    const handler = serve(() => {
      runs += 1
      return value
    })
    expect(await handler(httpEvent())).toBe(value)
    expect(JSON.parse((await handler(httpEvent())).body).type).toMatch(/outcome-not-kept$/)
    expect(runs).toBe(1)
  })
})

describe('when the store fails after the handler ran', () => {
  test('the handler’s own response is answered, and nothing is released', async () => {
    const clock = fakeClock()
    const { serve, store, events } = setUp({}, { clock })
    const handler = serve(() => {
      store.down = true
      return { statusCode: 201, body: 'done' }
    })
    expect((await handler(httpEvent())).body).toBe('done')
    store.down = false
    expect(store.records()).toMatchObject([{ status: 'IN_PROGRESS' }])
    expect(events.at(-1)).toMatchObject({ type: 'store-error' })
    expect((await handler(httpEvent())).statusCode).toBe(409)
  })

  test('it never hides the business error', async () => {
    const { serve, store } = setUp({}, { clock: fakeClock() })
    const error = new Error('business')
    await expect(
      serve(() => {
        store.down = true
        throw error
      })(httpEvent()),
    ).rejects.toBe(error)
    expect(error).toHaveProperty('suppressed')
  })

  test('onStoreError: open runs the handler, unprotected', async () => {
    const { serve, store } = setUp({}, { onStoreError: 'open' })
    store.down = true
    expect((await serve(() => ({ statusCode: 201, body: 'ran' }))(httpEvent())).body).toBe('ran')
  })
})

describe('a lease that was lost', () => {
  function late() {
    const clock = fakeClock()
    const setup = setUp({}, { clock, leaseSeconds: 10 })
    const gates = [deferred(), deferred()]
    const entered = [deferred(), deferred()]
    let runs = 0
    const handler = setup.serve(async () => {
      const run = runs++
      entered[run]!.resolve()
      await gates[run]!.promise
      return { statusCode: 200, headers: { a: '1' }, body: `run ${run}` }
    })
    return { clock, setup, gates, entered, handler }
  }

  test('the late loser answers what the winner stored', async () => {
    const { clock, gates, entered, handler } = late()
    const first = handler(httpEvent())
    await entered[0]!.promise
    clock.advance(12_000)
    const second = handler(httpEvent())
    await entered[1]!.promise
    gates[1]!.resolve()
    expect((await second).body).toBe('run 1')
    gates[0]!.resolve()
    const loser = await first
    expect(loser.body).toBe('run 1')
    expect(headerOf(loser, 'Idempotent-Replayed')).toBe('true')
  })

  test('or 409 while there is none yet', async () => {
    const { clock, gates, entered, handler, setup } = late()
    const first = handler(httpEvent())
    await entered[0]!.promise
    clock.advance(12_000)
    const second = handler(httpEvent())
    await entered[1]!.promise
    gates[0]!.resolve()
    expect((await first).statusCode).toBe(409)
    gates[1]!.resolve()
    expect((await second).body).toBe('run 1')
    expect(setup.store.records()).toMatchObject([{ status: 'COMPLETED', attempt: 2 }])
  })

  test('a late failure changes nothing either', async () => {
    const clock = fakeClock()
    const { serve, store } = setUp({}, { clock, leaseSeconds: 10 })
    const gate = deferred()
    const entered = deferred()
    const first = serve(async () => {
      entered.resolve()
      await gate.promise
      throw new Error('late')
    })(httpEvent())
    await entered.promise
    clock.advance(12_000)
    await serve(() => ({ statusCode: 201, body: 'winner' }))(httpEvent())
    const records = store.records()
    gate.resolve()
    expect((await first).body).toBe('winner')
    expect(store.records()).toEqual(records)
  })
})

describe('remaining time', () => {
  test.each([0, -5])('%i ms is a number: the lease is the margin', async (remainingMs) => {
    const clock = fakeClock()
    const { serve, store } = setUp({}, { clock })
    const gate = deferred()
    const entered = deferred()
    const running = serve(async () => {
      entered.resolve()
      await gate.promise
      return { statusCode: 200, body: '' }
    })(httpEvent(), lambdaContext(remainingMs))
    await entered.promise
    expect(store.records()).toMatchObject([{ leaseUntil: clock.now() + 1_000 }])
    gate.resolve()
    await running
  })

  test.each([undefined, {}, { getRemainingTimeInMillis: () => undefined }])(
    'a context like %j is no error',
    async (context) => {
      const handler = idempotent(
        { idempotency: createIdempotency({ store: memoryStore(), namespace: 'a' }) },
        (_event: unknown, { operation }) => ({ statusCode: 200, body: operation.key }),
      )
      expect(await handler(httpEvent(), context as never)).toMatchObject({ body: 'key-1' })
    },
  )
})

test('an operation can no longer be extended once it is answered', async () => {
  const { serve } = setUp()
  let extend = async () => {}
  await serve((_event, { operation }: { operation: { extend(): Promise<void> } }) => {
    extend = () => operation.extend()
    return { statusCode: 200, body: '' }
  })(httpEvent())
  await expect(extend()).rejects.toThrow(LeaseLostError)
})
