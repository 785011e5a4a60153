import { describe, expect, expectTypeOf, test, vi } from 'vitest'
import { type IdempotencyOptions, NoEffectError, type Operation, type StepOptions } from '../../lib/index.ts'
import type { Faults } from './faulty-store.ts'
import { setUp as engineHarness, ORDER } from './harness.ts'

function setUp(options: Partial<IdempotencyOptions> = {}, faults: Faults = {}) {
  const harness = engineHarness({ leaseSeconds: 10, ...options }, faults)
  const { idempotency, clock } = harness
  /** Runs an attempt that never comes back, as a process that was killed, and lets its lease end. */
  async function crash(work: (operation: Operation) => Promise<unknown>): Promise<void> {
    await new Promise<void>((killed) => {
      void idempotency.run(ORDER, async (operation) => {
        await work(operation)
        killed()
        return new Promise(() => undefined)
      })
    })
    clock.advance(12_000)
  }
  return { ...harness, crash }
}

/** A step whose effect happened, and whose process was killed before it could be recorded. */
const killedInside = (step: Operation['step'], name: string, effect: () => void, options: StepOptions<string> = {}) =>
  new Promise<void>((begun) => {
    void step(
      name,
      () => {
        effect()
        begun()
        return new Promise<string>(() => undefined)
      },
      options,
    )
  })

describe('a recorded step', () => {
  test('is not run again by a later attempt, which gets its result', async () => {
    const { idempotency, crash } = setUp()
    const charge = vi.fn(async () => ({ id: 'ch_1', at: new Date(0) }))
    await crash(({ step }) => step('charge', charge))
    const result = await idempotency.run(ORDER, async ({ step, attempt }) => ({
      attempt,
      charge: await step('charge', charge),
      mail: await step('mail', () => undefined),
    }))
    expect(result.value).toEqual({ attempt: 2, charge: { id: 'ch_1', at: new Date(0) }, mail: undefined })
    expect(charge).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['false', false],
    ['a large value', 'x'.repeat(200_000)],
  ])('keeps its result: %s', async (_name, value) => {
    const { idempotency, crash } = setUp()
    const work = vi.fn(() => value)
    await crash(({ step }) => step('s', work))
    expect((await idempotency.run(ORDER, ({ step }) => step('s', work))).value).toEqual(value)
    expect(work).toHaveBeenCalledTimes(1)
  })

  test('renews the lease in the same write', async () => {
    const { idempotency, clock, record, store } = setUp()
    await idempotency.run(ORDER, async ({ step }) => {
      clock.advance(9_000)
      await step('s', () => 1)
      expect(record()?.leaseUntil).toBe(clock.now() + 10_000)
    })
    expect(store.calls).toEqual(['put', 'update', 'update'])
  })

  test('costs one write, and one more before the work when it must not run twice', async () => {
    const { idempotency, store } = setUp()
    await idempotency.run(ORDER, ({ step }) => step('s', () => 1, { onUnknown: 'stop' }))
    expect(store.calls).toEqual(['put', 'update', 'update', 'update'])
  })
})

describe('the downstream key of a step', () => {
  test('is the same in every attempt, and different for other steps, operations and requests', async () => {
    const { idempotency, crash } = setUp()
    const keys: string[] = []
    const collect = (step: { idempotencyKey: string }) => {
      keys.push(step.idempotencyKey)
    }
    await crash(({ step }) => killedInside(step, 'a', () => undefined))
    await idempotency.run(ORDER, async ({ step }) => {
      await step('a', collect)
      await step('b', collect)
    })
    await idempotency.run({ ...ORDER, key: 'order-2' }, ({ step }) => step('a', collect))
    expect(new Set(keys).size).toBe(3)
    const again = setUp()
    await again.idempotency.run(ORDER, ({ step }) => step('a', collect))
    expect(keys[3]).toBe(keys[0])
    expect(keys[0]).toMatch(/^[\w-]{43}$/)
  })
})

