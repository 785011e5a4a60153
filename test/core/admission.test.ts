import { describe, expect, test } from 'vitest'
import { type AcquireOptions, type AdmittedKey, RetryLater } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { setUpCommits } from './commit-harness.ts'
import { codeOf, ORDER } from './harness.ts'

const KEY = 'invoice:7:issue:v1'
const HOUR: AcquireOptions = { ttlSeconds: 3600 }
const INVOCATION = { getRemainingTimeInMillis: () => 10_000 }

async function held(h: ReturnType<typeof setUpCommits>, options = HOUR): Promise<AdmittedKey> {
  const admission = await h.idempotency.acquire(KEY, options)
  if (!admission.admitted) throw new Error('The key is taken.')
  return admission
}

describe('acquire', () => {
  test('admits once, and tells the others who holds the key, since when and until when', async () => {
    const { idempotency, clock, record, events } = setUpCommits()
    const startMs = clock.now()
    const metadata = { operation: 'issue-invoice' }
    const admission = await idempotency.acquire(KEY, { ttlSeconds: 3600, metadata })
    // Free by every clock: the skew that two of them may have is added.
    expect(admission).toMatchObject({ admitted: true, until: new Date(startMs + 3_601_000) })
    clock.advance(10_000)
    expect(await idempotency.acquire(KEY, { ttlSeconds: 60, metadata: { operation: 'other' } })).toEqual({
      admitted: false,
      isConfirmed: false,
      metadata,
      since: new Date(startMs),
      until: new Date(startMs + 3_601_000),
    })
    expect(record()).toMatchObject({ takeover: 'never', expiresAt: startMs / 1000 + 3600, isAdmission: true })
    expect(events.map(({ type }) => type)).toEqual(['claimed', 'conflicted'])
  })

  test('admits one of many at the same time', async () => {
    const { idempotency } = setUpCommits()
    const all = await Promise.all(Array.from({ length: 50 }, () => idempotency.acquire(KEY, HOUR)))
    expect(all.filter(({ admitted }) => admitted)).toHaveLength(1)
  })

  test('keeps keys of two scopes apart', async () => {
    const { idempotency } = setUpCommits()
    const scoped = (scope: string) => idempotency.acquire({ key: KEY, scope }, HOUR)
    const all = [await scoped('a'), await scoped('b'), await scoped('a'), await idempotency.acquire(KEY, HOUR)]
    expect(all.map(({ admitted }) => admitted)).toEqual([true, true, false, true])
  })

  test('admits again when the time is over, with a later fence, and not before', async () => {
    const h = setUpCommits()
    const first = await held(h)
    h.clock.advance(3_600_000)
    expect((await h.idempotency.acquire(KEY, HOUR)).admitted).toBe(false)
    h.clock.advance(2_000)
    const second = await held(h)
    expect(second.fence > first.fence).toBe(true)
  })

  test('is not in the index of the reconciler', async () => {
    const h = setUpCommits()
    await held(h)
    expect(h.record()).not.toHaveProperty('dueShard')
  })

  test('recognises its own claim whose answer was lost', async () => {
    const h = setUpCommits({}, { faults: { put: ['answer-lost'] } })
    expect((await held(h)).admitted).toBe(true)
  })

  test.each(['refused', 'not-applied'] as const)('admits nobody when the store answers %s', async (fault) => {
    const faults = { put: Array.from({ length: 9 }, () => fault), get: Array.from({ length: 9 }, () => fault) }
    const { idempotency, memory } = setUpCommits({ onStoreError: 'open' }, { faults })
    expect(await codeOf(idempotency.acquire(KEY, HOUR))).toBe('STORE_UNAVAILABLE')
    expect(memory.records()).toEqual([])
  })

  test('with a store that may only be read says what is missing', async () => {
    const { idempotency } = setUpCommits({}, { faults: { put: ['refused'] } })
    await expect(idempotency.acquire(KEY, HOUR)).rejects.toThrow(/Access denied/)
  })

  test.each<[string, unknown, string]>([
    ['no time', {}, 'INVALID_OPTION'],
    ['milliseconds', { ttlSeconds: 86_400_000 }, 'INVALID_OPTION'],
    ['less than a second', { ttlSeconds: 0.5 }, 'INVALID_OPTION'],
    ['an unknown option', { ttlSeconds: 1, ttl: 1 }, 'INVALID_OPTION'],
    ['metadata that are no texts', { ttlSeconds: 1, metadata: { n: 1 } }, 'INVALID_OPTION'],
    [
      'metadata with a name that no item can have',
      { ttlSeconds: 1, metadata: JSON.parse('{"__proto__":"x"}') },
      'INVALID_OPTION',
    ],
    ['large metadata', { ttlSeconds: 1, metadata: { note: 'x'.repeat(990) } }, 'INVALID_OPTION'],
    ['metadata that are a list', { ttlSeconds: 1, metadata: [1] }, 'INVALID_OPTION'],
  ])('refuses %s', async (_name, options, code) => {
    const { idempotency, store } = setUpCommits()
    expect(await codeOf(idempotency.acquire(KEY, options as AcquireOptions))).toBe(code)
    expect(store.calls).toEqual([])
  })

  test('refuses a missing key', async () => {
    const { idempotency, store } = setUpCommits()
    for (const key of ['', ' ', [null]])
      expect(await codeOf(idempotency.acquire(key as never, HOUR))).toBe('MISSING_KEY')
    expect(store.calls).toEqual([])
  })
})

