import { describe, expect, test } from 'vitest'
import { albEvent, albMultiEvent, httpEvent, restEvent, SOURCES, urlEvent } from './events.ts'
import { type Answered, headerOf, setUp, unmarked } from './harness.ts'

const anonymous = { anonymous: true } as const

/** The first answer and its replay. */
async function twice(
  make: () => unknown,
  response: unknown,
  http: Parameters<typeof setUp>[0] = {},
  again: () => unknown = make,
): Promise<[Answered, Answered, ReturnType<typeof setUp>]> {
  const setup = setUp({ ...anonymous, ...http })
  let runs = 0
  const handler = setup.serve(() => {
    runs += 1
    return response
  })
  const first = await handler(make())
  const replay = await handler(again())
  expect(runs).toBe(1)
  return [first, replay, setup]
}

describe('a replay is the first answer, byte for byte', () => {
  test.each<[string, () => unknown, unknown]>([
    [
      'REST API',
      restEvent,
      {
        statusCode: 201,
        headers: { Location: '/1', 'X-N': 5, 'X-B': true },
        body: '{"a":"é"}',
        isBase64Encoded: false,
      },
    ],
    [
      'REST API, both header maps',
      restEvent,
      { statusCode: 200, headers: { A: '1' }, multiValueHeaders: { B: ['2', '3'] }, body: '' },
    ],
    ['HTTP API', httpEvent, { statusCode: 204, headers: { etag: '"x"' }, body: '' }],
    [
      'HTTP API, binary',
      httpEvent,
      { statusCode: 200, headers: { 'content-type': 'image/png' }, body: 'iVBORw0KGgo=', isBase64Encoded: true },
    ],
    ['Function URL', urlEvent, { statusCode: 409, headers: {}, body: 'a conflict of its own' }],
    [
      'ALB',
      albEvent,
      { statusCode: 200, statusDescription: '200 OK', headers: { a: '1' }, body: 'x', isBase64Encoded: false },
    ],
    [
      'ALB, multi-value',
      albMultiEvent,
      { statusCode: 200, statusDescription: '200 OK', multiValueHeaders: { a: ['1', '2'] }, body: 'x' },
    ],
    ['a 400 of the handler', httpEvent, { statusCode: 400, headers: { a: '1' }, body: '{"error":"bad"}' }],
    ['a 500 of the handler', httpEvent, { statusCode: 500, headers: { a: '1' }, body: 'broken' }],
  ])('%s', async (_, make, response) => {
    const [first, replay] = await twice(make, response)
    expect(first).toEqual(response)
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true')
    expect(unmarked(replay)).toEqual({
      ...first,
      ...(first.headers === undefined && first.multiValueHeaders === undefined && { headers: {} }),
    })
  })

  test('as large as Lambda lets it be', async () => {
    const body = JSON.stringify(Array.from({ length: 150_000 }, () => crypto.randomUUID())).slice(0, 5_500_000)
    const [first, replay, { store }] = await twice(httpEvent, { statusCode: 200, headers: { a: '1' }, body })
    expect(Buffer.byteLength(first.body)).toBe(5_500_000)
    expect(replay.body === first.body).toBe(true)
    expect(JSON.stringify(store.records()).length).toBeLessThan(2_000)
  })

  test('many times over', async () => {
    const { serve } = setUp()
    const handler = serve(() => ({ statusCode: 201, headers: { a: '1' }, body: crypto.randomUUID() }))
    const first = await handler(httpEvent())
    const replays = [await handler(httpEvent()), await handler(httpEvent())]
    for (const replay of replays) expect(unmarked(replay)).toEqual(first)
  })
})

