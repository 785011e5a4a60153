import { describe, expect, test } from 'vitest'
import { readKey } from '../../lib/http/request/key.ts'
import { httpEvent, restEvent, SOURCES } from './events.ts'
import { headerOf, setUp } from './harness.ts'

describe('the key header', () => {
  test.each([
    ['a bare value', ['abc'], 'abc'],
    ['a quoted value', ['"abc"'], 'abc'],
    ['spaces and tabs around it', ['  \tabc\t '], 'abc'],
    ['spaces inside the quotes', ['" abc "'], 'abc'],
    ['escapes in quotes', ['"a\\"b\\\\c"'], 'a"b\\c'],
    ['a comma in quotes', ['"a,b"'], 'a,b'],
    ['repeated with the same value', ['abc', 'abc'], 'abc'],
    ['repeated quoted and bare', ['abc', '"abc"'], 'abc'],
    ['repeated and joined by a gateway', ['abc,abc'], 'abc'],
    ['repeated in quotes and joined', ['"abc", "abc"'], 'abc'],
    ['255 bytes', ['k'.repeat(255)], 'k'.repeat(255)],
    ['63 emoji', ['🔑'.repeat(63)], '🔑'.repeat(63)],
    ['a UUID', ['8e03978e-40d5-43dd-bc93-6894a57f9324'], '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ])('reads %s', (_, values, key) => {
    expect(readKey(values)).toEqual({ kind: 'key', key })
  })

  test.each([
    ['no header', []],
    ['an empty value', ['']],
    ['blanks', ['   ']],
    ['empty quotes', ['""']],
    ['blanks in quotes', ['"  "']],
    ['only commas', [',,']],
  ])('takes %s for a missing key', (_, values) => {
    expect(readKey(values)).toEqual({ kind: 'missing-key' })
  })

  test.each([
    ['a quote that is not closed', ['"abc']],
    ['a quote that was not opened', ['abc"']],
    ['a lone quote', ['"']],
    ['a quote inside', ['a"b']],
    ['a comma behind the last quoted value', ['"abc",']],
    ['an unknown escape', ['"a\\nb"']],
    ['letters beyond ASCII in quotes', ['"schlüssel"']],
    ['two different values', ['abc', 'abd']],
    ['two different values in one line', ['abc, abd']],
    ['two different quoted values', ['"abc", "abd"']],
    ['a line break', ['abc\n']],
    ['a NUL', ['a\0b']],
    ['a C1 control character', ['a\u0085b']],
  ])('refuses %s', (_, values) => {
    expect(readKey(values)).toMatchObject({ kind: 'invalid-key' })
  })
})

describe('at the door', () => {
  const anonymous = { anonymous: true } as const

  test.each(Object.entries(SOURCES))(
    '%s: a missing, blank or malformed key is a 400 without a store call',
    async (_, make) => {
      const { serve, store } = setUp(anonymous)
      const handler = serve(() => expect.unreachable())
      for (const key of [undefined, '  ', '"open', 'k'.repeat(256), '🔑'.repeat(64), 'a\ud800b', 'a,b']) {
        const answer = await handler(make({ key }))
        expect(answer.statusCode).toBe(400)
        expect(headerOf(answer, 'content-type')).toBe('application/problem+json')
        expect(JSON.parse(answer.body)).toMatchObject({
          status: 400,
          type: expect.stringMatching(/(missing|invalid)-key$/),
        })
      }
      expect(store.calls).toEqual([])
    },
  )

  test.each(['Idempotency-Key', 'IDEMPOTENCY-KEY', 'idempotency-key', 'iDEMPotency-keY'])(
    'finds the header written %s',
    async (name) => {
      const { serve, store } = setUp()
      const handler = serve(() => ({ statusCode: 201, body: '' }))
      await handler(restEvent({ key: undefined, headers: { [name]: 'abc' } }))
      await handler(restEvent({ key: 'abc' }))
      expect(store.records()).toHaveLength(1)
    },
  )

  test('finds it where only one of the two header maps is filled', async () => {
    const { serve, store } = setUp()
    const handler = serve(() => ({ statusCode: 201, body: '' }))
    await handler({ ...restEvent(), headers: null })
    await handler({ ...restEvent(), multiValueHeaders: null })
    await handler({ ...restEvent(), multiValueHeaders: undefined })
    expect(store.records()).toHaveLength(1)
  })

  test('refuses values that differ between lines or casings of the header', async () => {
    const { serve, store } = setUp()
    const handler = serve(() => expect.unreachable())
    const event = restEvent({ key: 'b' })
    const lines = { ...event, multiValueHeaders: { 'Idempotency-Key': ['a', 'b'] } }
    const casings = restEvent({ key: 'a', headers: { 'Idempotency-Key': 'b' } })
    expect((await handler(lines)).statusCode).toBe(400)
    expect((await handler(casings)).statusCode).toBe(400)
    expect(store.calls).toEqual([])
  })

  test('neither header map is no error', async () => {
    const { serve } = setUp()
    const handler = serve(() => expect.unreachable())
    expect((await handler({ ...restEvent(), headers: null, multiValueHeaders: null })).statusCode).toBe(400)
    expect((await handler({ ...restEvent(), headers: undefined, multiValueHeaders: undefined })).statusCode).toBe(400)
  })

  test('takes the key from another header when asked to', async () => {
    const { serve, store } = setUp({ header: 'X-Request-Key' })
    const handler = serve((_event, context: { operation: { key: string } }) => ({
      statusCode: 201,
      body: context.operation.key,
    }))
    const answer = await handler(httpEvent({ key: 'ignored', headers: { 'x-request-key': 'used' } }))
    expect(answer.body).toBe('used')
    expect(store.records()).toHaveLength(1)
  })

  test('an optional key that is missing leaves the request unprotected, with an operation of its own', async () => {
    const { serve, store } = setUp({ key: 'optional' })
    const keys = new Set<string>()
    const handler = serve((_event, { operation }: { operation: { key: string; id: string } }) => {
      keys.add(operation.key)
      return { statusCode: 201, body: String(keys.size) }
    })
    expect((await handler(httpEvent({ key: undefined }))).body).toBe('1')
    expect((await handler(httpEvent({ key: undefined }))).body).toBe('2')
    expect(store.calls).toEqual([])
    expect((await handler(httpEvent({ key: '"open' }))).statusCode).toBe(400)
  })

  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])('%s passes untouched, key or not', async (method) => {
    const { serve, store } = setUp()
    const handler = serve(() => 'as it is')
    expect(await handler(httpEvent({ method, sub: null }))).toBe('as it is')
    expect(await handler(httpEvent({ method, key: undefined, sub: null }))).toBe('as it is')
    expect(store.calls).toEqual([])
  })

  test('other methods are protected when listed, in any case', async () => {
    const { serve, store } = setUp({ methods: ['put'] })
    const handler = serve(() => ({ statusCode: 200, body: '' }))
    await handler(httpEvent({ method: 'PUT' }))
    await handler(httpEvent({ method: 'POST' }))
    expect(store.records()).toHaveLength(1)
  })

  test('never says the key in an answer', async () => {
    const { serve } = setUp()
    const handler = serve(() => expect.unreachable())
    const secret = 'sk_live_0123456789'
    const { body } = await handler(httpEvent({ key: `"${secret}` }))
    expect(body).not.toContain(secret)
  })
})
