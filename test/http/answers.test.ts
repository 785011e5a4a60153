import { describe, expect, test } from 'vitest'
import { InvalidEventError, RetryLater, type Store } from '../../lib/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { albEvent, albMultiEvent, httpEvent, restEvent, SOURCES } from './events.ts'
import { type Answered, deferred, headerOf, type Setup, setUp } from './harness.ts'

const anonymous = { anonymous: true } as const
const sources = Object.entries(SOURCES)

/** What the form of an answer has to be at each source. */
function expectShape(source: string, answer: Answered): void {
  const keys = Object.keys(answer)
  if (source === 'ALB, multi-value') {
    expect(keys).not.toContain('headers')
    for (const values of Object.values(answer.multiValueHeaders ?? {})) expect(Array.isArray(values)).toBe(true)
  } else {
    expect(keys).not.toContain('multiValueHeaders')
  }
  if (source.startsWith('ALB')) expect(answer.statusDescription).toMatch(new RegExp(`^${answer.statusCode} \\w`))
  else expect(keys).not.toContain('statusDescription')
  expect(keys).not.toContain('stripped')
  expect(typeof answer.body).toBe('string')
}

function expectProblem(answer: Answered, status: number, kind: string): void {
  expect(answer.statusCode).toBe(status)
  expect(headerOf(answer, 'content-type')).toBe('application/problem+json')
  const document = JSON.parse(answer.body)
  expect(document).toMatchObject({
    type: `https://lambda-once.dev/problems/${kind}`,
    status,
    title: expect.any(String),
  })
  expect(answer.body).not.toMatch(/\bat .*\.ts|Error:/)
  expect(headerOf(answer, 'idempotent-replayed')).toBeUndefined()
}

/** Leaves a record behind as another process would have, in the state the change says. */
async function leave({ store, serve }: Setup, event: unknown, change: (id: string, token: string) => Promise<unknown>) {
  const gate = deferred()
  const entered = deferred()
  const running = serve(async () => {
    entered.resolve()
    await gate.promise
    return { statusCode: 200, body: '' }
  })(event)
  await entered.promise
  const [record] = store.records()
  await change(record!.id, record!.token)
  const finish = () => {
    gate.resolve()
    return running
  }
  return { finish }
}

const held = (store: Store, id: string, token: string, change: Partial<Parameters<Store['update']>[1]>) =>
  store.update(
    id,
    { status: 'IN_PROGRESS', leaseUntil: undefined, expiresAt: undefined, updatedAtMs: Date.now(), ...change },
    { kind: 'held', token },
  )

