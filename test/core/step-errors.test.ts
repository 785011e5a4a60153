import { describe, expect, test, vi } from 'vitest'
import { engineOf } from '../../lib/idempotency/idempotency.ts'
import { createIdempotency, NoEffectError, type Operation, type OperationRecord, RetryLater } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from './fake-clock.ts'
import { type Fault, faultyStore } from './faulty-store.ts'
import { codeOf, ORDER } from './harness.ts'

type Kind = OperationRecord['status']

/** An engine whose store can be made to fail from the middle of the work. */
function setUp() {
  const memory = memoryStore()
  const clock = fakeClock()
  const update: Fault[] = []
  const getParts: Fault[] = []
  const store = faultyStore(memory, { update, getParts })
  const idempotency = createIdempotency({ store, clock, namespace: 'payments', leaseSeconds: 10, random: () => 0.5 })
  const status = (): Kind | undefined => memory.records()[0]?.status
  return { idempotency, clock, memory, update, getParts, status }
}

const failFor = (faults: Fault[], calls: number) =>
  faults.push(...Array.from({ length: calls }, () => 'not-applied' as const))

describe('an operation whose step was tried', () => {
  const swallow = async (step: Operation['step']) => {
    await step('charge', () => Promise.reject(new Error('a time-out: it may have happened'))).catch(() => undefined)
  }

  test('is resumed, not released, when the work then says that nothing has happened', async () => {
    const { idempotency, status } = setUp()
    const run = idempotency.run(ORDER, async ({ step }) => {
      await swallow(step)
      throw new NoEffectError()
    })
    expect(await codeOf(run)).toBe('NO_EFFECT')
    expect(status()).toBe('RETRYABLE')
  })

  test('is resumed, not released, when the work asks for a release', async () => {
    const { idempotency, status } = setUp()
    await idempotency.run(ORDER, async (operation) => {
      await swallow(operation.step)
      operation.release()
    })
    expect(status()).toBe('RETRYABLE')
  })

  test('is released all the same when the step itself was certain that nothing happened', async () => {
    const { idempotency, status } = setUp()
    const run = idempotency.run(ORDER, ({ step }) => step('charge', () => Promise.reject(new NoEffectError())))
    expect(await codeOf(run)).toBe('NO_EFFECT')
    expect(status()).toBe('RELEASED')
  })
})

describe('an operation with a step that is done and could not be recorded', () => {
  test.each([
    ['NoEffectError', () => new NoEffectError()],
    ['RetryLater', () => new RetryLater()],
  ])('keeps its lease when the work throws %s', async (_name, error) => {
    const { idempotency, update, status } = setUp()
    const run = idempotency.run(ORDER, async ({ step }) => {
      failFor(update, 500)
      await step('charge', () => 'done').catch(() => undefined)
      update.length = 0
      throw error()
    })
    await expect(run).rejects.toThrow()
    expect(status()).toBe('IN_PROGRESS')
  })

  test('is completed when the work returns', async () => {
    const { idempotency, update, status } = setUp()
    await idempotency.run(ORDER, async ({ step }) => {
      failFor(update, 500)
      await step('charge', () => 'done').catch(() => undefined)
      update.length = 0
    })
    expect(status()).toBe('COMPLETED')
  })
})

describe("an error of a step's own machinery leaves the operation to be resumed", () => {
  test('when the start mark cannot be written', async () => {
    const { idempotency, update, status } = setUp()
    const work = vi.fn()
    const run = idempotency.run(ORDER, async ({ step }) => {
      failFor(update, 500)
      await step('mail', work, { onUnknown: 'stop' }).finally(() => {
        update.length = 0
      })
    })
    expect(await codeOf(run)).toBe('STORE')
    expect(work).not.toHaveBeenCalled()
    expect(status()).toBe('RETRYABLE')
  })

  test('when the probe throws', async () => {
    const { idempotency, clock, status } = setUp()
    const options = { onUnknown: 'stop', probe: () => Promise.reject(new Error('the provider is down')) } as const
    await new Promise<void>((begun) => {
      void idempotency.run(ORDER, ({ step }) => step('mail', () => new Promise(() => begun()), options))
    })
    clock.advance(12_000)
    await expect(idempotency.run(ORDER, ({ step }) => step('mail', vi.fn(), options))).rejects.toThrow(
      'provider is down',
    )
    expect(status()).toBe('RETRYABLE')
  })

  test('when a recorded result cannot be read now', async () => {
    const { idempotency, getParts, status } = setUp()
    const large = Array.from({ length: 20_000 }, (_, n) => `${n}:${Math.sin(n)}`)
    const first = idempotency.run(ORDER, async ({ step }) => {
      await step('load', () => large)
      throw new RetryLater()
    })
    expect(await codeOf(first)).toBe('RETRY_LATER')
    getParts.push('not-applied')
    const work = vi.fn()
    expect(await codeOf(idempotency.run(ORDER, ({ step }) => step('load', work)))).toBe('STORE')
    expect(status()).toBe('RETRYABLE')
    expect((await idempotency.run(ORDER, ({ step }) => step('load', work))).value).toEqual(large)
    expect(work).not.toHaveBeenCalled()
  })
})