describe('what HTTP APIs and Function URLs take for a response', () => {
  test.each<[string, unknown, string]>([
    ['a string', 'hello', 'hello'],
    ['an object', { id: 1, at: new Date(0) }, '{"id":1,"at":"1970-01-01T00:00:00.000Z"}'],
    ['an array', [1, 2], '[1,2]'],
    ['a number', 0, '0'],
    ['false', false, 'false'],
    ['an empty string', '', ''],
    ['null', null, 'null'],
    ['undefined', undefined, 'null'],
  ])('%s: its replay is the same answer in full form', async (_, value, body) => {
    const [first, replay] = await twice(httpEvent, value)
    expect(first).toEqual(value)
    expect(replay).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', 'Idempotent-Replayed': 'true' },
      body,
    })
  })

  test.each([undefined, null, 'hello', 5])(
    'REST APIs and load balancers cannot send %j: an error that says so',
    async (value) => {
      for (const make of [restEvent, albEvent]) {
        const { serve, store } = setUp(anonymous)
        const handler = serve(() => value)
        await expect(handler(make())).rejects.toThrow(/must return \{ statusCode, headers, body \}; it returned/)
        expect(store.records()).toMatchObject([{ status: 'FAILED' }])
        const replay = await handler(make())
        expect(replay.statusCode).toBe(500)
        expect(JSON.parse(replay.body).type).toMatch(/outcome-not-kept$/)
      }
    },
  )

  test.each(['abc', 42, 600, 999, 200.5, {}])(
    'a statusCode of %j is the first caller’s, and not kept',
    async (statusCode) => {
      const [first, replay, { store }] = await twice(httpEvent, { statusCode, body: '' })
      expect(first).toEqual({ statusCode, body: '' })
      expect(JSON.parse(replay.body).type).toMatch(/outcome-not-kept$/)
      expect(store.records()).toMatchObject([
        { status: 'FAILED', outcome: { failure: { code: 'OUTCOME_UNSTORABLE' } } },
      ])
    },
  )

  test('a statusCode in digits and headers that are null are as good', async () => {
    const [, replay] = await twice(restEvent, { statusCode: '201', headers: null, multiValueHeaders: null, body: null })
    expect(replay).toEqual({ statusCode: 201, headers: { 'Idempotent-Replayed': 'true' }, body: '' })
  })
})

describe('only what a source knows is replayed', () => {
  test('REST: unknown keys, on which it would answer 502, are gone', async () => {
    const response = {
      statusCode: 200,
      headers: { a: '1' },
      body: 'x',
      cookies: ['a=1'],
      statusDescription: 'OK',
      extra: 1,
    }
    const [, replay] = await twice(restEvent, response, { stripHeaders: [] })
    expect(Object.keys(replay).sort()).toEqual(['body', 'headers', 'statusCode'])
  })

  test('a repetition that comes through another source gets the same answer in that one’s form', async () => {
    const response = { statusCode: 200, statusDescription: '200 OK', multiValueHeaders: { a: ['1', '2'] }, body: 'x' }
    const scope = { anonymous: false, scope: () => 'everybody', fingerprint: () => 'same' }
    const [, rest] = await twice(albMultiEvent, response, scope, restEvent)
    expect(rest).toEqual({
      statusCode: 200,
      headers: { 'Idempotent-Replayed': 'true' },
      multiValueHeaders: { a: ['1', '2'] },
      body: 'x',
    })
    const [, http] = await twice(albMultiEvent, response, scope, httpEvent)
    expect(http).toEqual({ statusCode: 200, headers: { a: '1, 2', 'Idempotent-Replayed': 'true' }, body: 'x' })
    const [, multi] = await twice(restEvent, { statusCode: 200, headers: { a: 1 }, body: 'x' }, scope, albMultiEvent)
    expect(multi).toEqual({
      statusCode: 200,
      multiValueHeaders: { a: [1], 'Idempotent-Replayed': ['true'] },
      body: 'x',
    })
    const cookies = { statusCode: 200, cookies: ['a=1', 'b=2'], body: 'x' }
    const [, fromHttp] = await twice(httpEvent, cookies, { ...scope, stripHeaders: [] }, restEvent)
    expect(fromHttp.multiValueHeaders).toEqual({ 'Set-Cookie': ['a=1', 'b=2'] })
  })
})

