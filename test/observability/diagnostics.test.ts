import diagnostics from 'node:diagnostics_channel'
import { afterEach, describe, expect, test } from 'vitest'
import { createIdempotency, type OperationEvent } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { ORDER, setUp } from '../core/harness.ts'

const subscriptions: [name: string, subscriber: diagnostics.ChannelListener][] = []

function subscribe(name: string, subscriber: diagnostics.ChannelListener): void {
  diagnostics.subscribe(name, subscriber)
  subscriptions.push([name, subscriber])
}

afterEach(() => {
  for (const [name, subscriber] of subscriptions.splice(0)) diagnostics.unsubscribe(name, subscriber)
})

describe('node:diagnostics_channel', () => {
  test('has a channel per event, which needs no observer', async () => {
    const seen: unknown[] = []
    const names: (string | symbol)[] = []
    for (const type of ['claimed', 'completed', 'replayed']) {
      subscribe(`lambda-once:${type}`, (event, name) => {
        seen.push(event)
        names.push(name)
      })
    }
    const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })
    await idempotency.run(ORDER, () => 'done')
    await idempotency.run(ORDER, () => 'again')
    expect(names).toEqual(['lambda-once:claimed', 'lambda-once:completed', 'lambda-once:replayed'])
    expect(seen).toEqual([
      expect.objectContaining({ type: 'claimed', namespace: 'payments', attempt: 1 }),
      expect.objectContaining({ type: 'completed', operationId: expect.stringContaining('payments') }),
      expect.objectContaining({ type: 'replayed', status: 'COMPLETED', atMs: expect.any(Number) }),
    ])
  })

  test('and the observer see one and the same event', async () => {
    const published: unknown[] = []
    const observed: OperationEvent[] = []
    subscribe('lambda-once:claimed', (event) => published.push(event))
    const { idempotency } = setUp({ observer: (event) => observed.push(event) })
    await idempotency.run(ORDER, () => 'done')
    expect(published).toHaveLength(1)
    expect(published[0]).toBe(observed[0])
  })

  test('a subscription that ends is over, and one that comes late still sees what follows', async () => {
    const seen: unknown[] = []
    const subscriber = (event: unknown) => seen.push(event)
    const { idempotency } = setUp()
    await idempotency.run({ key: 1, input: 1 }, () => 'unseen')
    diagnostics.subscribe('lambda-once:claimed', subscriber)
    await idempotency.run({ key: 2, input: 1 }, () => 'seen')
    diagnostics.unsubscribe('lambda-once:claimed', subscriber)
    await idempotency.run({ key: 3, input: 1 }, () => 'unseen')
    expect(seen).toHaveLength(1)
  })

  test('costs nothing while nobody watches: no event is made, not even the clock is read for it', async () => {
    async function readsOfTheClock(watched: boolean): Promise<number> {
      const clock = fakeClock()
      let reads = 0
      const counting = {
        wait: clock.wait,
        now: () => {
          reads += 1
          return clock.now()
        },
      }
      const observer = watched ? { observer: () => undefined } : {}
      const idempotency = createIdempotency({ store: memoryStore(), namespace: 'a', clock: counting, ...observer })
      await idempotency.run(ORDER, () => 'done')
      return reads
    }
    // `claimed` and `completed`.
    expect((await readsOfTheClock(true)) - (await readsOfTheClock(false))).toBe(2)
  })
})
