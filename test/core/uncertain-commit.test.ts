import { describe, expect, test, vi } from 'vitest'
import { isLambdaOnceError, type Operation, type Store, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { setUpCommits, WRITE } from './commit-harness.ts'
import { codeOf, ORDER } from './harness.ts'

const CONTEXT = { getRemainingTimeInMillis: () => 3_000 }

/** A store whose commits are carried out, or only later, and never answered. */
function silentCommits(when: 'at once' | 'later') {
  const memory = memoryStore()
  const late: (() => Promise<unknown>)[] = []
  const store: Store = {
    ...memory,
    async prepare(id, writes, beside) {
      const prepared = await memory.prepare(id, writes, beside)
      return {
        async commit(...args) {
          if (when === 'at once') await prepared.commit(...args)
          else late.push(() => prepared.commit(...args))
          throw new StoreError('The answer was lost.', { retryable: true })
        },
      }
    },
  }
  return { memory, store, late }
}

const swallowing = async ({ commit }: Operation) => {
  try {
    return await commit('sold', { writes: [WRITE] })
  } catch (error) {
    if (!isLambdaOnceError(error, 'STORE')) throw error
    return 'sold out'
  }
}

describe('a work that swallows the error of a commit nobody knows the fate of, and returns something else', () => {
  test('gets the committed value answered when the commit was written', async () => {
    const { store } = silentCommits('at once')
    const { idempotency } = setUpCommits({ store })
    expect((await idempotency.run({ ...ORDER, context: CONTEXT }, swallowing)).value).toBe('sold')
    expect((await idempotency.run(ORDER, vi.fn())).value).toBe('sold')
  })

  test('keeps its own value when the commit arrives after it, and is refused', async () => {
    const { store, late, memory } = silentCommits('later')
    const { idempotency } = setUpCommits({ store })
    expect((await idempotency.run({ ...ORDER, context: CONTEXT }, swallowing)).value).toBe('sold out')
    for (const arrive of late) expect(await arrive()).toMatchObject({ kind: 'refused' })
    expect((await idempotency.run(ORDER, vi.fn())).value).toBe('sold out')
    expect(memory.commits()).toEqual([])
  })

  test('never has a second commit of the same attempt answered with the first one', async () => {
    const { store } = silentCommits('at once')
    const { idempotency, memory } = setUpCommits({ store })
    const run = idempotency.run({ ...ORDER, context: CONTEXT }, async ({ commit }) => {
      await commit('A', { writes: [WRITE] }).catch(() => undefined)
      return commit('B')
    })
    expect((await run).value).toBe('A')
    expect(memory.commits()).toEqual([])
  })
})

describe('a failure of the store before anything was written', () => {
  test('in a commit leaves the operation to be resumed', async () => {
    const memory = memoryStore()
    const refusing: Store = {
      ...memory,
      prepare: async () => ({
        commit: async () => {
          throw new StoreError('Access denied.', { retryable: false })
        },
      }),
    }
    const { idempotency } = setUpCommits({ store: refusing })
    expect(await codeOf(idempotency.run(ORDER, ({ commit }) => commit('sold')))).toBe('STORE')
    expect(memory.records()[0]?.status).toBe('RETRYABLE')
  })

  test("of the handler's own stays an error like any other: it may follow an effect", async () => {
    const { idempotency, record } = setUpCommits()
    const foreign = new StoreError('another table', { retryable: true })
    expect(await codeOf(idempotency.run(ORDER, () => Promise.reject(foreign)))).toBe('STORE')
    expect(record()?.status).toBe('FAILED')
  })

  test('in reading signals leaves the operation to be resumed', async () => {
    const memory = memoryStore()
    let isDown = false
    const store: Store = {
      ...memory,
      async getParts(...args) {
        if (isDown) throw new StoreError('The store is gone.', { retryable: true })
        return memory.getParts(...args)
      },
    }
    const { idempotency } = setUpCommits({ store })
    const large = Array.from({ length: 20_000 }, (_, n) => `${n}:${Math.sin(n)}`)
    expect(await codeOf(idempotency.run(ORDER, ({ wait }) => wait()))).toBe('WAITING')
    expect(await idempotency.signal({ key: ORDER.key }, large)).toBe('delivered')
    isDown = true
    expect(await codeOf(idempotency.run(ORDER, ({ signals }) => signals()))).toBe('STORE')
    isDown = false
    expect((await idempotency.run(ORDER, ({ signals }) => signals())).value).toEqual([large])
  })
})

test('a step does not begin in a process that wakes up after its lease, beside whoever took over', async () => {
  const { idempotency, clock } = setUpCommits({ leaseSeconds: 10 })
  const asleep = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const charge = vi.fn(() => 'charged')
  const paused = idempotency.run(ORDER, async ({ step }) => {
    asleep.resolve()
    await gate.promise
    return step('charge', charge)
  })
  await asleep.promise
  clock.advance(12_000)
  expect((await idempotency.run(ORDER, ({ step }) => step('charge', charge))).value).toBe('charged')
  gate.resolve()
  expect((await paused).value).toBe('charged')
  expect(charge).toHaveBeenCalledTimes(1)
})

test('a step that begins late in a process that still is the holder renews the lease first', async () => {
  const { idempotency, clock, record } = setUpCommits({ leaseSeconds: 10 })
  await idempotency.run(ORDER, async ({ step }) => {
    clock.advance(30_000)
    await step('charge', () => {
      expect(record()?.leaseUntil).toBe(clock.now() + 10_000)
    })
  })
  expect(record()?.status).toBe('COMPLETED')
})

test('an admission key that an operator frees is free', async () => {
  const { idempotency, clock } = setUpCommits()
  await idempotency.acquire('k', { ttlSeconds: 60 })
  clock.advance(60_500)
  expect(await idempotency.settle({ key: 'k' }, { rerun: true })).toBe('in-progress')
  clock.advance(501)
  expect(await idempotency.settle({ key: 'k' }, { rerun: true })).toBe('not-found')
  expect(await idempotency.acquire('k', { ttlSeconds: 60 })).toMatchObject({ admitted: true })
})
