import { describe, expect, test } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { CACHE_DEFAULTS, cachedStore } from '../../lib/cache/index.ts'
import { idempotent } from '../../lib/http/index.ts'
import { PermanentError, RetryLater, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import type { Condition } from '../../lib/record/store.ts'
import { absentAt, aRecord, completion, likelyTakenAt, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { event, invocation, message, redelivered } from '../batch/sqs-event.ts'
import { codeOf, ORDER } from '../core/harness.ts'
import { httpEvent, lambdaContext } from '../http/events.ts'
import { headerOf } from '../http/harness.ts'
import { process } from './set-up.ts'

const LARGE = crypto.getRandomValues(new Uint8Array(50_000)).toString()

describe('a repetition is answered without a request', () => {
  test.each([1, undefined, null, { at: new Date(0) }, LARGE])('of what this process has run: %.20j', async (value) => {
    const { idempotency, asked } = process()
    await idempotency.run(ORDER, () => value)
    asked()
    expect(await idempotency.run(ORDER, () => 'again')).toEqual({ value, replayed: true, attempt: 1 })
    expect(asked()).toEqual([])
  })

  test('of what another process has run, from the second on', async () => {
    const first = process()
    const { idempotency, asked } = process({ store: first.store, clock: first.clock })
    await first.idempotency.run(ORDER, () => LARGE)
    expect(await idempotency.run(ORDER, () => 'again')).toMatchObject({ value: LARGE, replayed: true })
    expect(asked()).toEqual(['put', 'getParts'])
    expect(await idempotency.run(ORDER, () => 'again')).toMatchObject({ value: LARGE, replayed: true })
    expect(asked()).toEqual([])
  })

  test('of what has failed', async () => {
    const { idempotency, asked } = process()
    const refused = () => idempotency.run(ORDER, () => Promise.reject(new PermanentError('no')))
    await expect(refused()).rejects.toThrow('no')
    asked()
    expect([await codeOf(refused()), await codeOf(refused())]).toEqual(['OPERATION_FAILED', 'OPERATION_FAILED'])
    expect(asked()).toEqual([])
  })

  test('of what was taken over and has steps', async () => {
    const { idempotency, asked } = process()
    let attempts = 0
    const work = () =>
      idempotency.run(ORDER, async ({ step }) => {
        attempts += 1
        const charge = await step('charge', () => 'ch_1')
        if (attempts === 1) throw new RetryLater('busy')
        return charge
      })
    await expect(work()).rejects.toThrow('busy')
    expect(await work()).toMatchObject({ value: 'ch_1', attempt: 2 })
    asked()
    expect(await work()).toMatchObject({ value: 'ch_1', attempt: 2, replayed: true })
    expect([asked(), attempts]).toEqual([[], 2])
  })

  test('also while the store cannot be reached', async () => {
    let isDown = false
    const store = memoryStore()
    const { idempotency } = process({
      store: {
        ...store,
        async put(...args) {
          if (isDown) throw new StoreError('The store is down.', { retryable: false })
          return store.put(...args)
        },
      },
    })
    await idempotency.run(ORDER, () => 'done')
    isDown = true
    expect(await codeOf(idempotency.run({ ...ORDER, key: 'other' }, () => 1))).toBe('STORE_UNAVAILABLE')
    expect(await idempotency.run(ORDER, () => 'again')).toMatchObject({ value: 'done', replayed: true })
  })

  test('and is the first answer byte for byte, over HTTP', async () => {
    const { idempotency, asked } = process()
    const handler = idempotent({ idempotency }, () => ({
      statusCode: 201,
      headers: { a: 'b' },
      body: '{"b":1, "a":2}',
    }))
    const first = await handler(httpEvent(), lambdaContext())
    asked()
    const replay = await handler(httpEvent(), lambdaContext())
    expect(headerOf(replay as never, 'Idempotent-Replayed')).toBe('true')
    expect(replay).toMatchObject({ ...first, headers: { a: 'b' } })
    expect(asked()).toEqual([])
  })
})

describe('what is remembered is never anybody else’s', () => {
  test('another request under the same key is a mismatch, and is told so without a request', async () => {
    const { idempotency, asked } = process()
    await idempotency.run(ORDER, () => 1)
    asked()
    expect(await codeOf(idempotency.run({ ...ORDER, input: { amount: 999 } }, () => 2))).toBe('MISMATCH')
    expect(asked()).toEqual([])
  })

  test('two tenants with one key and one request have an outcome each', async () => {
    const { idempotency, asked } = process()
    const of = (scope: string) => idempotency.run({ ...ORDER, scope }, () => scope)
    for (const tenant of ['a', 'b']) expect(await of(tenant)).toMatchObject({ value: tenant, replayed: false })
    asked()
    for (const tenant of ['a', 'b']) expect(await of(tenant)).toMatchObject({ value: tenant, replayed: true })
    expect(asked()).toEqual([])
  })

  test('nobody can change it', async () => {
    const { idempotency } = process()
    await idempotency.run(ORDER, () => ({ list: [1] }))
    const { value } = (await idempotency.run(ORDER, () => ({ list: [0] }))) as { value: { list: number[] } }
    value.list.push(2)
    expect(await idempotency.run(ORDER, () => 'again')).toMatchObject({ value: { list: [1] } })
  })
})

describe('what may have changed is asked for', () => {
  test('an unfinished operation: every repetition is a request, until it is over', async () => {
    const { idempotency, asked } = process()
    const gate = Promise.withResolvers<string>()
    const first = idempotency.run(ORDER, () => gate.promise)
    await new Promise(setImmediate)
    asked()
    for (const _ of ['one', 'another']) {
      expect(await codeOf(idempotency.run(ORDER, () => 'again'))).toBe('IN_PROGRESS')
      expect(asked()).toEqual(['put'])
    }
    gate.resolve('done')
    await first
    expect(await idempotency.run(ORDER, () => 'again')).toMatchObject({ value: 'done' })
  })

  test('one that may be run again', async () => {
    const { idempotency, asked } = process()
    await idempotency.run(ORDER, () => Promise.reject(new RetryLater('busy'))).catch(() => undefined)
    asked()
    expect(await idempotency.run(ORDER, () => 'done')).toMatchObject({ value: 'done', attempt: 2 })
    expect(asked()).toEqual(['put', 'update', 'update'])
  })

  test('one that another process finishes', async () => {
    const here = process()
    const there = process({ store: here.store, clock: here.clock })
    const work = (error?: Error) => () => (error ? Promise.reject(error) : 'done')
    await here.idempotency.run(ORDER, work(new RetryLater('busy'))).catch(() => undefined)
    await there.idempotency.run(ORDER, work())
    expect(await here.idempotency.run(ORDER, () => 'again')).toMatchObject({
      value: 'done',
      attempt: 2,
      replayed: true,
    })
  })

  test('one that has expired, by any clock that may be that much ahead', async () => {
    const { idempotency, clock, asked } = process({}, { retentionSeconds: 60, clockSkewSeconds: 5 })
    await idempotency.run(ORDER, () => 'old')
    clock.advance(54_000)
    asked()
    await idempotency.run(ORDER, () => 'new')
    expect(asked()).toEqual([])
    clock.advance(2_000)
    expect(await idempotency.run(ORDER, () => 'new')).toMatchObject({ value: 'old', replayed: true })
    expect(asked()).toEqual(['put'])
    clock.advance(4_000)
    expect(await idempotency.run(ORDER, () => 'new')).toMatchObject({ value: 'new', replayed: false })
  })

  test('one that was last heard of too long ago: an operator may have forgotten it', async () => {
    const { idempotency, clock, store } = process({ maxAgeSeconds: 10 })
    await idempotency.run(ORDER, () => 'old')
    store.remove(store.records()[0]!.id)
    clock.advance(9_999)
    expect(await idempotency.run(ORDER, () => 'new')).toMatchObject({ value: 'old', replayed: true })
    clock.advance(1)
    expect(await idempotency.run(ORDER, () => 'new')).toMatchObject({ value: 'new', replayed: false })
  })

  test('at once, with maxAgeSeconds: 0', async () => {
    const { idempotency, asked } = process({ maxAgeSeconds: 0 })
    await idempotency.run(ORDER, () => 1)
    asked()
    await idempotency.run(ORDER, () => 1)
    expect(asked()).toEqual(['put'])
  })

  test('one that was heard of later than now: the clock was set back', async () => {
    const { idempotency, clock, asked } = process()
    await idempotency.run(ORDER, () => 1)
    clock.advance(-1)
    asked()
    expect(await idempotency.run(ORDER, () => 2)).toMatchObject({ value: 1, replayed: true })
    expect(asked()).toEqual(['put'])
  })

  test('one whose finishing write nobody knows the end of', async () => {
    const store = memoryStore()
    let isLost = true
    const losing = {
      ...store,
      async update(...args: Parameters<typeof store.update>) {
        const answer = await store.update(...args)
        if (!isLost) return answer
        isLost = false
        throw new StoreError('The answer was lost.', { retryable: true })
      },
    }
    const { idempotency } = process({ store: losing })
    await idempotency.run(ORDER, () => 'done')
    expect(await idempotency.run(ORDER, () => 'again')).toMatchObject({ value: 'done', replayed: true })
    expect(store.records()).toMatchObject([{ status: 'COMPLETED' }])
  })

  test('one that was committed, until its response is there or can come no more', async () => {
    const { idempotency, clock, asked } = process({ maxAgeSeconds: 86_400 })
    await idempotency.run(ORDER, ({ commit }) => commit('done'))
    asked()
    for (const _ of ['one', 'another']) {
      expect(await idempotency.run(ORDER, () => 'again')).toMatchObject({ value: 'done', replayed: true })
      expect(asked()).toEqual(['put'])
    }
    clock.advance(901_000)
    await idempotency.run(ORDER, () => 'again')
    expect(asked()).toEqual(['put'])
    clock.advance(1)
    await idempotency.run(ORDER, () => 'again')
    expect(asked()).toEqual([])
  })

  test('a record that somebody else has written to before this process ended it', async () => {
    const store = memoryStore()
    const cached = cachedStore(store)
    const claim = aRecord()
    const { id, token, rev } = claim
    await cached.put(claim, absentAt(NOW_MS))
    await store.update(id, { ...completion, status: 'IN_PROGRESS' }, { kind: 'seen', token, rev })
    await cached.update(id, completion, { kind: 'held', token })
    const answer = await cached.put({ ...claim, token: 'another' }, absentAt(NOW_MS))
    expect(answer).toEqual({ applied: false, existing: await store.get(id) })
  })

  test('an admission that was given back', async () => {
    const { idempotency } = process()
    const admit = () => idempotency.acquire('invoice-1', { ttlSeconds: 60 })
    const first = await admit()
    expect(first.admitted).toBe(true)
    expect((await admit()).admitted).toBe(false)
    if (first.admitted) await first.release()
    expect((await admit()).admitted).toBe(true)
  })
})

describe('a claim that is likely to be refused', () => {
  test('reaches the store as it is, once, and is answered from memory from then on', async () => {
    const store = memoryStore()
    const conditions: Condition[] = []
    const cached = cachedStore({
      ...store,
      put: (record, condition) => {
        conditions.push(condition)
        return store.put(record, condition)
      },
    })
    const done = aRecord({ status: 'COMPLETED', updatedAtMs: NOW_MS })
    await store.put(done, absentAt(NOW_MS))
    for (const token of ['one', 'another']) {
      const answer = await cached.put({ ...aRecord({ token }), id: done.id }, likelyTakenAt(NOW_MS))
      expect(answer).toEqual({ applied: false, existing: done })
    }
    expect(conditions).toEqual([likelyTakenAt(NOW_MS)])
  })

  test('that was delivered again to a process that has run it takes no request', async () => {
    const { idempotency, asked } = process()
    const handler = batchHandler({ idempotency }, () => undefined)
    const batch = event(message('1'), message('2'))
    await handler(batch, invocation())
    asked()
    expect(await handler(redelivered(batch), invocation())).toEqual({ batchItemFailures: [] })
    expect(asked()).toEqual([])
  })
})

describe('it stays small', () => {
  const keyed = (key: string) => ({ ...ORDER, key })

  test('what was not asked for longest is forgotten first', async () => {
    const { idempotency, asked } = process({ maxEntries: 2 })
    for (const key of ['a', 'b']) await idempotency.run(keyed(key), () => key)
    await idempotency.run(keyed('a'), () => 'again')
    await idempotency.run(keyed('c'), () => 'c')
    asked()
    const requests: Record<string, number> = {}
    for (const key of ['a', 'c', 'b']) {
      expect(await idempotency.run(keyed(key), () => 'again')).toMatchObject({ value: key, replayed: true })
      requests[key] = asked().length
    }
    expect(requests).toEqual({ a: 0, c: 0, b: 1 })
  })

  test('in bytes, too: what is too large is asked for each time', async () => {
    const { idempotency, asked } = process({ maxBytes: 5_000 })
    await idempotency.run(keyed('large'), () => LARGE)
    await idempotency.run(keyed('small'), () => 's')
    asked()
    for (const _ of ['one', 'another']) {
      expect(await idempotency.run(keyed('large'), () => 'again')).toMatchObject({ value: LARGE, replayed: true })
    }
    expect(asked().filter((name) => name === 'getParts')).toHaveLength(2)
    await idempotency.run(keyed('small'), () => 'again')
    expect(asked()).toEqual([])
  })
})

describe('a store that writes for several records in one request', () => {
  test('does so through the cache, which learns from it', async () => {
    const pacings: unknown[] = []
    const { idempotency, asked } = process({
      store: {
        ...memoryStore(),
        grouped(pacing: unknown) {
          pacings.push(pacing)
          return this as never
        },
      },
    })
    const deliver = () =>
      batchHandler({ idempotency }, () => undefined)(event(message('1'), message('2')), invocation())
    expect(await deliver()).toEqual({ batchItemFailures: [] })
    expect(asked().sort()).toEqual(['grouped', 'put', 'put', 'update', 'update'])
    expect(await deliver()).toEqual({ batchItemFailures: [] })
    expect(asked()).toEqual(['grouped'])
    expect(pacings).toEqual([
      expect.objectContaining({ giveUpAtMs: expect.any(Number) }),
      expect.objectContaining({ giveUpAtMs: expect.any(Number) }),
    ])
  })

  test('is told from one that does not', () => {
    expect(cachedStore(memoryStore())).not.toHaveProperty('grouped')
  })
})

describe('wrong options are refused at once', () => {
  test.each<[object, RegExp]>([
    [{ maxEntries: 0 }, /^maxEntries must be a whole number from 1 to 100000; got 0/],
    [{ maxEntries: 1.5 }, /^maxEntries/],
    [{ maxBytes: 0 }, /^maxBytes must be a whole number from 1/],
    [{ maxAgeSeconds: -1 }, /^maxAgeSeconds must be a number of seconds, at least 0; got -1/],
    [{ maxAgeSeconds: 86_400_000 }, /Did you mean 86400\?/],
    [{ ttl: 1 }, /^cachedStore has no option "ttl"\. It takes: maxEntries, maxBytes, maxAgeSeconds/],
    [null as never, /^cachedStore expects an options object; got null/],
  ])('%j', (options, message) => {
    expect(() => cachedStore(memoryStore(), options)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(message) }),
    )
  })

  test.each([undefined, null, {}, 'table'])('no store: %j', (store) => {
    expect(() => cachedStore(store as never)).toThrow(/^cachedStore\(store, options\): store must be a store/)
  })

  test('the defaults are what the options say', () => {
    expect(CACHE_DEFAULTS).toEqual({ maxEntries: 1_000, maxBytes: 10_000_000, maxAgeSeconds: 300 })
  })
})
