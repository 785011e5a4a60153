import { describe, expect, test } from 'vitest'
import { fakeClock } from '../core/fake-clock.ts'
import { albEvent, albMultiEvent, httpEvent, restEvent, SOURCES } from '../http/events.ts'
import { headerOf, setUp, unmarked } from '../http/harness.ts'

const created = () => ({ statusCode: 201, headers: { 'content-type': 'application/json' }, body: '{"id":1}' })

describe('HTTP shapes and replays', () => {
  test('A load balancer with multi-value headers sends no "headers", and wants none: answers take the form of the request', async () => {
    for (const [make, has, lacks] of [
      [albMultiEvent, 'multiValueHeaders', 'headers'],
      [albEvent, 'headers', 'multiValueHeaders'],
    ] as const) {
      const { serve } = setUp({ anonymous: true })
      const handler = serve(() => new Promise(() => undefined))
      const missing = await handler(make({ key: undefined }))
      void handler(make())
      await new Promise(setImmediate)
      const running = await handler(make())
      const other = await handler(make({ body: '{"other":1}' }))
      expect([missing, running, other].map(({ statusCode }) => statusCode)).toEqual([400, 409, 422])
      for (const answer of [missing, running, other]) {
        expect(answer).toHaveProperty(has)
        expect(answer).not.toHaveProperty(lacks)
      }
    }
  })

  test('Test events of the console have null for headers: that is a missing key', async () => {
    const { serve, store } = setUp()
    const answer = await serve(created)({ ...restEvent(), headers: null, multiValueHeaders: null })
    expect([answer.statusCode, store.calls]).toEqual([400, []])
  })

  test('REST APIs turn any key they do not know into a 502: replays and markers bring none', async () => {
    const { serve } = setUp()
    const handler = serve(() => ({ ...created(), cookies: ['a=1'], extra: 1 }))
    await handler(restEvent())
    const replay = await handler(restEvent())
    const known = ['statusCode', 'headers', 'multiValueHeaders', 'body', 'isBase64Encoded']
    expect(Object.keys(replay).filter((name) => !known.includes(name))).toEqual([])
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true')
  })

  test('A gateway’s setting made bodies base64, and the same request looked like another: decoded bytes count, broken base64 is no crash', async () => {
    const { serve } = setUp()
    const handler = serve(created)
    const body = '{"item":"book","quantity":1}'
    await handler(httpEvent({ body }))
    const encoded = await handler(httpEvent({ body: Buffer.from(body).toString('base64'), base64: true }))
    expect(headerOf(encoded, 'Idempotent-Replayed')).toBe('true')
    expect((await handler(httpEvent({ body: '%%%', base64: true }))).statusCode).toBe(422)
  })

  test('A replay gave the first caller’s cookies to whoever repeated the key: they are not stored, in none of three places', async () => {
    const shapes = [
      [httpEvent, { ...created(), cookies: ['s=1'] }],
      [restEvent, { ...created(), headers: { 'Set-Cookie': 's=1' } }],
      [restEvent, { ...created(), multiValueHeaders: { 'set-cookie': ['s=1'] } }],
    ] as const
    for (const [make, response] of shapes) {
      const { serve, store } = setUp()
      const handler = serve(() => response)
      expect(JSON.stringify(await handler(make()))).toContain('s=1')
      expect(JSON.stringify(store.records())).not.toContain('s=1')
      expect(JSON.stringify(await handler(make()))).not.toContain('s=1')
    }
  })

  test('The gateway gave up with 504 while the function ran on: the repetition gets 409, and then the answer', async () => {
    const clock = fakeClock()
    const { serve } = setUp({}, { clock })
    const gate = Promise.withResolvers<void>()
    const handler = serve(() => gate.promise.then(created))
    const first = handler(httpEvent())
    await new Promise(setImmediate)
    clock.advance(20_000)
    expect((await handler(httpEvent())).statusCode).toBe(409)
    gate.resolve()
    await first
    const replay = await handler(httpEvent())
    expect([replay.statusCode, headerOf(replay, 'Idempotent-Replayed')]).toEqual([201, 'true'])
  })

  test('An outage was cached for a day: "come again" is not stored, a final answer is, whatever its status', async () => {
    const { serve } = setUp()
    const answers = [503, 201]
    const handler = serve(() => ({ statusCode: answers.shift(), body: '' }))
    expect((await handler(httpEvent())).statusCode).toBe(503)
    expect((await handler(httpEvent())).statusCode).toBe(201)
    for (const statusCode of [201, 400, 422, 500]) {
      const one = setUp().serve(() => ({ statusCode, headers: {}, body: 'x' }))
      const first = await one(httpEvent())
      expect(unmarked(await one(httpEvent()))).toEqual(first)
      expect(first.statusCode).toBe(statusCode)
    }
  })

  test('REST APIs keep the client’s casing of header names, others change it: names are compared without it', async () => {
    const { serve } = setUp()
    const handler = serve(created)
    await handler(restEvent({ key: undefined, headers: { 'iDEMPotency-KEY': 'k-1' } }))
    const again = await handler(restEvent({ key: undefined, headers: { 'idempotency-key': 'k-1' } }))
    expect(headerOf(again, 'Idempotent-Replayed')).toBe('true')
  })

  test.each(Object.entries(SOURCES))(
    'Preflights and reads were refused for having no key: they pass untouched (%s)',
    async (_name, make) => {
      const { serve, store } = setUp()
      for (const method of ['OPTIONS', 'GET', 'HEAD']) {
        expect((await serve(created)(make({ method, key: undefined }))).statusCode).toBe(201)
      }
      expect(store.calls).toEqual([])
    },
  )
})
