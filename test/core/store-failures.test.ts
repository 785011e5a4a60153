import { describe, expect, test, vi } from 'vitest'
import { createIdempotency, type IdempotencyOptions, type Store } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import type { Faults } from './faulty-store.ts'
import { ORDER, setUp } from './harness.ts'

const faulty = (faults: Faults, options: Partial<IdempotencyOptions> = {}) =>
  setUp({ leaseSeconds: 10, ...options }, faults)

const times = <T>(n: number, fault: T): T[] => Array.from({ length: n }, () => fault)

describe('a claim whose answer is lost', () => {
  test('is recognised as its own and runs once', async () => {
    const { idempotency, store, record } = faulty({ put: ['answer-lost'] })
    const work = vi.fn(() => 'done')
    expect((await idempotency.run(ORDER, work)).value).toBe('done')
    expect(work).toHaveBeenCalledTimes(1)
    expect(record()?.status).toBe('COMPLETED')
    expect(store.calls).toEqual(['put', 'get', 'update'])
  })

  test('and that was never applied is sent again', async () => {
    const { idempotency, store } = faulty({ put: ['not-applied', 'not-applied'] })
    const work = vi.fn(() => 'done')
    expect((await idempotency.run(ORDER, work)).value).toBe('done')
    expect(work).toHaveBeenCalledTimes(1)
    expect(store.calls).toEqual(['put', 'get', 'put', 'get', 'put', 'update'])
  })

  test('fails closed when the read that would tell fails too', async () => {
    const { idempotency } = faulty({ put: ['answer-lost'], get: ['not-applied'] })
    const work = vi.fn()
    await expect(idempotency.run(ORDER, work)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true })
    expect(work).not.toHaveBeenCalled()
  })

  test('fails closed at once when the store refuses it', async () => {
    const { idempotency, store } = faulty({ put: ['refused'] })
    await expect(idempotency.run(ORDER, vi.fn())).rejects.toThrow(/nothing was done: Access denied/)
    expect(store.calls).toEqual(['put'])
  })

  test('fails closed when writes are throttled and reads are not, with growing pauses between its tries', async () => {
    const { idempotency, store, clock } = faulty({ put: times(9, 'not-applied') })
    const startMs = clock.now()
    await expect(idempotency.run(ORDER, vi.fn())).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(store.calls.filter((call) => call === 'put')).toHaveLength(5)
    expect(clock.now() - startMs).toBe((50 + 100 + 200 + 400 + 800) / 2)
  })

  test('never runs without a claim when the record keeps vanishing', async () => {
    const memory = memoryStore()
    const vanishing = { ...memory, put: async () => ({ applied: false as const, existing: undefined }) }
    const work = vi.fn()
    const idempotency = createIdempotency({ store: vanishing, namespace: 'payments' })
    await expect(idempotency.run(ORDER, work)).rejects.toMatchObject({ code: 'IN_PROGRESS' })
    expect(work).not.toHaveBeenCalled()
  })

  test("runs unprotected when the user chose onStoreError: 'open', and says so", async () => {
    const { idempotency, types, record } = faulty({ put: ['refused'] }, { onStoreError: 'open' })
    expect(await idempotency.run(ORDER, ({ attempt }) => attempt)).toEqual({ value: 1, replayed: false, attempt: 1 })
    expect(record()).toBeUndefined()
    expect(types()).toEqual(['store-error', 'unprotected'])
  })
})

describe('a claim whose answer comes after the end of its own lease', () => {
  const slowly = (meanwhile: (harness: ReturnType<typeof setUp>) => Promise<unknown>) => {
    const harness = faulty({})
    let isSlow = true
    const store: Store = {
      ...harness.memory,
      async put(record, condition) {
        const answer = await harness.memory.put(record, condition)
        if (isSlow) {
          isSlow = false
          harness.clock.advance(12_000)
          await meanwhile(harness)
        }
        return answer
      },
    }
    const { clock } = harness
    return createIdempotency({ store, clock, namespace: 'payments', leaseSeconds: 10 })
  }

  test('does not run beside the execution that took over', async () => {
    const work = vi.fn()
    const slow = slowly(({ idempotency }) => idempotency.run(ORDER, () => 'winner'))
    expect(await slow.run(ORDER, work)).toEqual({ value: 'winner', replayed: true, attempt: 2 })
    expect(work).not.toHaveBeenCalled()
  })

  test('takes its own operation over when nobody else has', async () => {
    const slow = slowly(async () => undefined)
    expect(await slow.run(ORDER, ({ attempt }) => attempt)).toEqual({ value: 2, replayed: false, attempt: 2 })
  })
})

describe('a takeover whose answer is lost', () => {
  test('is recognised as its own, with one attempt more', async () => {
    const { idempotency, clock } = faulty({ update: ['answer-lost'] })
    const crashed = idempotency.run(ORDER, () => new Promise(() => undefined))
    crashed.catch(() => undefined)
    await vi.waitFor(() => expect(clock.now()).toBeGreaterThan(0))
    clock.advance(11_001)
    expect(await idempotency.run(ORDER, ({ attempt }) => attempt)).toEqual({ value: 2, replayed: false, attempt: 2 })
  })
})