describe('headers that only the first caller gets', () => {
  const secrets = {
    'Set-Cookie': 'session=1',
    'WWW-Authenticate': 'Basic',
    Authorization: 'Bearer 1',
    Date: 'now',
    Connection: 'close',
    'Transfer-Encoding': 'chunked',
    'x-amzn-RequestId': '1',
    'X-Amzn-Trace-Id': '2',
  }
  const kept = { Location: '/1', ETag: '"1"', 'Content-Type': 'text/plain' }

  test.each<[string, () => unknown, unknown]>([
    ['headers', restEvent, { statusCode: 200, headers: { ...secrets, ...kept }, body: '' }],
    [
      'multiValueHeaders',
      albMultiEvent,
      {
        statusCode: 200,
        multiValueHeaders: Object.fromEntries(Object.entries({ ...secrets, ...kept }).map(([n, v]) => [n, [v]])),
        body: '',
      },
    ],
  ])('are not stored from %s', async (_, make, response) => {
    const [first, replay, { store }] = await twice(make, response)
    for (const [name, value] of Object.entries(secrets)) {
      expect(headerOf(first, name)).toBe(value)
      expect(headerOf(replay, name)).toBeUndefined()
    }
    for (const [name, value] of Object.entries(kept)) expect(headerOf(replay, name)).toBe(value)
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe(
      'true; stripped="authorization connection date set-cookie transfer-encoding www-authenticate x-amzn-requestid x-amzn-trace-id"',
    )
    expect(JSON.stringify(store.records())).not.toContain('session=1')
  })

  test('cookies of HTTP APIs are set-cookie headers', async () => {
    const response = { statusCode: 200, headers: { a: '1' }, cookies: ['session=1'], body: '' }
    const [first, replay, { store }] = await twice(httpEvent, response)
    expect(first.cookies).toEqual(['session=1'])
    expect(replay.cookies).toBeUndefined()
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true; stripped="set-cookie"')
    expect(JSON.stringify(store.records())).not.toContain('session=1')
  })

  test('the list is the user’s to choose', async () => {
    const response = {
      statusCode: 200,
      headers: { 'x-secret-1': 'a', 'X-Secret-2': 'b', date: 'now' },
      cookies: ['c=1'],
      body: '',
    }
    const [, replay] = await twice(httpEvent, response, { stripHeaders: ['X-Secret-*'] })
    expect(replay).toMatchObject({ headers: { date: 'now' }, cookies: ['c=1'] })
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true; stripped="x-secret-1 x-secret-2"')
  })

  test('onStripped: refuse stores no response; its first caller has it, and the operation is not run again', async () => {
    const setup = setUp({ onStripped: 'refuse' })
    let runs = 0
    const handler = setup.serve(() => {
      runs += 1
      return { statusCode: 200, cookies: ['session=1'], body: 'x' }
    })
    expect(await handler(httpEvent())).toEqual({ statusCode: 200, cookies: ['session=1'], body: 'x' })
    expect(setup.store.records()).toMatchObject([
      { status: 'FAILED', outcome: { failure: { code: 'OUTCOME_UNSTORABLE' } } },
    ])
    const replay = await handler(httpEvent())
    expect(replay.statusCode).toBe(500)
    expect(JSON.parse(replay.body).type).toMatch(/outcome-not-kept$/)
    expect(runs).toBe(1)
  })
})

describe('browsers of another origin', () => {
  const expose = (answer: Answered) => headerOf(answer, 'Access-Control-Expose-Headers')

  test('see the marker', async () => {
    const [, replay] = await twice(restEvent, {
      statusCode: 200,
      headers: { 'access-control-allow-origin': '*' },
      body: '',
    })
    expect(expose(replay)).toBe('Idempotent-Replayed')
  })

  test('see it beside what the response exposes itself', async () => {
    const headers = {
      'Access-Control-Allow-Origin': 'https://a.example',
      'access-control-expose-headers': 'ETag, Location',
    }
    const [, replay] = await twice(restEvent, { statusCode: 200, headers, body: '' })
    expect(expose(replay)).toBe('ETag, Location, Idempotent-Replayed')
    expect(Object.keys(replay.headers ?? {}).filter((name) => /expose/i.test(name))).toHaveLength(1)
  })

  test('see it once when it is listed already', async () => {
    const headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'idempotent-replayed' }
    const [, replay] = await twice(restEvent, { statusCode: 200, headers, body: '' })
    expect(expose(replay)).toBe('idempotent-replayed')
  })

  test('see it in multi-value headers', async () => {
    const [, replay] = await twice(albMultiEvent, {
      statusCode: 200,
      multiValueHeaders: { 'Access-Control-Allow-Origin': ['*'] },
      body: '',
    })
    expect(replay.multiValueHeaders?.['Access-Control-Expose-Headers']).toEqual(['Idempotent-Replayed'])
  })

  test('a response that is not for them gets nothing more', async () => {
    const [, replay] = await twice(restEvent, { statusCode: 200, headers: {}, body: '' })
    expect(expose(replay)).toBeUndefined()
  })
})