describe.each(sources)('%s', (source, make) => {
  test('missing key: 400', async () => {
    const answer = await setUp(anonymous).serve(() => expect.unreachable())(make({ key: undefined }))
    expectShape(source, answer)
    expectProblem(answer, 400, 'missing-key')
    expect(JSON.parse(answer.body).detail).toContain('Idempotency-Key')
  })

  test('malformed key: 400', async () => {
    const answer = await setUp(anonymous).serve(() => expect.unreachable())(make({ key: '"' }))
    expectShape(source, answer)
    expectProblem(answer, 400, 'invalid-key')
  })

  test('same key, other request: 422, and the record is untouched', async () => {
    const { serve, store } = setUp(anonymous)
    const handler = serve(() => ({ statusCode: 201, body: 'first' }))
    await handler(make())
    const before = store.records()
    const answer = await handler(make({ body: '{"item":"other"}' }))
    expectShape(source, answer)
    expectProblem(answer, 422, 'key-reused')
    expect(store.records()).toEqual(before)
    expect(headerOf(await handler(make()), 'idempotent-replayed')).toBe('true')
  })

  test('same key in progress: 409, Retry-After until the end of the lease; another request: 422', async () => {
    const clock = fakeClock()
    const { serve, store } = setUp(anonymous, { clock, leaseSeconds: 30 })
    const gate = deferred()
    const entered = deferred()
    const handler = serve(async () => {
      entered.resolve()
      await gate.promise
      return { statusCode: 201, body: 'done' }
    })
    const first = handler(make())
    await entered.promise
    const second = await handler(make())
    expectShape(source, second)
    expectProblem(second, 409, 'in-progress')
    expect(headerOf(second, 'retry-after')).toBe('31')
    clock.advance(20_000)
    expect(headerOf(await handler(make()), 'retry-after')).toBe('11')
    clock.advance(10_900)
    expect(headerOf(await handler(make()), 'retry-after')).toBe('1')
    expectProblem(await handler(make({ body: '{}' })), 422, 'key-reused')
    gate.resolve()
    expect((await first).body).toBe('done')
    expect(store.records()).toMatchObject([{ status: 'COMPLETED', attempt: 1 }])
  })

  test('suspended: 202, Retry-After when the time is known', async () => {
    const setup = setUp(anonymous)
    const due = await leave(setup, make(), (id, token) =>
      held(setup.store, id, token, { status: 'WAITING', resumeAtMs: Date.now() + 60_000 }),
    )
    const answer = await setup.serve(() => expect.unreachable())(make())
    expectShape(source, answer)
    expect(answer.statusCode).toBe(202)
    expect(Number(headerOf(answer, 'retry-after'))).toBeGreaterThanOrEqual(59)
    await due.finish()

    const other = setUp(anonymous)
    await leave(other, make(), (id, token) => held(other.store, id, token, { status: 'WAITING' }))
    const signalled = await other.serve(() => expect.unreachable())(make())
    expect(signalled.statusCode).toBe(202)
    expect(headerOf(signalled, 'retry-after')).toBeUndefined()
  })

  test('outcome unknown: 409 with a type of its own and no Retry-After', async () => {
    const setup = setUp(anonymous)
    await leave(setup, make(), (id, token) => held(setup.store, id, token, { status: 'UNKNOWN' }))
    const answer = await setup.serve(() => expect.unreachable())(make())
    expectShape(source, answer)
    expectProblem(answer, 409, 'outcome-unknown')
    expect(headerOf(answer, 'retry-after')).toBeUndefined()
  })

  test('store unreachable: 503, Retry-After, and the handler does not run', async () => {
    const { serve, store } = setUp(anonymous)
    store.down = true
    const answer = await serve(() => expect.unreachable())(make())
    expectShape(source, answer)
    expectProblem(answer, 503, 'store-unavailable')
    expect(Number(headerOf(answer, 'retry-after'))).toBeGreaterThanOrEqual(1)
    expect(answer.body).not.toContain('The store is down.')
  })

  test('completed: the stored answer, marked', async () => {
    const { serve } = setUp(anonymous)
    let runs = 0
    const container =
      source === 'ALB, multi-value'
        ? { multiValueHeaders: { Location: ['/orders/1'] } }
        : { headers: { Location: '/orders/1' } }
    const handler = serve(() => {
      runs += 1
      return {
        statusCode: 201,
        ...(source.startsWith('ALB') && { statusDescription: '201 Created' }),
        ...container,
        body: '{"id":1}',
      }
    })
    const first = await handler(make())
    const replay = await handler(make())
    expectShape(source, replay)
    expect(replay).toMatchObject({ statusCode: 201, body: first.body })
    expect(headerOf(replay, 'location')).toBe('/orders/1')
    expect(headerOf(replay, 'idempotent-replayed')).toBe('true')
    expect(headerOf(first, 'idempotent-replayed')).toBeUndefined()
    expect(runs).toBe(1)
  })

  test('failed: the stored failure, marked, and not run again', async () => {
    const { serve } = setUp(anonymous)
    let runs = 0
    const handler = serve(() => {
      runs += 1
      throw new Error('secret of the database')
    })
    await expect(handler(make())).rejects.toThrow('secret of the database')
    const replay = await handler(make())
    expectShape(source, replay)
    expect(replay.statusCode).toBe(500)
    expect(JSON.parse(replay.body).type).toBe('https://lambda-once.dev/problems/operation-failed')
    expect(headerOf(replay, 'idempotent-replayed')).toBe('true')
    expect(replay.body).not.toContain('secret')
    expect(runs).toBe(1)
  })

  test('the event is never changed', async () => {
    const event = make({ query: { a: ['1'] } })
    const copy = structuredClone(event)
    await setUp(anonymous).serve(() => ({ statusCode: 200, body: '' }))(event)
    expect(event).toEqual(copy)
  })
})