describe('a step that was begun and not recorded', () => {
  test('runs again by default', async () => {
    const { idempotency, crash } = setUp()
    const effect = vi.fn()
    await crash(({ step }) => killedInside(step, 'charge', effect))
    await idempotency.run(ORDER, ({ step }) => step('charge', effect))
    expect(effect).toHaveBeenCalledTimes(2)
  })

  test("makes the operation unknown with onUnknown: 'stop', and nothing runs it again", async () => {
    const { idempotency, crash, clock, record } = setUp()
    const effect = vi.fn()
    await crash(({ step }) => killedInside(step, 'mail', effect, { onUnknown: 'stop' }))
    for (let delivery = 0; delivery < 3; delivery++) {
      const run = idempotency.run(ORDER, ({ step }) => step('mail', effect, { onUnknown: 'stop' }))
      await expect(run).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' })
      clock.advance(400 * 86_400_000)
    }
    expect(effect).toHaveBeenCalledTimes(1)
    expect(record()).toMatchObject({ status: 'UNKNOWN', unknownStep: 'mail' })
    expect(record()?.expiresAt).toBeUndefined()
  })

  test('stays unknown when the work swallows the error', async () => {
    const { idempotency, crash, record } = setUp()
    await crash(({ step }) => killedInside(step, 'mail', () => undefined, { onUnknown: 'stop' }))
    const swallowed = idempotency.run(ORDER, async ({ step }) => {
      await step('mail', () => 1, { onUnknown: 'stop' }).catch(() => undefined)
      return 'done'
    })
    await expect(swallowed).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' })
    expect(record()?.status).toBe('UNKNOWN')
  })

  test.each([
    ['inside the time the third party remembers the key, runs again', 3_600, 'ran'],
    ['past it, is unknown', 5, 'UNKNOWN_OUTCOME'],
  ])('%s', async (_name, keyValidSeconds, came) => {
    const { idempotency, crash } = setUp()
    const options = { keyValidSeconds }
    await crash(({ step }) => killedInside(step, 'charge', () => undefined, options))
    const outcome = await idempotency
      .run(ORDER, ({ step }) => step('charge', () => 'ran', options))
      .then(
        ({ value }) => value,
        (error: { code: string }) => error.code,
      )
    expect(outcome).toBe(came)
  })

  test('keeps the time of its first start over attempts', async () => {
    const { idempotency, crash } = setUp()
    const options = { keyValidSeconds: 20 }
    await crash(({ step }) => killedInside(step, 'charge', () => undefined, options))
    await crash(({ step }) => killedInside(step, 'charge', () => undefined, options))
    const effect = vi.fn()
    await expect(idempotency.run(ORDER, ({ step }) => step('charge', effect, options))).rejects.toMatchObject({
      code: 'UNKNOWN_OUTCOME',
    })
    expect(effect).not.toHaveBeenCalled()
  })

  test.each([
    ['done', { kind: 'done', value: 'from the provider' } as const, 'from the provider', 0],
    ['not done', { kind: 'not-done' } as const, 'ran', 1],
    ['unknown', { kind: 'unknown' } as const, 'UNKNOWN_OUTCOME', 0],
  ])('asks the probe: %s', async (_name, found, came, runs) => {
    const { idempotency, crash } = setUp()
    const probe = vi.fn(async () => found)
    await crash(({ step }) => killedInside(step, 'charge', () => undefined, { onUnknown: 'stop' }))
    const effect = vi.fn(() => 'ran')
    const outcome = await idempotency
      .run(ORDER, ({ step }) => step('charge', effect, { onUnknown: 'stop', probe }))
      .then(
        ({ value }) => value,
        (error: { code: string }) => error.code,
      )
    expect(outcome).toBe(came)
    expect(effect).toHaveBeenCalledTimes(runs)
    expect(probe).toHaveBeenCalledTimes(1)
  })
})

