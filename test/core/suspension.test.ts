import { describe, expect, test } from 'vitest'
import { type Operation, type Suspension, WaitingError } from '../../lib/index.ts'
import { setUpCommits } from './commit-harness.ts'
import { codeOf, ORDER } from './harness.ts'

const DAY_SECONDS = 86_400
const YEAR_SECONDS = 366 * DAY_SECONDS
const INVOCATION = { getRemainingTimeInMillis: () => 10_000 }

describe('a delay', () => {
  test('leaves the operation waiting, due then, and kept for 14 days after that', async () => {
    const { idempotency, record, clock, events } = setUpCommits()
    const startMs = clock.now()
    const error: unknown = await idempotency
      .run(ORDER, ({ delay }) => delay({ seconds: 3600 }, 'the bank opens'))
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(WaitingError)
    expect(error).toMatchObject({ retryAfterSeconds: 3600, retryable: true })
    const resumeAtMs = startMs + 3_600_000
    expect(record()).toMatchObject({
      status: 'WAITING',
      resumeAtMs,
      waitingFor: 'the bank opens',
      dueShard: 'payments#0',
      dueAtMs: resumeAtMs,
      expiresAt: resumeAtMs / 1000 + 14 * DAY_SECONDS,
    })
    expect(record()).not.toHaveProperty('leaseUntil')
    expect(events.map(({ type }) => type)).toEqual(['claimed', 'suspended'])
  })

  test('is answered to repetitions without running anything, until it is due', async () => {
    const { idempotency, clock } = setUpCommits()
    let runs = 0
    const run = () =>
      idempotency.run(ORDER, ({ attempt, delay }) => {
        runs++
        return attempt === 1 ? delay({ until: new Date(clock.now() + 10_000) }) : 'done'
      })
    expect(await codeOf(run())).toBe('WAITING')
    clock.advance(9_999)
    expect(await codeOf(run())).toBe('WAITING')
    expect(runs).toBe(1)
    clock.advance(1)
    expect(await run()).toEqual({ value: 'done', replayed: false, attempt: 2 })
  })

  test('does not run finished steps again, and takes the waiting off the record', async () => {
    const { idempotency, clock, record } = setUpCommits()
    let charges = 0
    const work = async ({ step, delay, attempt }: Operation) => {
      const charge = await step('charge', () => ++charges)
      return attempt < 3 ? delay({ seconds: 60 }, 'settlement') : charge
    }
    for (let attempt = 1; attempt <= 2; attempt++) {
      expect(await codeOf(idempotency.run(ORDER, work))).toBe('WAITING')
      clock.advance(60_000)
    }
    expect((await idempotency.run(ORDER, work)).value).toBe(1)
    for (const field of ['resumeAtMs', 'waitingFor', 'continuation', 'dueAtMs', 'dueShard']) {
      expect(record()).not.toHaveProperty(field)
    }
  })

  test.each([
    ['in the past', (nowMs: number) => ({ until: new Date(nowMs - 5_000) }), -5_000],
    ['of no time', () => ({ seconds: 0 }), 0],
  ])('%s is due at once, and says so', async (_name, when, offsetMs) => {
    const { idempotency, record, clock } = setUpCommits()
    let made: Suspension | undefined
    const run = idempotency.run(ORDER, ({ delay }) => {
      made = delay(when(clock.now()))
      return made
    })
    expect(await codeOf(run)).toBe('WAITING')
    expect(made?.isDue).toBe(true)
    expect(record()).toMatchObject({ status: 'WAITING', dueAtMs: clock.now() + offsetMs })
    expect(record()?.expiresAt).toBeGreaterThanOrEqual(clock.now() / 1000 + 14 * DAY_SECONDS)
    expect((await idempotency.run(ORDER, () => 'resumed')).value).toBe('resumed')
  })

  test.each<[string, unknown, string | undefined]>([
    ['nothing', undefined, undefined],
    ['neither', {}, undefined],
    ['both misspelt', { minutes: 1 }, undefined],
    ['a negative time', { seconds: -1 }, undefined],
    ['no number', { seconds: '60' }, undefined],
    ['milliseconds', { seconds: 86_400_000 }, undefined],
    ['no date', { until: 1_700_000_000_000 }, undefined],
    ['an invalid date', { until: new Date('tomorrow') }, undefined],
    ['more than a year', { until: new Date(1_700_000_000_000 + (YEAR_SECONDS + 1) * 1000) }, undefined],
    ['a long note', { seconds: 1 }, 'x'.repeat(201)],
  ])('until %s is refused, and nothing is written', async (_name, when, why) => {
    const { idempotency, store } = setUpCommits()
    const run = idempotency.run(ORDER, async ({ delay, step }) => {
      expect(() => delay(when as never, why)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
      return step('goes on', () => 'on')
    })
    expect((await run).value).toBe('on')
    expect(store.calls).toEqual(['put', 'update', 'update'])
  })
})

describe('a wait', () => {
  test('has no time: it neither is due nor expires', async () => {
    const { idempotency, record, clock } = setUpCommits()
    const error: unknown = await idempotency
      .run(ORDER, ({ wait }) => wait('the provider calls back'))
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(WaitingError)
    expect(error).toMatchObject({ retryAfterSeconds: undefined })
    expect(record()).toMatchObject({ status: 'WAITING', waitingFor: 'the provider calls back' })
    for (const field of ['resumeAtMs', 'expiresAt', 'dueAtMs', 'leaseUntil']) expect(record()).not.toHaveProperty(field)
    clock.advance(2 * YEAR_SECONDS * 1000)
    expect(await codeOf(idempotency.run(ORDER, () => 'not run'))).toBe('WAITING')
  })

  test('can be settled by an operator', async () => {
    const { idempotency } = setUpCommits()
    await codeOf(idempotency.run(ORDER, ({ wait }) => wait()))
    expect(await idempotency.settle({ key: ORDER.key }, { value: 'settled' })).toBe('settled')
    expect((await idempotency.run<string>(ORDER, () => '')).value).toBe('settled')
  })
})

describe('a suspension', () => {
  test.each([
    ['neither relay nor reconciler', { relay: false, reconcilerShards: 0 }],
    ['a relay, and no request that it could send', { relay: true, reconcilerShards: 0 }],
    ['a reconciler that can only send, and no request that it could send', { reconcilerRecovers: false }],
  ])('is refused with %s', async (_name, options) => {
    const { idempotency, record } = setUpCommits(options)
    for (const suspend of [({ delay }: Operation) => delay({ seconds: 1 }), ({ wait }: Operation) => wait()]) {
      await expect(idempotency.run(ORDER, suspend)).rejects.toThrow(/need somebody to continue/)
      expect(record()?.status).toBe('FAILED')
      await idempotency.settle({ key: ORDER.key }, { value: 1 })
    }
  })

  test('is refused in an execution without a claim', async () => {
    const down = () => Array.from({ length: 500 }, () => 'not-applied' as const)
    const { idempotency } = setUpCommits({ onStoreError: 'open' }, { faults: { put: down(), get: down() } })
    await expect(idempotency.run(ORDER, ({ wait }) => wait())).rejects.toThrow(/operation.wait needs a claim/)
  })

  test('is an error while a step still runs', async () => {
    const { idempotency } = setUpCommits()
    const { promise, resolve } = Promise.withResolvers<void>()
    const run = idempotency.run(ORDER, async ({ step, delay }) => {
      void step('open', () => promise)
      setImmediate(resolve)
      return delay({ seconds: 1 })
    })
    expect(await codeOf(run)).toBe('STEP_NOT_AWAITED')
  })

  test.each(['answer-lost', 'not-applied'] as const)('whose write meets %s is written once', async (fault) => {
    const { idempotency, record, clock } = setUpCommits({}, { faults: { update: [fault] } })
    expect(await codeOf(idempotency.run(ORDER, ({ delay }) => delay({ seconds: 1 })))).toBe('WAITING')
    expect(record()).toMatchObject({ status: 'WAITING', attempt: 1, rev: 2 })
    clock.advance(1_000)
    expect((await idempotency.run(ORDER, () => 'resumed')).value).toBe('resumed')
  })

  test('that cannot be written leaves the operation to its lease', async () => {
    const faults = { update: Array.from({ length: 500 }, () => 'not-applied' as const) }
    const { idempotency, record, clock } = setUpCommits({}, { faults })
    const run = idempotency.run({ ...ORDER, context: INVOCATION }, ({ delay }) => delay({ seconds: 1 }))
    expect(await codeOf(run)).toBe('OUTCOME_NOT_RECORDED')
    expect(record()?.status).toBe('IN_PROGRESS')
    faults.update.length = 0
    clock.advance(20_000)
    expect((await idempotency.run(ORDER, () => 'resumed')).value).toBe('resumed')
  })

  test('of an execution that was overtaken changes nothing', async () => {
    const { idempotency, clock, record } = setUpCommits()
    const { value } = await idempotency.run<unknown>({ ...ORDER, context: INVOCATION }, async ({ delay }) => {
      clock.advance(20_000)
      await idempotency.run(ORDER, () => 'winner')
      return delay({ seconds: 1 })
    })
    expect(value).toBe('winner')
    expect(record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
  })
})

test('a step that returns a suspension is refused: recorded, it would be plain data, and nobody would wait', async () => {
  const { idempotency, record } = setUpCommits()
  const run = idempotency.run(ORDER, ({ step, delay }) => step('wait', () => delay({ seconds: 60 })))
  expect(await codeOf(run)).toBe('INVALID_OPTION')
  expect(record()?.steps).toEqual({})
})
