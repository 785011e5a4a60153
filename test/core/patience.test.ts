import { describe, expect, test, vi } from 'vitest'
import { createIdempotency, type IdempotencyOptions, RetryLater } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from './fake-clock.ts'
import { type Fault, faultyStore } from './faulty-store.ts'
import { ORDER } from './harness.ts'

function setUp(options: Partial<IdempotencyOptions> = {}) {
  const clock = fakeClock()
  const faults = { get: [] as Fault[], put: [] as Fault[] }
  const faulty = faultyStore(memoryStore(), faults)
  const failNext = (...methods: ('get' | 'put')[]) => {
    for (const method of methods) faults[method].push('not-applied')
  }
  const store = { ...faulty, failNext }
  const pauses: number[] = []
  const during: (() => void)[] = []
  const wait: typeof clock.wait = async (ms, signal) => {
    await clock.wait(ms, signal)
    if (signal !== undefined) return
    pauses.push(ms)
    during.shift()?.()
    for (let turn = 0; turn < 50; turn++) await Promise.resolve()
  }
  const idempotency = createIdempotency({
    store,
    clock: { now: clock.now, wait },
    namespace: 'payments',
    leaseSeconds: 60,
    inFlight: { waitSeconds: 5 },
    ...options,
  })
  return { idempotency, clock, store, pauses, during }
}

describe('a repetition that waits for the first one', () => {
  test('gets its outcome when it comes, and looks with reads', async () => {
    const { idempotency, store, during } = setUp()
    const first = Promise.withResolvers<string>()
    const running = idempotency.run(ORDER, () => first.promise)
    during.push(
      () => undefined,
      () => first.resolve('done'),
    )
    expect(await idempotency.run(ORDER, () => 'again')).toEqual({ value: 'done', replayed: true, attempt: 1 })
    expect((await running).replayed).toBe(false)
    expect(store.calls.filter((call) => call === 'put')).toHaveLength(3)
  })

  test('is refused when the time is over, with growing pauses', async () => {
    const { idempotency, pauses } = setUp()
    void idempotency.run(ORDER, () => new Promise(() => undefined))
    await expect(idempotency.run(ORDER, () => 'again')).rejects.toMatchObject({ code: 'IN_PROGRESS' })
    expect(pauses).toEqual([50, 100, 200, 400, 800, 1_000, 1_000, 1_000])
  })

  test('is told the time that is left when it is refused, not what was left before it waited', async () => {
    const { idempotency } = setUp()
    void idempotency.run(ORDER, () => new Promise(() => undefined))
    await expect(idempotency.run(ORDER, () => 'again')).rejects.toMatchObject({ retryAfterSeconds: 57 })
  })

  test("does not run beside the first one under onStoreError: 'open' when the store fails while it waits", async () => {
    const { idempotency, store, during } = setUp({ onStoreError: 'open' })
    void idempotency.run(ORDER, () => new Promise(() => undefined))
    during.push(() => store.failNext('get', 'put', 'get'))
    const work = vi.fn()
    await expect(idempotency.run(ORDER, work)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(work).not.toHaveBeenCalled()
  })

  test('never waits past its own deadline', async () => {
    const { idempotency, pauses } = setUp()
    void idempotency.run(ORDER, () => new Promise(() => undefined))
    const context = { getRemainingTimeInMillis: () => 900 }
    await expect(idempotency.run({ ...ORDER, context }, () => 'again')).rejects.toMatchObject({ code: 'IN_PROGRESS' })
    expect(pauses).toEqual([50, 100, 200])
  })

  test('takes over when the first one gave the operation back', async () => {
    const { idempotency, during } = setUp()
    const first = Promise.withResolvers<string>()
    const running = idempotency.run(ORDER, () => first.promise)
    during.push(() => first.reject(new RetryLater()))
    running.catch(() => undefined)
    expect(await idempotency.run(ORDER, () => 'mine')).toEqual({ value: 'mine', replayed: false, attempt: 2 })
  })

  test('tells a mismatch at once', async () => {
    const { idempotency, pauses } = setUp()
    void idempotency.run(ORDER, () => new Promise(() => undefined))
    await vi.waitFor(() => expect(pauses).toEqual([]))
    await expect(idempotency.run({ ...ORDER, input: 'other' }, () => 1)).rejects.toMatchObject({ code: 'MISMATCH' })
    expect(pauses).toEqual([])
  })
})

test.each([
  [{ inFlight: 'wait' }, /inFlight must be "reject" or \{ waitSeconds \}; got "wait"/],
  [{ inFlight: { waitMs: 5 } }, /inFlight must be/],
  [{ inFlight: { waitSeconds: -1 } }, /inFlight\.waitSeconds must be a number of seconds/],
])('a wrong inFlight is refused: %j', (options, message) => {
  expect(() => setUp(options as never)).toThrow(message)
})
