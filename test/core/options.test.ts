import { describe, expect, expectTypeOf, test } from 'vitest'
import { createIdempotency, DEFAULTS, type IdempotencyOptions } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'

const create = (options: object) => () =>
  createIdempotency({ store: memoryStore(), namespace: 'payments', ...options } as IdempotencyOptions)

describe('a wrong option is refused at construction, by name, with what was expected and what came', () => {
  test.each<[object, RegExp]>([
    [{ store: undefined }, /store must be a Store, such as dynamoStore\(\{ tableName \}\); got undefined/],
    [{ store: {} }, /store must be a Store.*got an object/],
    [{ namespace: undefined }, /namespace must be 1 to 64 letters.*got undefined/],
    [{ namespace: '' }, /namespace must be.*got ""/],
    [{ namespace: 'a#b' }, /namespace must be.*got "a#b"/],
    [{ retentionSeconds: 0 }, /retentionSeconds must be a number of seconds, at least 1; got 0/],
    [{ retentionSeconds: -1 }, /retentionSeconds.*got -1/],
    [{ retentionSeconds: Number.NaN }, /retentionSeconds.*got NaN/],
    [{ retentionSeconds: '60' }, /retentionSeconds.*got "60"/],
    [{ retentionSeconds: 86_400_000 }, /retentionSeconds is in seconds.*looks like milliseconds. Did you mean 86400\?/],
    [{ unfinishedRetentionSeconds: 1e12 }, /unfinishedRetentionSeconds is in seconds/],
    [{ leaseSeconds: 0 }, /leaseSeconds must be a number of seconds, at least 1; got 0/],
    [{ clockSkewSeconds: -1 }, /clockSkewSeconds.*at least 0; got -1/],
    [{ takeover: 'sometimes' }, /takeover must be "auto" or "never"; got "sometimes"/],
    [{ effects: true }, /effects must be "anywhere" or "steps-only"; got true/],
    [{ onStoreError: 'ignore' }, /onStoreError must be "closed" or "open"; got "ignore"/],
    [{ onError: 'fail' }, /onError must be a function; got "fail"/],
    [{ store: 'table' }, /store must be a Store.*got "table"\./],
    [{ inFlight: { waitSeconds: 1, foo: 1 } }, /inFlight has no option "foo"\. It takes: waitSeconds\./],
    [{ inFlight: {} }, /inFlight must be "reject" or \{ waitSeconds \}; got an object/],
    [{ clock: {} }, /clock must have now\(\) and wait\(\); got an object/],
    [{ clock: null }, /clock must have now\(\) and wait\(\); got null/],
    [{ tracing: {} }, /tracing must be a Tracing.*got an object/],
    [{ observer: {} }, /observer must be a function; got an object/],
    [{ retentionSecond: 60 }, /createIdempotency has no option "retentionSecond"\. It takes: store, namespace/],
  ])('%j', (options, message) => {
    expect(create(options)).toThrow(message)
  })

  test('so is no options object at all', () => {
    expect(() => createIdempotency(undefined as never)).toThrow(/expects an options object; got undefined/)
  })
})

describe('a wrong call of run is refused before anything is claimed', () => {
  const store = memoryStore()
  const idempotency = createIdempotency({ store, namespace: 'payments' })
  test.each<[string, object, string]>([
    ['no key', { key: undefined, input: 1 }, 'MISSING_KEY'],
    ['a blank key', { key: ' ', input: 1 }, 'MISSING_KEY'],
    ['a key with a gap', { key: ['a', null], input: 1 }, 'MISSING_KEY'],
    ['a key of another type', { key: {}, input: 1 }, 'INVALID_KEY'],
    ['neither input nor fingerprint', { key: 'k' }, 'INVALID_OPTION'],
    ['both', { key: 'k', input: 1, fingerprint: 'f' }, 'INVALID_OPTION'],
    ['an empty fingerprint', { key: 'k', fingerprint: '' }, 'INVALID_OPTION'],
    ['an input without a canonical form', { key: 'k', input: () => 1 }, 'INVALID_INPUT'],
    ['a scope part of another type', { key: 'k', input: 1, scope: [1] }, 'INVALID_OPTION'],
  ])('%s', async (_name, request, code) => {
    await expect(idempotency.run(request as never, () => 1)).rejects.toMatchObject({ code })
    expect(store.records()).toEqual([])
  })

  test('an input that is undefined is an input', async () => {
    expect((await idempotency.run({ key: 'u', input: undefined }, () => 1)).value).toBe(1)
  })
})

test('options do not leak between two users of one store', async () => {
  const store = memoryStore()
  const short = createIdempotency({ store, namespace: 'short', retentionSeconds: 60 })
  const long = createIdempotency({ store, namespace: 'long', retentionSeconds: 600 })
  await short.run({ key: 'k', input: 1 }, () => 1)
  await long.run({ key: 'k', input: 1 }, () => 1)
  const [a, b] = store.records()
  expect((b?.expiresAt ?? 0) - (a?.expiresAt ?? 0)).toBeGreaterThanOrEqual(540)
  expect([a?.id.split('#')[0], b?.id.split('#')[0]]).toEqual(['short', 'long'])
})

test('the defaults are frozen', () => {
  expect(Object.isFrozen(DEFAULTS)).toBe(true)
})

test('what a user writes is inferred', () => {
  const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })
  const run = () => idempotency.run({ key: 'k', input: 1 }, async ({ attempt }) => ({ attempt, paid: true }))
  expectTypeOf<Awaited<ReturnType<typeof run>>['value']>().toEqualTypeOf<{ attempt: number; paid: boolean }>()
  const once = idempotency.wrap((order: { id: string }, _dry: boolean) => order.id.length, { key: (order) => order.id })
  expectTypeOf(once).toEqualTypeOf<(order: { id: string }, dry: boolean) => Promise<number>>()
  // @ts-expect-error the namespace is required
  expect(() => createIdempotency({ store: memoryStore() })).toThrow()
})