describe('a completion whose answer is lost', () => {
  test('is recognised as its own', async () => {
    const { idempotency, record, types } = faulty({ update: ['answer-lost'] })
    expect((await idempotency.run(ORDER, () => 'done')).value).toBe('done')
    expect(record()?.status).toBe('COMPLETED')
    expect(types()).toEqual(['claimed', 'completed'])
  })

  test('and that was never applied is repeated', async () => {
    const { idempotency, record } = faulty({ update: times(5, 'not-applied') })
    expect((await idempotency.run(ORDER, () => 'done')).value).toBe('done')
    expect(record()?.status).toBe('COMPLETED')
  })

  test('is repeated until the deadline; then the operation stays in progress and the value goes to its caller', async () => {
    const { idempotency, record, clock } = faulty({ update: times(500, 'not-applied') })
    const startMs = clock.now()
    const context = { getRemainingTimeInMillis: () => 4_000 }
    await expect(idempotency.run({ ...ORDER, context }, () => 'done')).rejects.toMatchObject({
      code: 'OUTCOME_NOT_RECORDED',
      value: 'done',
    })
    expect(record()?.status).toBe('IN_PROGRESS')
    expect(clock.now()).toBeLessThan(startMs + 4_000)
  })

  test('of a large outcome writes the parts again, or leaves the operation in progress', async () => {
    const large = Array.from({ length: 20_000 }, (_, n) => `${n}:${Math.sin(n)}`)
    const repeated = faulty({ putParts: ['answer-lost', 'not-applied'] })
    await repeated.idempotency.run(ORDER, () => large)
    expect((await repeated.idempotency.run(ORDER, () => 0)).value).toEqual(large)
    const never = faulty({ putParts: times(500, 'not-applied') })
    await expect(never.idempotency.run(ORDER, () => large)).rejects.toMatchObject({ code: 'OUTCOME_NOT_RECORDED' })
    expect(never.record()?.status).toBe('IN_PROGRESS')
  })
})

describe('the store failing on the error path', () => {
  test('does not hide the business error', async () => {
    const { idempotency, record } = faulty({ update: times(500, 'not-applied') })
    const error = new Error('declined')
    await expect(idempotency.run(ORDER, () => Promise.reject(error))).rejects.toBe(error)
    expect(Reflect.get(error, 'suppressed')).toMatchObject({ code: 'STORE' })
    expect(record()?.status).toBe('IN_PROGRESS')
  })

  test('after a completion with a lost answer keeps the stored outcome', async () => {
    const { idempotency, record } = faulty({ update: ['answer-lost'] })
    await expect(idempotency.run(ORDER, () => Promise.reject(new Error('x')))).rejects.toThrow('x')
    expect(record()?.status).toBe('FAILED')
  })
})

describe('a stored outcome whose parts are lost', () => {
  test('is neither replayed nor run again', async () => {
    const { idempotency, store, clock } = faulty({})
    const large = Array.from({ length: 20_000 }, (_, n) => `${n}:${Math.sin(n)}`)
    await idempotency.run(ORDER, () => large)
    const damaged = createIdempotency({
      store: { ...store, getParts: async (_id, count) => Array.from({ length: count }, () => undefined) },
      namespace: 'payments',
      clock,
    })
    const work = vi.fn()
    await expect(damaged.run(ORDER, work)).rejects.toMatchObject({ code: 'OUTCOME_LOST' })
    expect(work).not.toHaveBeenCalled()
  })
})

describe('a store that does not answer', () => {
  const context = { getRemainingTimeInMillis: () => 3_000 }
  const silent = (method: 'put' | 'update', options: Partial<IdempotencyOptions> = {}) => {
    const harness = faulty({})
    const store = { ...harness.memory, [method]: () => new Promise(() => undefined) }
    const { clock } = harness
    return { ...harness, idempotency: createIdempotency({ store, clock, namespace: 'payments', ...options }) }
  }
  /** Lets the fake time run until the promise settles. */
  async function settled<T>(promise: Promise<T>, { clock }: ReturnType<typeof silent>): Promise<T> {
    const over = promise.then(
      () => true,
      () => true,
    )
    while (!(await Promise.race([over, new Promise<boolean>((resolve) => setImmediate(resolve, false))]))) {
      clock.advance(100)
    }
    return promise
  }

  test('fails the claim closed before the invocation ends', async () => {
    const harness = silent('put')
    const startMs = harness.clock.now()
    const work = vi.fn()
    const silence = settled(harness.idempotency.run({ ...ORDER, context }, work), harness)
    await expect(silence).rejects.toThrow(/not answered before the end of the invocation/)
    expect(harness.clock.now() - startMs).toBeLessThan(3_000)
    expect(work).not.toHaveBeenCalled()
  })

  test('gives the value to its caller before the invocation ends when it is the completion', async () => {
    const harness = silent('update')
    const startMs = harness.clock.now()
    const silence = settled(
      harness.idempotency.run({ ...ORDER, context }, () => 'done'),
      harness,
    )
    await expect(silence).rejects.toMatchObject({ code: 'OUTCOME_NOT_RECORDED', value: 'done' })
    expect(harness.clock.now() - startMs).toBeLessThan(3_000)
    expect(harness.record()?.status).toBe('IN_PROGRESS')
  })
})

test("onStoreError: 'open' never runs an operation that was seen to have begun", async () => {
  const { idempotency, clock, record } = faulty(
    { update: times(9, 'not-applied'), get: ['not-applied'] },
    { onStoreError: 'open' },
  )
  void idempotency.run(ORDER, () => new Promise(() => undefined))
  await vi.waitFor(() => expect(record()).toBeDefined())
  clock.advance(12_000)
  const work = vi.fn()
  await expect(idempotency.run(ORDER, work)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  expect(work).not.toHaveBeenCalled()
})

test("onStoreError: 'open' never runs an operation that was seen to be finished", async () => {
  const { idempotency } = faulty({ getParts: ['refused'] }, { onStoreError: 'open' })
  const large = Array.from({ length: 20_000 }, (_, n) => `${n}:${Math.sin(n)}`)
  await idempotency.run(ORDER, () => large)
  const work = vi.fn()
  await expect(idempotency.run(ORDER, work)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  expect(work).not.toHaveBeenCalled()
  expect((await idempotency.run(ORDER, work)).value).toEqual(large)
})
