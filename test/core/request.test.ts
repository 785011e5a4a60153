import { describe, expect, test } from 'vitest'
import { engineOf } from '../../lib/idempotency/idempotency.ts'
import { createIdempotency } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fingerprintOf, fingerprintValue, NO_FINGERPRINT } from '../../lib/record/fingerprint.ts'
import { operationId } from '../../lib/record/identity.ts'
import { fakeClock } from './fake-clock.ts'

const clock = fakeClock()
const store = memoryStore()
const engine = engineOf(createIdempotency({ store, namespace: 'orders', clock }))
const common = { key: 'k', fingerprint: false, contract: 'answer' } as const

describe('a request made by the engine', () => {
  test('has its key normalized and its id made of namespace, scope and key', () => {
    expect(engine.request({ ...common, key: 7, scope: 'tenant' })).toEqual({
      id: operationId('orders', ['tenant'], '7'),
      key: '7',
      fingerprint: NO_FINGERPRINT,
      contract: 'answer',
    })
    expect(engine.request({ ...common, scope: ['tenant'] }).id).toBe(engine.request({ ...common, scope: 'tenant' }).id)
    expect(engine.request(common).id).toBe(engine.request({ ...common, scope: [] }).id)
  })

  test('fingerprints a value, a text or nothing', () => {
    expect(engine.request({ ...common, fingerprint: { value: { b: 1, a: 2 } } }).fingerprint).toBe(
      fingerprintValue({ a: 2, b: 1 }),
    )
    expect(engine.request({ ...common, fingerprint: { text: 'x' } }).fingerprint).toBe(fingerprintOf('x'))
    expect(engine.request({ ...common, fingerprint: { value: undefined } }).fingerprint).not.toBe(NO_FINGERPRINT)
  })

  test.each([0, -5, 3_000])('ends %i ms from now', (remainingMs) => {
    expect(engine.request({ ...common, remainingMs })).toHaveProperty('deadlineMs', clock.now() + remainingMs)
    expect(engine.request({ ...common, remainingMs: undefined })).not.toHaveProperty('deadlineMs')
  })

  test.each<[string, object, string]>([
    ['no key', { key: ' ' }, 'MISSING_KEY'],
    ['a key that is none', { key: {} }, 'INVALID_KEY'],
    ['a key too long', { key: 'k'.repeat(256) }, 'INVALID_KEY'],
    ['a scope that is a number', { scope: 5 }, 'INVALID_OPTION'],
    ['a scope that is a promise', { scope: Promise.resolve('a') }, 'INVALID_OPTION'],
    ['a value that has no canonical form', { fingerprint: { value: () => 1 } }, 'INVALID_INPUT'],
  ])('is refused for %s', (_, part, code) => {
    expect(() => engine.request({ ...common, ...part } as never)).toThrow(expect.objectContaining({ code }))
  })
})

test('an unprotected execution runs with an operation of its own, and writes nothing', async () => {
  const execution = engine.unprotected(engine.request({ ...common, key: 'own' }))
  expect(execution.operation).toMatchObject({ key: 'own', attempt: 1 })
  expect(await execution.operation.step('count', () => 5)).toBe(5)
  expect(await execution.complete(1)).toEqual({ kind: 'unprotected' })
  expect(store.records()).toEqual([])
})

test('an unprotected step checks and obeys its options as any other', async () => {
  const timed = engineOf(createIdempotency({ store, namespace: 'orders', random: () => 0 }))
  const { operation } = timed.unprotected(timed.request({ ...common, key: 'own' }))
  await expect(operation.step('', () => 1)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  let calls = 0
  const work = () => {
    calls++
    if (calls === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    return 'done'
  }
  expect(await operation.step('charge', work, { retry: { maxAttempts: 2 } })).toBe('done')
})
