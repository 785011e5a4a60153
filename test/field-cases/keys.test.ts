import { describe, expect, test } from 'vitest'
import { createIdempotency } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { codeOf, setUp as core } from '../core/harness.ts'
import { httpEvent, restEvent } from '../http/events.ts'
import { headerOf, setUp } from '../http/harness.ts'

const created = () => ({ statusCode: 201, body: '' })

/** How many operations these requests are. */
async function operations(...events: unknown[]): Promise<number> {
  const { serve, store } = setUp()
  const handler = serve(created)
  for (const event of events) await handler(event)
  return store.records().length
}

describe('Keys and scopes', () => {
  test('A proxy changed the casing of the header’s name: it is found in any', async () => {
    const named = (name: string) => restEvent({ key: undefined, headers: { [name]: 'k-1' } })
    expect(await operations(named('IDEMPOTENCY-KEY'), named('idempotency-key'), named('Idempotency-Key'))).toBe(1)
  })

  test('The draft has the key in quotes, most clients send it bare: both are one key, and half a quote is none', async () => {
    expect(await operations(httpEvent({ key: '"abc"' }), httpEvent({ key: 'abc' }), httpEvent({ key: ' abc ' }))).toBe(
      1,
    )
    const { serve } = setUp()
    expect((await serve(created)(httpEvent({ key: '"abc' }))).statusCode).toBe(400)
  })

  test('Lengths were counted in characters where the store counts bytes: the limit is 255 bytes, before any call', async () => {
    const { serve, store } = setUp()
    const handler = serve(created)
    for (const key of ['k'.repeat(300), '🔑'.repeat(128), 'k'.repeat(256)]) {
      expect((await handler(httpEvent({ key }))).statusCode).toBe(400)
    }
    expect(store.calls).toEqual([])
    for (const key of ['🔑'.repeat(63), 'k'.repeat(255)])
      expect((await handler(httpEvent({ key }))).statusCode).toBe(201)
  })

  test('A missing key was hashed, and everybody without one shared a record: it is no claim', async () => {
    for (const key of [undefined, '', '   ', '""', '" "']) {
      const { serve, store } = setUp()
      expect((await serve(created)(httpEvent({ key }))).statusCode).toBe(400)
      expect(store.calls).toEqual([])
    }
    const { idempotency, store } = core()
    for (const key of [undefined, null, '', ' ', [], ['a', undefined]]) {
      expect(await codeOf(idempotency.run({ key, input: 1 }, () => 1))).toBe('MISSING_KEY')
    }
    expect(store.calls).toEqual([])
  })

  test('Another user, or another endpoint, got the stored answer: caller, method and path are part of the name', async () => {
    expect(await operations(restEvent({ sub: 'a' }), restEvent({ sub: 'b' }))).toBe(2)
    expect(await operations(httpEvent({ path: '/a' }), httpEvent({ path: '/b' }))).toBe(2)
    expect(await operations(httpEvent({ method: 'POST' }), httpEvent({ method: 'PATCH' }))).toBe(2)
    const { serve } = setUp()
    await expect(serve(created)(httpEvent({ sub: null }))).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })

  test('The name of a function was a part of the key, and a minifier changed it: the namespace is said', async () => {
    const store = memoryStore()
    const idempotency = createIdempotency({ store, namespace: 'orders' })
    await idempotency.run({ key: 'k', input: 1 }, function placeOrder() {})
    await idempotency.run({ key: 'k', input: 1 }, function a() {})
    expect(store.records()).toHaveLength(1)
    expect(() => createIdempotency({ store } as never)).toThrow(/namespace/)
  })

  test('Parts joined by a separator ran into each other: each is kept apart by its length', async () => {
    const { idempotency, memory } = core()
    for (const scope of [
      ['a|b', 'c'],
      ['a', 'b|c'],
      ['', 'x'],
      ['x', ''],
    ]) {
      await idempotency.run({ key: 'k', scope, input: 1 }, () => 1)
    }
    expect(memory.records()).toHaveLength(4)
  })

  test('An empty text as a key made the store fail with 500: it never gets there', async () => {
    const { serve, store } = setUp()
    expect((await serve(created)(httpEvent({ key: '' }))).statusCode).toBe(400)
    expect(store.calls).toEqual([])
  })

  test('A numeric id beyond 2^53 had been rounded, and was its neighbour’s key as well: it is refused', async () => {
    const { idempotency } = core()
    const parsed = JSON.parse('{"id":9007199254740993}') as { id: number }
    expect(await codeOf(idempotency.run({ key: parsed.id, input: 1 }, () => 1))).toBe('INVALID_KEY')
    expect(await codeOf(idempotency.run({ key: 9007199254740993n, input: 1 }, () => 1))).toBe('no error')
    expect(await codeOf(idempotency.run({ key: 2 ** 53 - 1, input: 1 }, () => 1))).toBe('no error')
  })

  test('A replay says that it is one', async () => {
    const { serve } = setUp()
    const handler = serve(created)
    expect(headerOf(await handler(httpEvent()), 'Idempotent-Replayed')).toBeUndefined()
    expect(headerOf(await handler(httpEvent()), 'Idempotent-Replayed')).toBe('true')
  })
})