describe('release', () => {
  test('gives the key back', async () => {
    const h = setUpCommits()
    const first = await held(h)
    expect(await first.release()).toBe(true)
    const second = await held(h)
    expect(second.fence > first.fence).toBe(true)
  })

  test('that comes after the time was over and another has the key removes nothing', async () => {
    const h = setUpCommits()
    const first = await held(h)
    h.clock.advance(3_602_000)
    const second = await held(h)
    const before = h.record()
    expect(await first.release()).toBe(false)
    expect(h.record()).toEqual(before)
    expect((await h.idempotency.acquire(KEY, HOUR)).admitted).toBe(false)
    expect(await second.release()).toBe(true)
  })

  test('of a key that is gone says so', async () => {
    const h = setUpCommits()
    const admission = await held(h)
    h.memory.remove(h.record()?.id ?? '')
    expect(await admission.release()).toBe(false)
    expect(h.memory.records()).toEqual([])
  })

  test('of a key that was confirmed removes nothing', async () => {
    const h = setUpCommits()
    const admission = await held(h)
    await admission.confirm('receipt')
    expect(await admission.release()).toBe(false)
    expect(await h.idempotency.acquire(KEY, HOUR)).toMatchObject({ admitted: false, isConfirmed: true })
  })

  test('recognises its own write whose answer was lost', async () => {
    const h = setUpCommits({}, { faults: { update: ['answer-lost'] } })
    expect(await (await held(h)).release()).toBe(true)
  })

  test('that cannot be told throws, and the key expires by itself', async () => {
    const h = setUpCommits({}, { faults: { update: Array.from({ length: 500 }, () => 'not-applied' as const) } })
    expect(await codeOf((await held(h)).release())).toBe('STORE')
    h.clock.advance(3_602_000)
    expect((await held(h)).admitted).toBe(true)
  })
})

describe('confirm', () => {
  test('in time keeps the key taken until its time is over, and the receipt longer', async () => {
    const h = setUpCommits()
    const admission = await held(h)
    expect(await admission.confirm({ invoice: 7 })).toBe('confirmed')
    expect(await h.idempotency.acquire(KEY, HOUR)).toMatchObject({ admitted: false, isConfirmed: true })
    h.clock.advance(3_600_000)
    expect((await held(h)).admitted).toBe(true)
    expect(await h.idempotency.receipts({ key: KEY })).toMatchObject([{ kind: 'confirmed', value: { invoice: 7 } }])
  })

  test('after the time was over is late, and the receipt is kept all the same', async () => {
    const h = setUpCommits()
    const admission = await held(h)
    h.clock.advance(3_600_000)
    expect(await admission.confirm('late')).toBe('late')
    expect(h.record()?.status).toBe('IN_PROGRESS')
    expect(await h.idempotency.receipts({ key: KEY })).toMatchObject([{ kind: 'late', value: 'late' }])
  })

  test('after another took the key touches nothing of his', async () => {
    const h = setUpCommits()
    const first = await held(h)
    h.clock.advance(3_602_000)
    await held(h)
    const before = h.record()
    expect(await first.confirm('first')).toBe('late')
    expect(h.record()).toEqual(before)
  })

  test('by a clock that is behind, after another took the key, is late', async () => {
    const memory = memoryStore()
    const slow = setUpCommits({ store: memory })
    const first = await held(slow)
    const other = setUpCommits({ store: memory })
    other.clock.advance(3_602_000)
    await held(other)
    const [before] = memory.records()
    expect(await first.confirm('first')).toBe('late')
    expect(memory.records()).toEqual([before])
  })

  test('of a key that was released is late', async () => {
    const h = setUpCommits()
    const admission = await held(h)
    await admission.release()
    expect(await admission.confirm()).toBe('late')
  })

  test.each(['answer-lost', 'not-applied'] as const)('that meets %s is written once', async (fault) => {
    const h = setUpCommits({}, { faults: { commit: [fault] } })
    const admission = await held(h)
    expect(await admission.confirm('receipt')).toBe('confirmed')
    expect(await h.idempotency.receipts({ key: KEY })).toHaveLength(1)
  })

  test('with a receipt that cannot be stored names the path, and the key stays held', async () => {
    const h = setUpCommits()
    const admission = await held(h)
    await expect(admission.confirm({ a: { f: () => 1 } })).rejects.toThrow(/\.a\.f/)
    expect(h.record()?.status).toBe('IN_PROGRESS')
    expect(await h.idempotency.receipts({ key: KEY })).toEqual([])
    expect(await admission.confirm({ a: 1 })).toBe('confirmed')
  })
})

