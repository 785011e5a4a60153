import { describe, expect, test } from 'vitest'
import { codeOf, setUp } from './harness.ts'

const awsRequestId = '8f5d1c1e-6f0b-4b43-9d0a-2f1f6c6e8a11'
const context = { awsRequestId, getRemainingTimeInMillis: () => 30_000 }

describe('the request id of the invocation', () => {
  test.each<[string, object]>([
    ['as the key', { key: awsRequestId }],
    ['as a part of the key', { key: ['order-1', awsRequestId] }],
    ['inside the key', { key: `order-1:${awsRequestId}` }],
    ['as the scope', { key: 'order-1', scope: awsRequestId }],
    ['as a part of the scope', { key: 'order-1', scope: ['tenant-1', awsRequestId] }],
  ])('is refused %s, since a repetition has another one: nothing is claimed', async (_, name) => {
    const { idempotency, store } = setUp()
    const run = idempotency.run({ ...name, input: 1, context } as never, () => 'ran')
    await expect(run).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/^(key|scope) must not be made of the invocation’s awsRequestId.*asyncInvocation/),
    })
    expect(store.calls).toEqual([])
  })

  test('is refused from a wrapped function, too', async () => {
    const { idempotency, store } = setUp()
    const issue = idempotency.wrap((id: string) => id, { key: (id) => id, context: () => context })
    expect(await codeOf(issue(awsRequestId))).toBe('INVALID_OPTION')
    expect(store.calls).toEqual([])
  })

  test('is a key where Lambda invokes asynchronously, and keeps it over its retries', async () => {
    const { idempotency } = setUp()
    const retried = { key: ['order', awsRequestId], input: 1, context, asyncInvocation: true }
    expect(await idempotency.run(retried, () => 'first')).toMatchObject({ value: 'first', replayed: false })
    expect(await idempotency.run(retried, () => 'second')).toMatchObject({ value: 'first', replayed: true })
    const issue = idempotency.wrap((_: string) => 'third', {
      key: (id) => ['order', id],
      input: () => 1,
      context: () => context,
      asyncInvocation: true,
    })
    expect(await issue(awsRequestId)).toBe('first')
  })

  test('that is too short to be Lambda’s own may lie inside a key by chance', async () => {
    const { idempotency } = setUp()
    const local = { ...context, awsRequestId: '1' }
    expect(await codeOf(idempotency.run({ key: 'order-1', input: 1, context: local }, () => 1))).toBe('no error')
    expect(await codeOf(idempotency.run({ key: '1', input: 1, context: local }, () => 1))).toBe('INVALID_OPTION')
  })

  test('is not looked for where no context is known, or none of its ids', async () => {
    const { idempotency } = setUp()
    const without = { getRemainingTimeInMillis: () => 30_000 }
    expect(await codeOf(idempotency.run({ key: awsRequestId, input: 1 }, () => 1))).toBe('no error')
    expect(await codeOf(idempotency.run({ key: 'k', input: 1, context: without }, () => 1))).toBe('no error')
    const blank = { ...context, awsRequestId: '' }
    expect(await codeOf(idempotency.run({ key: 'l', input: 1, context: blank }, () => 1))).toBe('no error')
  })

  test.each(['yes', 1, null])('asyncInvocation: %j is refused', async (asyncInvocation) => {
    const { idempotency } = setUp()
    const run = idempotency.run({ key: 'k', input: 1, asyncInvocation } as never, () => 1)
    await expect(run).rejects.toThrow(/asyncInvocation must be true or false; got/)
  })
})

describe('what an async function gave by mistake is refused, and nothing is claimed:', () => {
  const promise = () => Promise.resolve('order-1')
  const failing = () => Promise.reject(new Error('No such tenant.'))

  test.each<[string, () => object]>([
    ['key', () => ({ key: promise(), input: 1 })],
    ['key', () => ({ key: failing(), input: 1 })],
    ['key', () => ({ key: ['order', failing()], input: 1 })],
    ['scope', () => ({ key: 'k', scope: failing(), input: 1 })],
    ['scope', () => ({ key: 'k', scope: ['tenant', failing()], input: 1 })],
    ['input', () => ({ key: 'k', input: failing() })],
    ['context', () => ({ key: 'k', input: 1, context: failing() })],
  ])('%s', async (name, request) => {
    const { idempotency, store } = setUp()
    await expect(idempotency.run(request() as never, () => 1)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(`${name} must be known at once; got a promise`),
    })
    expect(store.calls).toEqual([])
  })

  test.each(['key', 'scope', 'input', 'context'])('%s of a wrapped function', async (name) => {
    const { idempotency, store } = setUp()
    const options = { key: (id: string) => id, [name]: failing }
    await expect(idempotency.wrap((id: string) => id, options as never)('k')).rejects.toThrow(
      `${name} must be known at once; got a promise`,
    )
    expect(store.calls).toEqual([])
  })
})
