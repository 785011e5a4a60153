import { describe, expect, test } from 'vitest'
import { createIdempotency, isLambdaOnceError, type Operation, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from './fake-clock.ts'
import { overEveryCall } from './faulty-store.ts'

const FAULTS = ['crash before', 'crash after', 'answer lost', 'not applied'] as const
type Plan = ReadonlyMap<number, (typeof FAULTS)[number]>

/** More than there are faulty calls, so that the last deliveries meet none. */
const MAX_DELIVERIES = 12
const MAX_CALLS = 9

/** A delivery whose process was killed: nothing of it comes back. */
const CRASHED = Symbol('crashed')

/** Delivers one request again and again, with faults at chosen store calls, until it is answered for good. */
async function deliver(plan: Plan, work: (operation: Operation, effect: (key: string) => string) => Promise<string>) {
  const memory = memoryStore()
  const clock = fakeClock()
  const effects = new Map<string, number>()
  let calls = 0
  let kill: () => void = () => undefined

  const store = overEveryCall(memory, (_name, send) => async (...args) => {
    const fault = plan.get(calls++)
    if (fault === 'not applied') throw new StoreError('The request never arrived.', { retryable: true })
    if (fault !== 'crash before') {
      const answer = await send(...args)
      if (fault === undefined) return answer
      if (fault === 'answer lost') throw new StoreError('The answer was lost.', { retryable: true })
    }
    kill()
    return new Promise(() => undefined)
  })
  const idempotency = createIdempotency({
    store,
    clock,
    namespace: 'n',
    leaseSeconds: 10,
    random: () => 0.5,
    effects: 'steps-only',
  })

  const effect = (key: string) => {
    effects.set(key, (effects.get(key) ?? 0) + 1)
    return `effect of ${key}`
  }
  const answers: unknown[] = []
  for (let delivery = 1; delivery <= MAX_DELIVERIES; delivery++) {
    const crashed = new Promise<typeof CRASHED>((resolve) => {
      kill = () => resolve(CRASHED)
    })
    const run = idempotency
      .run({ key: 'k', input: 1 }, (operation) => work(operation, effect))
      .then(
        ({ value }) => value,
        (error: unknown) => {
          if (!isLambdaOnceError(error)) throw error
          return error
        },
      )
    answers.push(await Promise.race([run, crashed]))
    clock.advance(12_000)
  }
  return { answers, effects, record: memory.records()[0], commits: memory.commits(), calls }
}

function* plans(): Generator<Plan> {
  yield new Map()
  for (let first = 0; first < MAX_CALLS; first++) {
    for (const one of FAULTS) {
      yield new Map([[first, one]])
      for (let second = first + 1; second < MAX_CALLS; second++) {
        for (const other of FAULTS)
          yield new Map([
            [first, one],
            [second, other],
          ])
      }
    }
  }
}

const all = [...plans()]
const show = (plan: Plan) => [...plan].map(([call, fault]) => `call ${call}: ${fault}`).join(', ') || 'no fault'

describe(`under every fault at one or two of the first ${MAX_CALLS} store calls (${all.length} schedules)`, () => {
  test('one request ends completed, and every answer it ever gets is the same', async () => {
    for (const plan of all) {
      const { answers, record } = await deliver(plan, async (operation, effect) => effect(operation.id))
      const values = new Set(answers.filter((answer) => typeof answer === 'string'))
      expect(values.size, show(plan)).toBe(1)
      expect(typeof answers.at(-1), show(plan)).toBe('string')
      expect(record?.status, show(plan)).toBe('COMPLETED')
    }
  })

  test('a step whose third party honours its key has one effect there', async () => {
    for (const plan of all) {
      const { effects, record } = await deliver(plan, ({ step }, effect) =>
        step('charge', ({ idempotencyKey }) => effect(idempotencyKey)),
      )
      expect(effects.size, show(plan)).toBe(1)
      expect(record?.status, show(plan)).toBe('COMPLETED')
    }
  })

  test('a step that must not run twice never does, and its operation ends completed or unknown', async () => {
    const statuses = new Set<string | undefined>()
    for (const plan of all) {
      const { effects, record } = await deliver(plan, ({ step }, effect) =>
        step('mail', () => effect('mail'), { onUnknown: 'stop' }),
      )
      expect(effects.get('mail') ?? 0, show(plan)).toBeLessThanOrEqual(1)
      if (record?.status === 'COMPLETED') expect(effects.get('mail'), show(plan)).toBe(1)
      statuses.add(record?.status)
    }
    expect(statuses).toEqual(new Set(['COMPLETED', 'UNKNOWN']))
  })

  test('a commit is written exactly once, whatever is lost or dies around it', async () => {
    const writes = [{ Put: { TableName: 'charges', Item: { id: 'c' } } }]
    for (const plan of all) {
      const { answers, record, commits } = await deliver(plan, ({ attempt, commit }) =>
        commit(`committed by attempt ${attempt}`, { writes, receipt: attempt }),
      )
      expect(commits.length, show(plan)).toBe(1)
      expect(record?.status, show(plan)).toBe('COMPLETED')
      const values = new Set(answers.filter((answer) => typeof answer === 'string'))
      expect(values.size, show(plan)).toBe(1)
      expect(answers.at(-1), show(plan)).toMatch(/^committed by attempt/)
    }
  })

  test('a recorded step is never run again, whatever happens after it', async () => {
    for (const plan of all) {
      let recorded = 0
      let ranAgain = false
      await deliver(plan, async ({ step, attempt }) => {
        await step('first', () => {
          ranAgain ||= recorded > 0
          return 'done'
        })
        recorded = attempt
        return step('second', () => 'done')
      })
      expect(ranAgain, show(plan)).toBe(false)
    }
  })
})