describe('one key, as an admission and as an operation', () => {
  test('is refused to acquire while the operation runs, and after it', async () => {
    const { idempotency } = setUpCommits()
    await idempotency.run(ORDER, async () => {
      expect(await idempotency.acquire(ORDER.key, HOUR)).toMatchObject({ admitted: false, isConfirmed: false })
    })
    const after = await idempotency.acquire(ORDER.key, HOUR)
    expect(after).toMatchObject({ admitted: false, isConfirmed: true })
    expect(after).not.toHaveProperty('until')
  })

  test.each<[string, (h: ReturnType<typeof setUpCommits>) => Promise<unknown>]>([
    [
      'may be resumed',
      ({ idempotency }) =>
        codeOf(
          idempotency.run(ORDER, async ({ step }) => {
            await step('charge', () => 'charged')
            throw new RetryLater()
          }),
        ),
    ],
    [
      'has crashed',
      async ({ idempotency, clock }) => {
        void idempotency.run({ ...ORDER, context: INVOCATION }, async ({ step }) => {
          await step('charge', () => 'charged')
          return new Promise(() => undefined)
        })
        await new Promise((resolve) => setTimeout(resolve))
        clock.advance(20_000)
      },
    ],
  ])('does not take an unfinished operation over that %s', async (_name, prepare) => {
    const h = setUpCommits()
    await prepare(h)
    const before = h.record()
    expect(before?.steps).toHaveProperty('charge')
    expect((await h.idempotency.acquire(ORDER.key, HOUR)).admitted).toBe(false)
    expect(h.record()).toEqual(before)
    const { value } = await h.idempotency.run(ORDER, ({ step }) => step('charge', () => 'charged twice'))
    expect(value).toBe('charged')
  })

  test('is in progress to run while it is held, and never answered with the receipt', async () => {
    const h = setUpCommits()
    const admission = await held(h)
    const run = () => h.idempotency.run({ key: KEY, input: 1 }, () => 'ran')
    expect(await codeOf(run())).toBe('IN_PROGRESS')
    await admission.confirm('receipt')
    expect(await codeOf(run())).toBe('MISMATCH')
    h.clock.advance(3_602_000)
    expect((await run()).value).toBe('ran')
  })

  test('settle leaves alone what is held, and does not take a key again that is free', async () => {
    const h = setUpCommits()
    await held(h)
    expect(await h.idempotency.settle({ key: KEY }, { value: 1 })).toBe('in-progress')
    h.clock.advance(3_602_000)
    expect(await h.idempotency.settle({ key: KEY }, { value: 1 })).toBe('not-found')
    expect(await h.idempotency.acquire(KEY, HOUR)).toMatchObject({ admitted: true })
  })

  test('a second confirmation keeps its receipt, too', async () => {
    const h = setUpCommits()
    const admission = await h.idempotency.acquire(KEY, HOUR)
    if (!admission.admitted) throw new Error('not admitted')
    expect(await admission.confirm('A')).toBe('confirmed')
    h.clock.advance(1)
    expect(await admission.confirm('B')).toBe('confirmed')
    expect((await h.idempotency.receipts({ key: KEY })).map(({ value }) => value)).toEqual(['A', 'B'])
  })
})
