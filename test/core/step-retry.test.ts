import { describe, expect, test } from 'vitest'
import { NoEffectError, type StepContext, type StepOptions } from '../../lib/index.ts'
import { setUpCommits } from './commit-harness.ts'
import type { FakeClock } from './fake-clock.ts'
import { codeOf, ORDER } from './harness.ts'

const transient = () => Object.assign(new Error('busy'), { statusCode: 503 })
const RETRY = { retry: { maxAttempts: 3 } }
/** Lets the clock run while the retries wait for it. */
async function inTime<T>(clock: FakeClock, running: Promise<T>): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  running.then(over, over)
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(20)
  }
  return running
}

const INVOCATION = { getRemainingTimeInMillis: () => 10_000 }

/** Fails so often, and then answers. */
function failing(times: number, error: () => Error = transient) {
  const keys: string[] = []
  return {
    keys,
    work: ({ idempotencyKey }: StepContext) => {
      keys.push(idempotencyKey)
      if (keys.length <= times) throw error()
      return 'charged'
    },
  }
}

describe('a step with retry', () => {
  test('is repeated within the step while it fails for a while, under one downstream key', async () => {
    const { idempotency, store, clock } = setUpCommits()
    const startMs = clock.now()
    const { keys, work } = failing(2)
    const run = idempotency.run(ORDER, ({ step }) => step('charge', work, RETRY))
    expect((await inTime(clock, run)).value).toBe('charged')
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    expect(clock.now()).toBeGreaterThan(startMs)
    expect(store.calls).toEqual(['put', 'update', 'update'])
  })

  test('that gives up leaves the operation to be resumed, under the same key', async () => {
    const { idempotency, record, clock } = setUpCommits()
    const { keys, work } = failing(3)
    const run = () =>
      inTime(
        clock,
        idempotency.run(ORDER, ({ step }) => step('charge', work, RETRY)),
      )
    expect(await codeOf(run())).toBe('RETRY_GAVE_UP')
    expect(record()).toMatchObject({ status: 'RETRYABLE', steps: {} })
    expect((await run()).value).toBe('charged')
    expect([keys.length, new Set(keys).size]).toEqual([4, 1])
  })

  test('does not repeat what is no passing failure', async () => {
    const { idempotency, record } = setUpCommits()
    const { keys, work } = failing(9, () => Object.assign(new Error('bad request'), { statusCode: 400 }))
    expect(await codeOf(idempotency.run(ORDER, ({ step }) => step('charge', work, RETRY)))).toBe('Error: bad request')
    expect(keys).toHaveLength(1)
    expect(record()?.status).toBe('RETRYABLE')
  })

  test('lets NoEffectError through, which releases', async () => {
    const { idempotency, record } = setUpCommits()
    const { keys, work } = failing(9, () => new NoEffectError())
    const run = idempotency.run(ORDER, ({ step }) => step('charge', work, { ...RETRY, keyValidSeconds: 60 }))
    expect(await codeOf(run)).toBe('NO_EFFECT')
    expect(keys).toHaveLength(1)
    expect(record()).toMatchObject({ status: 'RELEASED', steps: {} })
  })

  test('is not repeated by a later attempt once it is recorded', async () => {
    const { idempotency, clock } = setUpCommits()
    const { keys, work } = failing(1)
    const run = () =>
      inTime(
        clock,
        idempotency.run(ORDER, async ({ step, attempt, delay }) => {
          const charge = await step('charge', work, RETRY)
          return attempt === 1 ? delay({ seconds: 0 }) : charge
        }),
      )
    expect(await codeOf(run())).toBe('WAITING')
    expect((await run()).value).toBe('charged')
    expect(keys).toHaveLength(2)
  })

  test('is refused with onUnknown: stop, before anything runs', async () => {
    const { idempotency } = setUpCommits()
    const { keys, work } = failing(0)
    const options: StepOptions<string> = { ...RETRY, onUnknown: 'stop' }
    const run = idempotency.run(ORDER, ({ step }) => step('charge', work, options))
    await expect(run).rejects.toThrow(/exclude each other/)
    expect(keys).toEqual([])
  })

  test.each<[string, object]>([
    ['attempts', { maxAttempts: 0 }],
    ['an unknown option', { attempts: 3 }],
    ['a signal that is none', { signal: 5 }],
  ])('is refused with a policy whose %s is wrong', async (_name, retry) => {
    const { idempotency } = setUpCommits()
    const { keys, work } = failing(0)
    const run = idempotency.run(ORDER, ({ step }) => step('charge', work, { retry }))
    expect(await codeOf(run)).toBe('INVALID_OPTION')
    expect(keys).toEqual([])
  })

  test('ends with the policy’s own signal', async () => {
    const { idempotency, record } = setUpCommits()
    const controller = new AbortController()
    const { keys, work } = failing(9, () => {
      controller.abort(new Error('shutting down'))
      return transient()
    })
    const retry = { maxAttempts: 9, signal: controller.signal }
    expect(await codeOf(idempotency.run(ORDER, ({ step }) => step('charge', work, { retry })))).toBe(
      'Error: shutting down',
    )
    expect(keys).toHaveLength(1)
    expect(record()?.status).toBe('RETRYABLE')
  })

  test('ends with the operation’s time, and leaves it to be resumed', async () => {
    const { idempotency, clock, record } = setUpCommits()
    const { keys, work } = failing(9, () => {
      clock.advance(4_000)
      return transient()
    })
    const run = idempotency.run({ ...ORDER, context: INVOCATION }, ({ step }) =>
      step('charge', work, { retry: { maxAttempts: 9, totalSeconds: 600 } }),
    )
    expect(await codeOf(inTime(clock, run))).toBe('LEASE_LOST')
    expect(keys).toHaveLength(3)
    expect(record()?.status).toBe('RETRYABLE')
  })
})

describe('a step that its operation’s signal has aborted', () => {
  test('leaves the operation to be resumed: nothing of the step is recorded', async () => {
    const { idempotency, clock, record } = setUpCommits()
    const run = idempotency.run({ ...ORDER, context: INVOCATION }, ({ step }) =>
      step('charge', async ({ signal }) => {
        expect(signal.aborted).toBe(false)
        clock.advance(9_600)
        await new Promise((resolve) => setImmediate(resolve))
        signal.throwIfAborted()
      }),
    )
    expect(await codeOf(run)).toBe('LEASE_LOST')
    expect(record()?.status).toBe('RETRYABLE')
    expect((await idempotency.run(ORDER, () => 'resumed')).value).toBe('resumed')
  })
})
