import { describe, expect, test } from 'vitest'
import { NoEffectError, type Operation, PermanentError, RetryLater } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { setUpCommits } from './commit-harness.ts'
import { codeOf, ORDER } from './harness.ts'

const NAME = { key: ORDER.key }
const INVOCATION = { getRemainingTimeInMillis: () => 10_000 }
/** Waits until a signal has come, and answers with what came. */
const untilSignalled = async ({ signals, wait }: Operation) => {
  const seen = await signals()
  return seen.length === 0 ? wait() : seen
}

describe('a signal', () => {
  test('to a waiting operation makes it due, and its next attempt gets the payload', async () => {
    const { idempotency, record, clock, events } = setUpCommits()
    await codeOf(idempotency.run(ORDER, untilSignalled))
    expect(await idempotency.signal(NAME, { paid: 5 })).toBe('delivered')
    expect(record()).toMatchObject({ status: 'WAITING', resumeAtMs: clock.now(), dueAtMs: clock.now() })
    expect(events.at(-1)).toMatchObject({ type: 'signalled', attempt: 1 })
    expect(await idempotency.run(ORDER, untilSignalled)).toMatchObject({ value: [{ paid: 5 }], attempt: 2 })
  })

  test('that comes before the wait is not missed', async () => {
    const { idempotency } = setUpCommits()
    const run = idempotency.run(ORDER, async (operation) => {
      const answer = await untilSignalled(operation)
      expect(await idempotency.signal(NAME, 'early')).toBe('delivered')
      return answer
    })
    expect(await codeOf(run)).toBe('WAITING')
    expect((await idempotency.run(ORDER, untilSignalled)).value).toEqual(['early'])
  })

  test('that comes to an attempt which gives its key back is kept, and the operation left to be resumed', async () => {
    const { idempotency, record } = setUpCommits()
    const run = idempotency.run(ORDER, async () => {
      expect(await idempotency.signal(NAME, 'early')).toBe('delivered')
      throw new NoEffectError('not now')
    })
    await expect(run).rejects.toThrow('not now')
    expect(record()).toMatchObject({ status: 'RETRYABLE', signals: [expect.anything()] })
    expect((await idempotency.run(ORDER, untilSignalled)).value).toEqual(['early'])
  })

  test('that never came leaves a key given back as it was', async () => {
    const { idempotency, record } = setUpCommits()
    await idempotency.run(ORDER, () => Promise.reject(new NoEffectError('not now'))).catch(() => undefined)
    expect(record()).toMatchObject({ status: 'RELEASED' })
  })

  test('that comes between the decision to wait and its write is not missed', async () => {
    const memory = memoryStore()
    let interfere: (() => Promise<unknown>) | undefined
    const h = setUpCommits({
      store: {
        ...memory,
        async update(id, change, condition) {
          const now = change.status === 'WAITING' ? interfere : undefined
          interfere = now === undefined ? interfere : undefined
          await now?.()
          return memory.update(id, change, condition)
        },
      },
    })
    const { idempotency: other } = setUpCommits({ store: memory, clock: h.clock })
    interfere = () => other.signal(NAME, 'in between')
    const error: unknown = await h.idempotency.run(ORDER, untilSignalled).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'WAITING', retryAfterSeconds: 1 })
    expect(memory.records()[0]).toMatchObject({ status: 'WAITING', resumeAtMs: h.clock.now() })
    expect((await h.idempotency.run(ORDER, untilSignalled)).value).toEqual(['in between'])
  })

  test('while the operation runs reaches it in its next attempt, in this one nothing changes', async () => {
    const { idempotency } = setUpCommits()
    const seen: unknown[] = []
    const run = () =>
      idempotency.run(ORDER, async ({ attempt, signals }) => {
        await idempotency.signal(NAME, attempt)
        seen.push(await signals())
        if (attempt < 3) throw new RetryLater()
        return 'done'
      })
    expect([await codeOf(run()), await codeOf(run()), await codeOf(run())]).toEqual([
      'RETRY_LATER',
      'RETRY_LATER',
      'no error',
    ])
    expect(seen).toEqual([[], [1], [1, 2]])
  })

  test('does not take the lease from the operation that runs', async () => {
    const { idempotency, record } = setUpCommits()
    await idempotency.run(ORDER, async ({ step, commit }) => {
      const { leaseUntil } = record() ?? {}
      await idempotency.signal(NAME)
      expect(record()).toMatchObject({ status: 'IN_PROGRESS', leaseUntil })
      await step('one', () => 1)
      return commit('committed')
    })
    expect(record()?.status).toBe('COMPLETED')
  })

  test('wakes it again, when it waits for a further one', async () => {
    const { idempotency } = setUpCommits()
    const forTwo = async ({ signals, wait }: Operation) => {
      const seen = await signals()
      return seen.length < 2 ? wait() : seen
    }
    for (const payload of ['a', 'b']) {
      expect(await codeOf(idempotency.run(ORDER, forTwo))).toBe('WAITING')
      expect(await codeOf(idempotency.run(ORDER, () => 'not run'))).toBe('WAITING')
      await idempotency.signal(NAME, payload)
    }
    expect((await idempotency.run(ORDER, forTwo)).value).toEqual(['a', 'b'])
  })

  test('ends a delay early', async () => {
    const { idempotency } = setUpCommits()
    await codeOf(idempotency.run(ORDER, ({ delay }) => delay({ seconds: 3600 })))
    await idempotency.signal(NAME, 'now')
    expect((await idempotency.run(ORDER, ({ signals }) => signals())).value).toEqual(['now'])
  })

  test('with an id that has come before is not stored again', async () => {
    const { idempotency, record } = setUpCommits()
    await codeOf(idempotency.run(ORDER, untilSignalled))
    expect(await idempotency.signal(NAME, 'first', { id: 'evt_1' })).toBe('delivered')
    expect(await idempotency.signal(NAME, 'again', { id: 'evt_1' })).toBe('duplicate')
    expect(record()?.signals).toHaveLength(1)
    expect((await idempotency.run(ORDER, untilSignalled)).value).toEqual(['first'])
  })

  test('without an id is one of its own every time', async () => {
    const { idempotency } = setUpCommits()
    await codeOf(idempotency.run(ORDER, untilSignalled))
    await idempotency.signal(NAME, 'same')
    await idempotency.signal(NAME, 'same')
    expect((await idempotency.run(ORDER, untilSignalled)).value).toEqual(['same', 'same'])
  })

  test('brings every kind of payload, large ones too, in their order', async () => {
    const { idempotency, record } = setUpCommits()
    await codeOf(idempotency.run(ORDER, untilSignalled))
    const large = Array.from({ length: 30_000 }, () => crypto.randomUUID()).join()
    const payloads = [undefined, null, '', 0, new Date(0), new Map([['a', 1n]]), large, { last: true }]
    for (const payload of payloads) await idempotency.signal(NAME, payload)
    expect(JSON.stringify(record()).length).toBeLessThan(4_000)
    let seen: readonly unknown[] = []
    await idempotency.run(ORDER, async ({ signals }) => {
      seen = await signals()
    })
    expect(seen).toEqual(payloads)
  })

  test('that many send at the same time is stored once for each of them', async () => {
    const { idempotency, record } = setUpCommits()
    await codeOf(idempotency.run(ORDER, untilSignalled))
    const sent = await Promise.all([1, 2, 3, 4, 5].map((n) => idempotency.signal(NAME, n, { id: `evt_${n}` })))
    expect(new Set(sent)).toEqual(new Set(['delivered']))
    expect(new Set(record()?.signals?.map(({ id }) => id)).size).toBe(5)
  })
})