test('a start mark that cannot be taken back does not hide why the step failed', async () => {
  const { idempotency, update, status } = setUp()
  const error = new NoEffectError('The card was refused.')
  const run = idempotency.run(ORDER, ({ step }) =>
    step(
      'charge',
      () => {
        failFor(update, 500)
        throw error
      },
      { onUnknown: 'stop' },
    ).finally(() => {
      update.length = 0
    }),
  )
  await expect(run).rejects.toBe(error)
  expect(Reflect.get(error, 'suppressed')).toMatchObject({ code: 'STORE' })
  expect(status()).toBe('RETRYABLE')
})

test('what an operation becomes is decided only when its open steps have ended, by whichever way it ends', async () => {
  const { idempotency, status } = setUp()
  const engine = engineOf(idempotency)
  const claim = await engine.claim(engine.request({ key: 'k', fingerprint: false, contract: 'answer' }))
  if (claim.kind !== 'claimed') throw new Error(claim.kind)
  const { execution } = claim
  const charge = Promise.withResolvers<string>()
  const step = execution.operation.step('charge', () => charge.promise)
  const ending = execution.giveUp('release')
  charge.resolve('done')
  expect(await step).toBe('done')
  expect(await ending).toEqual({ kind: 'recorded', as: 'resumable' })
  expect(status()).toBe('RETRYABLE')
})

test('an extended lease is not made shorter by a step that is recorded at the same time', async () => {
  const { idempotency, clock, memory } = setUp()
  await idempotency.run(ORDER, async ({ step, extend }) => {
    await Promise.all([extend(600), step('a', () => 1), step('b', () => 2)])
    expect(memory.records()[0]?.leaseUntil).toBe(clock.now() + 600_000)
  })
})

describe('the parts of a large step result', () => {
  const large = Array.from({ length: 20_000 }, (_, n) => `${n}:${Math.sin(n)}`)
  const DAY_SECONDS = 86_400

  test.each([
    ['auto', 2 * 366 * DAY_SECONDS],
    ['never', undefined],
  ] as const)('outlive a record that is unfinished for long, with takeover: %s', async (takeover, longerThan) => {
    const memory = memoryStore()
    const clock = fakeClock()
    const expiries: (number | undefined)[] = []
    const store = {
      ...memory,
      putParts: (parts: Parameters<typeof memory.putParts>[0]) => {
        expiries.push(parts.expiresAt)
        return memory.putParts(parts)
      },
    }
    const idempotency = createIdempotency({ store, clock, namespace: 'payments', takeover, retentionSeconds: 60 })
    const startSeconds = clock.now() / 1000
    await idempotency.run(ORDER, async ({ step }) => {
      await step('load', () => large)
      return large
    })
    const [ofStep, ofOutcome] = expiries
    if (longerThan === undefined) expect(ofStep).toBeUndefined()
    else expect(ofStep).toBeGreaterThan(startSeconds + longerThan)
    expect(ofOutcome).toBe(startSeconds + 60 + 7 * DAY_SECONDS)
  })
})

test('a key that is valid for a time is not used when the clocks of two machines may disagree on its end', async () => {
  const { idempotency, clock, status } = setUp()
  await new Promise<void>((begun) => {
    void idempotency.run(ORDER, ({ step }) => step('charge', () => new Promise(() => begun()), { keyValidSeconds: 60 }))
  })
  clock.advance(59_500)
  const work = vi.fn()
  expect(await codeOf(idempotency.run(ORDER, ({ step }) => step('charge', work, { keyValidSeconds: 60 })))).toBe(
    'UNKNOWN_OUTCOME',
  )
  expect(work).not.toHaveBeenCalled()
  expect(status()).toBe('UNKNOWN')
})

test('a takeover by a caller without a fingerprint, or of one who had none, keeps the downstream keys', async () => {
  for (const first of [false, 'f'] as const) {
    const { idempotency } = setUp()
    const keys: string[] = []
    const charge = ({ step }: Operation) =>
      step('charge', ({ idempotencyKey }) => {
        keys.push(idempotencyKey)
        throw new RetryLater()
      })
    await codeOf(idempotency.run({ key: 'k', fingerprint: first }, charge))
    await codeOf(idempotency.run({ key: 'k', fingerprint: first === false ? 'f' : false }, charge))
    expect(keys[1]).toBe(keys[0])
    expect(keys).toHaveLength(2)
  }
})

test('a handler that comes back after an operator settled its operation learns that it lost the lease', async () => {
  const { idempotency, clock } = setUp()
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<string>()
  const late = idempotency.run(ORDER, () => {
    begun.resolve()
    return gate.promise
  })
  await begun.promise
  clock.advance(12_000)
  expect(await idempotency.settle({ key: ORDER.key }, { value: 'settled' })).toBe('settled')
  gate.resolve('late')
  expect(await late).toEqual({ value: 'settled', replayed: true, attempt: 1 })
  expect((await idempotency.run(ORDER, vi.fn())).value).toBe('settled')
})