describe('a step that throws', () => {
  test('leaves the operation to be resumed, over HTTP too', async () => {
    const { idempotency, record } = setUp()
    await expect(
      idempotency.run(ORDER, ({ step }) => step('charge', () => Promise.reject(new Error('503')))),
    ).rejects.toThrow('503')
    expect(record()?.status).toBe('RETRYABLE')
    expect((await idempotency.run(ORDER, ({ step }) => step('charge', () => 'ok'))).value).toBe('ok')
  })

  test('leaves the mark of a stop step open: a time-out may have had its effect', async () => {
    const { idempotency } = setUp()
    const options: StepOptions<string> = { onUnknown: 'stop' }
    const timedOut = () => Promise.reject(new DOMException('late', 'TimeoutError'))
    await expect(idempotency.run(ORDER, ({ step }) => step('mail', timedOut, options))).rejects.toThrow('late')
    await expect(idempotency.run(ORDER, ({ step }) => step('mail', () => 'sent', options))).rejects.toMatchObject({
      code: 'UNKNOWN_OUTCOME',
    })
  })

  test('closes its mark when it is certain that nothing happened', async () => {
    const { idempotency } = setUp()
    const options: StepOptions<string> = { onUnknown: 'stop' }
    const refused = () => Promise.reject(new NoEffectError())
    await idempotency.run(ORDER, async ({ step }) => {
      await step('mail', refused, options).catch(() => undefined)
      return 'gave up'
    })
    const other = setUp()
    await expect(
      other.idempotency.run(ORDER, async ({ step }) => {
        await step('first', () => 1)
        await step('mail', refused, options)
      }),
    ).rejects.toThrow(NoEffectError)
    expect((await other.idempotency.run(ORDER, ({ step }) => step('mail', () => 'sent', options))).value).toBe('sent')
  })
})

describe('a result that cannot be recorded', () => {
  test('because it is no plain data ends the operation as failed, and is never run again', async () => {
    const { idempotency, record } = setUp()
    const effect = vi.fn(() => ({ send: () => 1 }))
    await expect(idempotency.run(ORDER, ({ step }) => step('s', effect))).rejects.toThrow(/step "s".*result\.send/)
    expect(record()?.status).toBe('FAILED')
    await expect(idempotency.run(ORDER, ({ step }) => step('s', effect))).rejects.toMatchObject({
      code: 'OPERATION_FAILED',
    })
    expect(effect).toHaveBeenCalledTimes(1)
  })

  test('because the store is gone leaves the operation in progress to the end of its lease', async () => {
    const { idempotency, record } = setUp({}, { update: Array.from({ length: 500 }, () => 'not-applied' as const) })
    await expect(idempotency.run(ORDER, ({ step }) => step('s', () => 1))).rejects.toMatchObject({
      code: 'OUTCOME_NOT_RECORDED',
    })
    expect(record()?.status).toBe('IN_PROGRESS')
  })

  test('because its answer is lost is recorded by the repetition', async () => {
    const { idempotency, record } = setUp({}, { update: ['answer-lost'] })
    expect((await idempotency.run(ORDER, ({ step }) => step('s', () => 1))).value).toBe(1)
    expect(record()?.status).toBe('COMPLETED')
  })

  test('because another attempt took over throws LEASE_LOST, and the winner keeps its own', async () => {
    const { idempotency, clock } = setUp()
    const late = idempotency.run(ORDER, async ({ step }) => {
      await step('s', async () => {
        clock.advance(12_000)
        await idempotency.run(ORDER, (winner) => winner.step('s', () => 'winner'))
        return 'late'
      })
    })
    expect(await late).toMatchObject({ value: 'winner', replayed: true, attempt: 2 })
  })
})

describe('the end of an operation', () => {
  test('waits for steps that still run after another one threw', async () => {
    const { idempotency, record } = setUp()
    const slow = Promise.withResolvers<string>()
    const run = idempotency.run(ORDER, ({ step }) =>
      Promise.all([step('slow', () => slow.promise), step('fails', () => Promise.reject(new Error('boom')))]),
    )
    const failed = run.catch((error: Error) => error.message)
    for (let turn = 0; turn < 100; turn++) await Promise.resolve()
    expect(record()?.status).toBe('IN_PROGRESS')
    slow.resolve('done')
    expect(await failed).toBe('boom')
    expect(record()).toMatchObject({ status: 'RETRYABLE', steps: { slow: { kind: 'done' } } })
  })

  test('with a step that nobody waited for is an error, not a completion', async () => {
    const { idempotency, record } = setUp()
    const run = idempotency.run(ORDER, ({ step }) => {
      void step('forgotten', async () => 1)
      return 'done'
    })
    await expect(run).rejects.toThrow(/"forgotten".*not awaited/)
    expect(record()?.status).toBe('FAILED')
  })

  test('lets no step begin any more', async () => {
    const { idempotency } = setUp()
    let escaped: Operation['step'] | undefined
    await idempotency.run(ORDER, ({ step }) => {
      escaped = step
    })
    await expect(escaped?.('late', () => 1)).rejects.toMatchObject({ code: 'LEASE_LOST' })
  })
})