type Prepare = (h: ReturnType<typeof setUpCommits>) => Promise<unknown>
const throwing =
  (error: Error): Prepare =>
  ({ idempotency }) =>
    codeOf(
      idempotency.run(ORDER, () => {
        throw error
      }),
    )

describe('a signal to an operation that is', () => {
  test.each<[string, Prepare, string]>([
    ['absent', async () => undefined, 'not-found'],
    ['completed', ({ idempotency }) => idempotency.run(ORDER, () => 1), 'finished'],
    ['failed', throwing(new PermanentError('no')), 'finished'],
    ['released', throwing(new NoEffectError()), 'not-found'],
    [
      'expired',
      async ({ idempotency, clock }) => {
        await idempotency.run(ORDER, () => 1)
        clock.advance(86_401_000)
      },
      'not-found',
    ],
    ['unknown', throwing(new Error('nobody knows')), 'delivered'],
    ['resumable', throwing(new RetryLater()), 'delivered'],
    [
      'left behind by a crash',
      async ({ idempotency, clock }) => {
        void idempotency.run({ ...ORDER, context: INVOCATION }, () => new Promise(() => undefined))
        await new Promise((resolve) => setImmediate(resolve))
        clock.advance(20_000)
      },
      'delivered',
    ],
  ])('%s', async (_name, prepare, result) => {
    const h = setUpCommits({
      onError: (error) => (error instanceof Error && error.message === 'nobody knows' ? 'unknown' : undefined),
    })
    await prepare(h)
    const before = h.record()
    expect(await h.idempotency.signal(NAME, 'payload')).toBe(result)
    expect(h.record()?.status).toBe(before?.status)
    if (result !== 'delivered') expect(h.record()).toEqual(before)
    else expect(h.record()?.signals).toHaveLength(1)
  })
})

