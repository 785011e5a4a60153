import { describe, expect, test } from 'vitest'
import {
  createIdempotency,
  isLambdaOnceError,
  type Operation,
  OUTBOX_PREFIX,
  StoreError,
  type TransactWrite,
} from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { MESSAGE, WRITE } from './commit-harness.ts'
import { fakeClock } from './fake-clock.ts'
import { overEveryCall } from './faulty-store.ts'

/**
 * `arrives late`: the caller hears of a failure, and the request is carried out before the next delivery comes.
 * `gone`: from this call on the store does not answer until the next delivery; with `gone after` it has still written.
 */
const FAULTS = [
  'crash before',
  'crash after',
  'answer lost',
  'not applied',
  'arrives late',
  'gone before',
  'gone after',
] as const
type Plan = ReadonlyMap<number, (typeof FAULTS)[number]>

/** More than there are faulty calls, so that the last deliveries meet none. */
const MAX_DELIVERIES = 12
const MAX_CALLS = 10

/** A delivery whose process was killed: nothing of it comes back. */
const CRASHED = Symbol('crashed')

type Work = (operation: Operation, charge: (key: string) => string) => unknown

/** Delivers one request again and again, with faults at chosen store calls, until it is answered for good. */
async function deliver(plan: Plan, work: Work) {
  const memory = memoryStore()
  const clock = fakeClock()
  const charges = new Map<string, number>()
  const late: (() => Promise<unknown>)[] = []
  let calls = 0
  let isGone = false
  let kill: () => void = () => undefined

  const store = overEveryCall(memory, (_name, send) => async (...args) => {
    const fault = isGone ? 'not applied' : plan.get(calls++)
    isGone ||= fault === 'gone before' || fault === 'gone after'
    if (fault === 'arrives late') late.push(() => send(...args))
    if (fault === 'not applied' || fault === 'arrives late' || fault === 'gone before') {
      throw new StoreError('The request never arrived.', { retryable: true })
    }
    if (fault !== 'crash before') {
      const answer = await send(...args)
      if (fault === undefined) return answer
      if (fault === 'answer lost' || fault === 'gone after')
        throw new StoreError('The answer was lost.', { retryable: true })
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
    relay: true,
    reconcilerShards: 2,
    reconcilerRecovers: true,
  })
  const charge = (key: string) => {
    charges.set(key, (charges.get(key) ?? 0) + 1)
    return `charge of ${key}`
  }
  const answers: unknown[] = []
  for (let delivery = 1; delivery <= MAX_DELIVERIES; delivery++) {
    const crashed = new Promise<typeof CRASHED>((resolve) => {
      kill = () => resolve(CRASHED)
    })
    const run = idempotency
      .run({ key: 'k', input: 1 }, (operation) => work(operation, charge))
      .then(
        ({ value }) => value,
        (error: unknown) => {
          if (!isLambdaOnceError(error)) throw error
          return error
        },
      )
    answers.push(await Promise.race([run, crashed]))
    isGone = false
    for (const arrive of late.splice(0)) await arrive()
    clock.advance(12_000)
  }
  const [record] = memory.records()
  return {
    answers,
    charges,
    record,
    commits: memory.commits().filter(({ writes }) => writes.length > 0),
    outbox: await memory.listBeside(record?.id ?? '', OUTBOX_PREFIX),
    receipts: await idempotency.receipts({ key: 'k' }),
  }
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
const writes: readonly TransactWrite[] = [WRITE]

const WORKS: readonly [name: string, work: Work][] = [
  [
    'charges in a step and commits',
    async ({ step, commit }, charge) => {
      const receipt = await step('charge', ({ idempotencyKey }) => charge(idempotencyKey))
      return commit(receipt, { writes, messages: [MESSAGE], receipt })
    },
  ],
  [
    'throws after its commit',
    async ({ step, commit }, charge) => {
      const receipt = await step('charge', ({ idempotencyKey }) => charge(idempotencyKey), { receipt: (id) => id })
      await commit(receipt, { writes, messages: [MESSAGE], receipt })
      throw new Error('too late')
    },
  ],
  [
    'swallows what goes wrong with its commit, and commits again',
    async ({ step, commit }, charge) => {
      const receipt = await step('charge', ({ idempotencyKey }) => charge(idempotencyKey))
      const plan = { writes, messages: [MESSAGE], receipt }
      return commit(receipt, plan).catch(() => commit(receipt, plan))
    },
  ],
  [
    'waits once between its step and its commit',
    async ({ step, commit, delay, attempt }, charge) => {
      const receipt = await step('charge', ({ idempotencyKey }) => charge(idempotencyKey))
      const since = await step('since', () => attempt)
      if (attempt === since) return delay({ seconds: 1 })
      return commit(receipt, { writes, messages: [MESSAGE], receipt })
    },
  ],
]

describe(`under every fault at one or two of the first ${MAX_CALLS} store calls (${all.length} schedules)`, () => {
  test.each(WORKS)('work that %s has each of its effects once', async (_name, work) => {
    for (const plan of all) {
      const { answers, charges, record, commits, outbox, receipts } = await deliver(plan, work)
      const values = new Set(answers.filter((answer) => typeof answer === 'string'))
      expect(values.size, show(plan)).toBe(1)
      expect(typeof answers.at(-1), show(plan)).toBe('string')
      expect(charges.size, show(plan)).toBe(1)
      expect(commits.length, show(plan)).toBe(1)
      expect(outbox.length, show(plan)).toBe(1)
      expect(receipts.filter(({ kind }) => kind === 'confirmed').length, show(plan)).toBe(1)
      expect(record?.status, show(plan)).toBe('COMPLETED')
    }
  })
})
