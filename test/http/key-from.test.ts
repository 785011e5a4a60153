import { describe, expect, test } from 'vitest'
import { idempotentHttp } from '../../lib/http/index.ts'
import { InvalidKeyError } from '../../lib/index.ts'
import { allOf, body, firstOf, header } from '../../lib/keys/index.ts'
import { httpEvent, SOURCES } from './events.ts'
import { headerOf, setUp } from './harness.ts'

describe('a key that is found elsewhere than in its header', () => {
  test.each(Object.entries(SOURCES))('names the operation, on %s', async (_name, make) => {
    const keys: string[] = []
    const { serve } = setUp({ keyFrom: body((order: { id: string }) => order.id), anonymous: true })
    const handler = serve(async (_event, { operation }: never) => {
      keys.push((operation as { key: string }).key)
      return { statusCode: 201, body: '' }
    })
    const event = () => make({ key: undefined, body: '{"id":"o-1"}' })
    await handler(event())
    expect(headerOf(await handler(event()), 'Idempotent-Replayed')).toBe('true')
    expect(keys).toEqual(['o-1'])
  })

  test('may be composed, of parts that never run into each other', async () => {
    const ran: unknown[] = []
    const { serve } = setUp({ keyFrom: allOf(header('x-shop'), header('x-id')) })
    const handler = serve(async () => {
      ran.push('ran')
      return { statusCode: 201, body: '' }
    })
    const from = (shop: string, id: string) => httpEvent({ key: undefined, headers: { 'x-shop': shop, 'x-id': id } })
    for (const event of [from('ab', 'c'), from('a', 'bc'), from('ab', 'c')]) await handler(event)
    expect(ran).toHaveLength(2)
  })

  test.each([undefined, null, '', ' \t', [], ['a', null], ['a', ' ']])(
    'is missing, and nothing is asked of the store: %j',
    async (key) => {
      const { serve, store } = setUp({ keyFrom: () => key as never })
      const answer = await serve(() => ({ statusCode: 201 }))(httpEvent())
      expect(answer).toMatchObject({ statusCode: 400 })
      expect(JSON.parse(answer.body).type).toMatch(/missing-key$/)
      const optional = setUp({ keyFrom: () => key as never, key: 'optional' })
      expect(await optional.serve(() => ({ statusCode: 201 }))(httpEvent())).toMatchObject({ statusCode: 201 })
      expect([store.calls, optional.store.calls]).toEqual([[], []])
    },
  )

  test.each<[string, () => unknown]>([
    [
      'that the function refuses',
      () => {
        throw new InvalidKeyError('No key.')
      },
    ],
    ['that is too long', () => 'k'.repeat(256)],
    ['that is no valid Unicode', () => '\ud800'],
    ['that is an object', () => ({ id: 1 })],
    ['that is a number which has lost digits', () => 2 ** 53],
  ])('%s is answered with 400', async (_name, keyFrom) => {
    const { serve, store } = setUp({ keyFrom: keyFrom as never })
    const answer = await serve(() => ({ statusCode: 201 }))(httpEvent())
    expect(answer).toMatchObject({ statusCode: 400 })
    expect(JSON.parse(answer.body).type).toMatch(/invalid-key$/)
    expect(store.calls).toEqual([])
  })

  test.each<[string, () => unknown, RegExp]>([
    ['a promise', async () => 'k', /^key must be known at once/],
    [
      'the invocation’s id',
      ((_event: unknown, { awsRequestId }: { awsRequestId: string }) => awsRequestId) as never,
      /awsRequestId/,
    ],
  ])('is an error of the set-up when it is %s', async (_name, keyFrom, message) => {
    const { serve } = setUp({ keyFrom: keyFrom as never })
    await expect(serve(() => ({ statusCode: 201 }))(httpEvent())).rejects.toThrow(message)
  })

  test('what it throws otherwise passes, and nothing runs', async () => {
    const { serve, store } = setUp({
      keyFrom: () => {
        throw new RangeError('a bug')
      },
    })
    await expect(serve(() => ({ statusCode: 201 }))(httpEvent())).rejects.toThrow('a bug')
    expect(store.calls).toEqual([])
  })

  test('excludes the header’s name', () => {
    const { options } = setUp()
    const both = { ...options, header: 'X-Key', keyFrom: header('x-other') }
    expect(() => idempotentHttp(both as never)).toThrow(/^header and keyFrom exclude each other/)
    expect(() => idempotentHttp({ ...options, keyFrom: 'x-key' as never })).toThrow(/^keyFrom must be a function/)
  })

  test('may fall back to the header', async () => {
    const { serve } = setUp({ keyFrom: firstOf(header('x-order'), header('idempotency-key')) })
    const handler = serve((_event, { operation }: never) => ({
      statusCode: 201,
      body: (operation as { key: string }).key,
    }))
    expect((await handler(httpEvent({ key: 'k-1' }))).body).toBe('k-1')
  })
})