describe('a step that is used wrongly', () => {
  test.each<[string, (step: Operation['step']) => Promise<unknown>, RegExp]>([
    ['without a name', (step) => step('', () => 1), /name must be a string of 1 to 64 bytes/],
    ['with a name that no item can have', (step) => step('__proto__', () => 1), /not "__proto__"/],
    ['with a long name', (step) => step('x'.repeat(65), () => 1), /1 to 64 bytes/],
    ['without work', (step) => step('s', undefined as never), /work must be a function; got undefined/],
    ['with an unknown option', (step) => step('s', () => 1, { retries: 3 } as never), /no option "retries"/],
    [
      'with a wrong option',
      (step) => step('s', () => 1, { onUnknown: 'maybe' as never }),
      /onUnknown must be "retry" or "stop"/,
    ],
    [
      'twice under one name',
      async (step) => [await step('s', () => 1), await step('s', () => 2)],
      /name was used before/,
    ],
    [
      'too often',
      async (step) => {
        for (let n = 0; n < 41; n++) await step(`s${n}`, () => n)
      },
      /at most 40 steps/,
    ],
  ])('%s', async (_name, use, message) => {
    const { idempotency } = setUp()
    await expect(idempotency.run(ORDER, ({ step }) => use(step))).rejects.toThrow(message)
  })
})

describe('an operation that keeps crashing', () => {
  test('becomes unknown after maxCrashes, and is not run again', async () => {
    const { idempotency, crash, record } = setUp({ maxCrashes: 2 })
    await crash(async () => undefined)
    await crash(async () => undefined)
    await crash(async () => undefined)
    const work = vi.fn()
    await expect(idempotency.run(ORDER, work)).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' })
    await expect(idempotency.run(ORDER, work)).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' })
    expect(work).not.toHaveBeenCalled()
    expect(record()).toMatchObject({ status: 'UNKNOWN', crashes: 3 })
  })

  test('does not count attempts that threw', async () => {
    const { idempotency, record } = setUp({ maxCrashes: 0, effects: 'steps-only' })
    for (let n = 0; n < 3; n++)
      await expect(idempotency.run(ORDER, () => Promise.reject(new Error('x')))).rejects.toThrow()
    expect((await idempotency.run(ORDER, () => 'ok')).attempt).toBe(4)
    expect(record()).not.toHaveProperty('crashes')
  })
})