describe('a signal that goes wrong', () => {
  test('because its answer was lost, and its repetition met its own write, was delivered', async () => {
    const memory = memoryStore()
    const { idempotency } = setUpCommits({
      store: {
        ...memory,
        async update(...args) {
          const answer = await memory.update(...args)
          // What the SDK does with a lost answer: it sends the same again.
          return args[1].signals === undefined ? answer : memory.update(...args)
        },
      },
    })
    await codeOf(idempotency.run(ORDER, untilSignalled))
    expect(await idempotency.signal(NAME, 'once')).toBe('delivered')
    expect(memory.records()[0]?.signals).toHaveLength(1)
  })

  test('because the store cannot tell says so; sent again under its id, it is there once', async () => {
    const { idempotency, record } = setUpCommits({}, { faults: { update: ['none', 'answer-lost'] } })
    await codeOf(idempotency.run(ORDER, untilSignalled))
    expect(await codeOf(idempotency.signal(NAME, 'once', { id: 'evt_1' }))).toBe('STORE')
    expect(await idempotency.signal(NAME, 'once', { id: 'evt_1' })).toBe('duplicate')
    expect(record()?.signals).toHaveLength(1)
  })

  test('because the record changes with every try says to send it again', async () => {
    const memory = memoryStore()
    const { idempotency } = setUpCommits({
      store: {
        ...memory,
        update: async (id, change, condition) =>
          change.signals === undefined
            ? memory.update(id, change, condition)
            : { applied: false, existing: await memory.get(id) },
      },
    })
    await codeOf(idempotency.run(ORDER, untilSignalled))
    await expect(idempotency.signal(NAME)).rejects.toMatchObject({ code: 'STORE', retryable: true })
  })

  test('because there are too many says so', async () => {
    const { idempotency } = setUpCommits()
    await codeOf(idempotency.run(ORDER, untilSignalled))
    for (let n = 0; n < 50; n++) expect(await idempotency.signal(NAME, n)).toBe('delivered')
    await expect(idempotency.signal(NAME, 51)).rejects.toThrow(/at most 50 signals/)
  })

  test.each<[string, unknown, object, string]>([
    ['an empty id', 1, { id: '' }, 'INVALID_OPTION'],
    ['a long id', 1, { id: 'x'.repeat(256) }, 'INVALID_OPTION'],
    ['an unknown option', 1, { ID: '1' }, 'INVALID_OPTION'],
    ['a payload that is no data', { f: () => 1 }, {}, 'OUTCOME_UNSTORABLE'],
  ])('because of %s is refused, and nothing is written', async (_name, payload, options, code) => {
    const { idempotency, record } = setUpCommits()
    await codeOf(idempotency.run(ORDER, untilSignalled))
    const before = record()
    expect(await codeOf(idempotency.signal(NAME, payload, options))).toBe(code)
    expect(record()).toEqual(before)
  })

  test('because it has no key is refused', async () => {
    const { idempotency, store } = setUpCommits()
    expect(await codeOf(idempotency.signal({ key: '' }, 1))).toBe('MISSING_KEY')
    expect(store.calls).toEqual([])
  })
})
