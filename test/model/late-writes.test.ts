import { describe, expect, test } from 'vitest'
import { createIdempotency, type Operation, type Store, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'

const LEASE_SECONDS = 10

/** A client that gives one update up while it is still on its way, sends it again, and meets the first one later. */
function setUp(lateUpdate: number) {
  const memory = memoryStore()
  const clock = fakeClock()
  let updates = 0
  let arrive: () => Promise<unknown> = async () => undefined
  const store: Store = {
    ...memory,
    async update(...args) {
      if (++updates !== lateUpdate) return memory.update(...args)
      arrive = () => memory.update(...args)
      throw new StoreError('The client has given it up.', { retryable: true })
    },
  }
  const idempotency = createIdempotency({
    store,
    clock,
    namespace: 'n',
    leaseSeconds: LEASE_SECONDS,
    random: () => 0.5,
  })
  return {
    memory,
    clock,
    arrive: () => arrive(),
    run: (work: (operation: Operation) => Promise<unknown>) => idempotency.run({ key: 'k', input: 1 }, work),
  }
}

describe('a write that its client has given up and sent again, and that arrives after later ones', () => {
  test('does not shorten the lease', async () => {
    const { memory, clock, arrive, run } = setUp(1)
    await run(async ({ extend }) => {
      await extend()
      clock.advance(5_000)
      await extend()
      await arrive()
      expect(memory.records()[0]?.leaseUntil).toBe(clock.now() + LEASE_SECONDS * 1000)
    })
  })

  test('does not undo a step: its start mark stays behind its result', async () => {
    const { memory, arrive, run } = setUp(1)
    await run(async ({ step }) => {
      await step('mail', () => 'sent', { onUnknown: 'stop' })
      await arrive()
      expect(memory.records()[0]?.steps).toMatchObject({ mail: { kind: 'done' } })
    })
  })
})

describe('a claim whose answer comes after its own record has expired, and who makes a new one', () => {
  test.for([
    ['over the old one', false],
    ['after TTL has deleted the old one', true],
  ] as const)('%s, is not taken for the expired one by somebody who saw that', async ([, isDeleted]) => {
    const memory = memoryStore()
    const clock = fakeClock()
    const waiting: (() => void)[] = []
    const admit = () => {
      let isFirst = true
      const store: Store = {
        ...memory,
        async put(...args) {
          const answer = await memory.put(...args)
          if (isFirst) {
            isFirst = false
            await new Promise<void>((resolve) => waiting.push(resolve))
          }
          return answer
        },
      }
      return createIdempotency({ store, clock, namespace: 'n' }).acquire('k', { ttlSeconds: 5 })
    }
    const one = admit()
    await expect.poll(() => waiting.length).toBe(1)
    const other = admit()
    await expect.poll(() => waiting.length).toBe(2)
    clock.advance(20_000)
    if (isDeleted) memory.remove(memory.records()[0]?.id ?? '')
    waiting[0]?.()
    expect(await one).toMatchObject({ admitted: true })
    waiting[1]?.()
    expect(await other).toMatchObject({ admitted: false })
  })
})

test('a claim whose answer is lost near the deadline, and that has seen somebody at work, does not run unprotected', async () => {
  const memory = memoryStore()
  const clock = fakeClock()
  const asked = { key: 'k', input: 1 }
  const first = createIdempotency({ store: memory, clock, namespace: 'n' })
  void first.run(asked, () => new Promise(() => undefined))
  await new Promise((resolve) => setImmediate(resolve))
  const store: Store = {
    ...memory,
    async put() {
      clock.advance(4_000)
      throw new StoreError('The answer was lost.', { retryable: true })
    },
  }
  const second = createIdempotency({ store, clock, namespace: 'n', onStoreError: 'open' })
  const endMs = clock.now() + 4_100
  const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => endMs - clock.now() }
  const ran: unknown[] = []
  await expect(second.run({ ...asked, context }, () => ran.push('again'))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  })
  expect([memory.records()[0]?.status, ran]).toEqual(['IN_PROGRESS', []])
})