describe('settle', () => {
  const unknown = async () => {
    const set = setUp()
    await set.crash(({ step }) => killedInside(step, 'mail', () => undefined, { onUnknown: 'stop' }))
    await set.idempotency
      .run(ORDER, ({ step }) => step('mail', () => 'x', { onUnknown: 'stop' }))
      .catch(() => undefined)
    expect(set.record()?.status).toBe('UNKNOWN')
    return set
  }

  test('with a value answers it to every repetition', async () => {
    const { idempotency, record } = await unknown()
    expect(await idempotency.settle({ key: ORDER.key }, { value: 'sent' })).toBe('settled')
    expect(await idempotency.run(ORDER, () => 'again')).toMatchObject({ value: 'sent', replayed: true })
    expect(record()).not.toHaveProperty('unknownStep')
    expect(record()?.expiresAt).toBeDefined()
    expect(await idempotency.settle({ key: ORDER.key }, { value: 'other' })).toBe('finished')
  })

  test('with an error answers the failure', async () => {
    const { idempotency } = await unknown()
    expect(await idempotency.settle({ key: ORDER.key }, { error: new Error('bounced') })).toBe('settled')
    await expect(idempotency.run(ORDER, () => 'again')).rejects.toThrow(/bounced/)
  })

  test('with rerun lets the next delivery run the step', async () => {
    const { idempotency } = await unknown()
    expect(await idempotency.settle({ key: ORDER.key }, { rerun: true })).toBe('settled')
    const run = idempotency.run(ORDER, ({ step }) => step('mail', () => 'sent now', { onUnknown: 'stop' }))
    expect((await run).value).toBe('sent now')
  })

  test("ends what takeover: 'never' left behind, and never what is running", async () => {
    const { idempotency, clock } = setUp({ takeover: 'never' })
    void idempotency.run(ORDER, () => new Promise(() => undefined))
    await vi.waitFor(async () => expect(await idempotency.settle({ key: ORDER.key }, { value: 1 })).toBe('in-progress'))
    clock.advance(12_000)
    expect(await idempotency.settle({ key: ORDER.key }, { value: 1 })).toBe('settled')
  })

  test('answers not-found for an operation nobody began, and refuses a wrong settlement', async () => {
    const { idempotency } = setUp()
    expect(await idempotency.settle({ key: 'nobody' }, { rerun: true })).toBe('not-found')
    await expect(idempotency.settle({ key: 'k' }, {} as never)).rejects.toThrow(/exactly one of/)
    await expect(idempotency.settle({ key: ' ' }, { rerun: true })).rejects.toMatchObject({ code: 'MISSING_KEY' })
  })

  test('refuses a value that cannot be stored, and changes nothing', async () => {
    const { idempotency, record } = await unknown()
    const before = record()
    await expect(idempotency.settle({ key: ORDER.key }, { value: () => 1 })).rejects.toMatchObject({
      code: 'OUTCOME_UNSTORABLE',
    })
    expect(record()).toEqual(before)
  })
})

test('what a step answers is inferred', async () => {
  const { idempotency } = setUp()
  await idempotency.run(ORDER, async ({ step }) => {
    const charge = await step('charge', async ({ idempotencyKey, signal }) => ({
      id: idempotencyKey,
      late: signal.aborted,
    }))
    expectTypeOf(charge).toEqualTypeOf<{ id: string; late: boolean }>()
    expect(charge.late).toBe(false)
  })
})

test('a step that is done while another one throws NoEffectError is never released with its operation', async () => {
  const { idempotency, record } = setUp()
  const slow = Promise.withResolvers<string>()
  const charge = vi.fn(() => slow.promise)
  const work = ({ step }: Operation) =>
    Promise.all([step('charge', charge), step('check', () => Promise.reject(new NoEffectError()))])
  const failed = idempotency.run(ORDER, work).catch((error: Error) => error.name)
  for (let turn = 0; turn < 100; turn++) await Promise.resolve()
  slow.resolve('charged')
  expect(await failed).toBe('NoEffectError')
  expect(record()).toMatchObject({ status: 'RETRYABLE', steps: { charge: { kind: 'done' } } })
  await idempotency.run(ORDER, ({ step }) => step('charge', charge))
  expect(charge).toHaveBeenCalledTimes(1)
})

test('a settlement that does not say true to a rerun is refused', async () => {
  const { idempotency } = setUp()
  for (const wrong of [{ rerun: false }, null]) {
    await expect(idempotency.settle({ key: 'k' }, wrong as never)).rejects.toThrow(/exactly one of/)
  }
})

test('NoEffectError in a later attempt leaves the first start mark, so the time a key is valid is not begun anew', async () => {
  const { idempotency, crash, clock } = setUp()
  const options: StepOptions<string> = { keyValidSeconds: 100 }
  await crash(({ step }) => killedInside(step, 'charge', () => undefined, options))
  const refused = () => Promise.reject(new NoEffectError())
  await expect(idempotency.run(ORDER, ({ step }) => step('charge', refused, options))).rejects.toThrow(NoEffectError)
  clock.advance(100_000)
  const effect = vi.fn(() => 'again')
  const late = idempotency.run(ORDER, ({ step }) => step('charge', effect, options))
  await expect(late).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' })
  expect(effect).not.toHaveBeenCalled()
})