describe('responses that say "not executed, come again"', () => {
  test.each([401, 403, 408, 425, 429, 502, 503, 504])('%i releases the key', async (statusCode) => {
    const { serve, store } = setUp()
    let runs = 0
    const handler = serve(() => {
      runs += 1
      return runs === 1 ? { statusCode, body: 'later' } : { statusCode: 201, body: 'done' }
    })
    expect(await handler(httpEvent())).toEqual({ statusCode, body: 'later' })
    expect(store.records()).toMatchObject([{ status: 'RELEASED' }])
    expect((await handler(httpEvent({ body: '{"corrected":true}' }))).body).toBe('done')
    expect(runs).toBe(2)
  })

  test.each([200, 201, 302, 400, 404, 409, 422, 500, 501])('%i is final', async (statusCode) => {
    const [, replay] = await twice(httpEvent, { statusCode, body: 'x' })
    expect(replay.statusCode).toBe(statusCode)
  })

  test('storeResponse overrides either way', async () => {
    const { serve, store } = setUp({ storeResponse: ({ statusCode }) => statusCode === 503 })
    await serve(() => ({ statusCode: 503, body: 'stored' }))(httpEvent({ key: 'a' }))
    await serve(() => ({ statusCode: 200, body: 'not stored' }))(httpEvent({ key: 'b' }))
    expect(
      store
        .records()
        .map(({ status }) => status)
        .sort(),
    ).toEqual(['COMPLETED', 'RELEASED'])
  })
})

describe('replay: a function', () => {
  test('refreshes the answer, never the decision', async () => {
    let runs = 0
    const setup = setUp({
      replay: async (stored: { headers?: object; body: string }, event: { rawPath: string }) => ({
        statusCode: 200,
        headers: { ...stored.headers, 'x-path': event.rawPath },
        body: stored.body.replace('pending', 'paid'),
      }),
    } as never)
    const handler = setup.serve(() => {
      runs += 1
      return { statusCode: 201, headers: { a: '1' }, body: 'pending' }
    })
    expect((await handler(httpEvent())).body).toBe('pending')
    expect(await handler(httpEvent())).toEqual({
      statusCode: 200,
      headers: { a: '1', 'x-path': '/orders', 'Idempotent-Replayed': 'true' },
      body: 'paid',
    })
    expect(runs).toBe(1)
  })

  test('still says which headers the first answer had and this one has not', async () => {
    const replay = (stored: { body: string }) => ({ statusCode: 200, headers: {}, body: stored.body })
    const [, again] = await twice(httpEvent, { statusCode: 201, cookies: ['a=1'], body: 'x' }, { replay } as never)
    expect(again).toEqual({
      statusCode: 200,
      headers: { 'Idempotent-Replayed': 'true; stripped="set-cookie"' },
      body: 'x',
    })
  })

  test('is not asked for failures and not for conflicts', async () => {
    const setup = setUp({ replay: (() => expect.unreachable()) as never })
    await setup
      .serve(() => {
        throw new Error('x')
      })(httpEvent())
      .catch(() => undefined)
    const handler = setup.serve(() => expect.unreachable())
    expect((await handler(httpEvent())).statusCode).toBe(500)
    expect((await handler(httpEvent({ body: '{}' }))).statusCode).toBe(422)
  })
})

test('every source has a replay of every status', async () => {
  for (const make of Object.values(SOURCES)) {
    const [, replay] = await twice(make, { statusCode: 201, body: 'x' })
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true')
  }
})