describe('an outcome that was not made here: recovered, or settled by an operator', () => {
  async function settled(value: unknown, http: Parameters<typeof setUp>[0] = {}) {
    const setup = setUp({ scope: () => 'all', fingerprint: () => 'same', ...http })
    await setup
      .serve(() => {
        throw new RetryLater()
      })(httpEvent())
      .catch(() => undefined)
    const { idempotency } = setup.options
    expect(await idempotency.settle({ key: 'key-1', scope: 'all' }, { value })).toBe('settled')
    const handler = setup.serve(() => expect.unreachable())
    return { ...setup, ask: (make: () => unknown) => handler(make()) }
  }

  test.each<[string, unknown]>([
    ['a text', 'text'],
    ['an object', { orderId: 7 }],
    ['null', null],
    ['a status that is none', { statusCode: 999, body: 'x' }],
  ])('%s is a problem on REST APIs and load balancers, never an empty 200', async (_, value) => {
    const { ask } = await settled(value)
    for (const make of [restEvent, albEvent, albMultiEvent]) {
      const answer = await ask(make)
      expect(answer.statusCode).toBe(500)
      expect(JSON.parse(answer.body).type).toMatch(/outcome-not-kept$/)
      expect(headerOf(answer, 'idempotent-replayed')).toBe('true')
    }
  })

  test.each<[unknown, string]>([
    ['text', 'text'],
    [{ orderId: 7 }, '{"orderId":7}'],
  ])('%j is the body on HTTP APIs', async (value, body) => {
    const { ask } = await settled(value)
    expect(await ask(httpEvent)).toMatchObject({ statusCode: 200, body })
  })

  test('is what render makes of it', async () => {
    const render = ({ orderId }: { orderId: number }) => ({ statusCode: 201, body: `order ${orderId}` })
    const { ask } = await settled({ orderId: 7 }, { render: render as never })
    for (const make of Object.values(SOURCES)) {
      expect(await ask(make)).toMatchObject({ statusCode: 201, body: 'order 7' })
    }
  })

  test.each<[string, unknown]>([
    ['with a body', { statusCode: 201, body: 'x' }],
    ['with a body to be written', { statusCode: 201, body: { a: 1 } }],
    ['without', { statusCode: 201 }],
    ['with odd headers', { statusCode: 201, body: 'x', multiValueHeaders: { a: '1' }, headers: null, cookies: 'a=1' }],
  ])('a response %s is one everywhere', async (_, value) => {
    const { ask } = await settled(value)
    for (const make of Object.values(SOURCES)) expect(await ask(make)).toMatchObject({ statusCode: 201 })
  })
})

describe('an outcome whose pieces are lost', () => {
  test('is a 500 of its own kind, neither replayed nor run again', async () => {
    const setup = setUp()
    let runs = 0
    const body = Array.from({ length: 400 }, () => crypto.randomUUID()).join('')
    const handler = setup.serve(() => {
      runs += 1
      return { statusCode: 200, body }
    })
    await handler(httpEvent())
    ;(setup.store as unknown as { getParts: unknown }).getParts = async () => [undefined]
    expectProblem(await handler(httpEvent()), 500, 'outcome-not-kept')
    expect(runs).toBe(1)
  })
})

describe('events that are no HTTP request', () => {
  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'POST /orders'],
    ['an empty object', {}],
    ['SQS', { Records: [{ messageId: '1', eventSource: 'aws:sqs', body: '{}' }] }],
    ['WebSocket', { requestContext: { connectionId: 'c', routeKey: '$default', eventType: 'MESSAGE' }, body: '{}' }],
    ['AppSync', { arguments: {}, identity: null, info: { fieldName: 'createOrder', parentTypeName: 'Mutation' } }],
    ['EventBridge', { version: '0', id: '1', source: 'orders', 'detail-type': 'x', detail: {} }],
    [
      'VPC Lattice',
      { version: '2.0', path: '/orders', method: 'POST', headers: {}, requestContext: { serviceArn: 'a' } },
    ],
    ['format 2.0 without a method', { version: '2.0', rawPath: '/', requestContext: { http: {} } }],
    ['format 2.0 without a context', { version: '2.0', rawPath: '/', requestContext: null }],
    ['format 1.0 without a path', { httpMethod: 'POST', headers: null }],
  ])('%s → InvalidEventError', async (_, event) => {
    const { serve, store } = setUp(anonymous)
    await expect(serve(() => expect.unreachable())(event)).rejects.toThrow(InvalidEventError)
    expect(store.calls).toEqual([])
  })

  test('an HTTP event with nothing in it but what makes it one is served', async () => {
    const { serve } = setUp({ anonymous: true, key: 'optional' })
    const handler = serve(() => ({ statusCode: 200, body: 'ok' }))
    expect((await handler({ httpMethod: 'POST', path: '/' })).body).toBe('ok')
    expect((await handler({ ...restEvent(), headers: { 'idempotency-key': 7 }, multiValueHeaders: 'x' })).body).toBe(
      'ok',
    )
  })
})
