import { describe, expect, test, vi } from 'vitest'
import { createIdempotency } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { RECONCILER_DEFAULTS, type ReconcilerOptions, reconciler } from '../../lib/reconciler/index.ts'
import { lambdaContext } from '../http/events.ts'
import { DUE_MS, reportOf, setUp } from './set-up.ts'

const DONE = { statusCode: 200, body: 'recovered' }

async function crashed(count: number, ...given: Parameters<typeof setUp>) {
  const w = setUp(...given)
  for (let n = 0; n < count; n++) {
    await w.crash(`key-${n}`)
    w.clock.advance(1)
  }
  w.clock.advance(DUE_MS)
  return w
}

describe('one run', () => {
  test('works on so many items at the most, the longest due first, and says when there is more', async () => {
    const w = await crashed(5)
    const expected = w.memory.records().map(({ id }) => id)
    const seen: string[] = []
    const recover = ({ id }: { id: string }) => {
      seen.push(id)
      return DONE
    }
    const run = () => w.reconcile({ recover, maxItems: 2, concurrency: 1 })
    expect(await run()).toEqual(reportOf({ examined: 2, recovered: 2, hasMore: true }))
    expect(await run()).toEqual(reportOf({ examined: 2, recovered: 2, hasMore: true }))
    expect(await run()).toEqual(reportOf({ examined: 1, recovered: 1 }))
    expect(seen).toEqual(expected)
  })

  test('looks into every shard', async () => {
    const w = await crashed(20, { core: { reconcilerShards: 4 } })
    const shards = new Set(w.memory.records().map(({ dueShard }) => dueShard))
    expect(shards.size).toBe(4)
    expect(await w.reconcile({ recover: () => DONE })).toEqual(reportOf({ examined: 20, recovered: 20 }))
  })

  test('begins with another shard every time, so that a full one starves none', async () => {
    const memory = memoryStore()
    const asked: string[] = []
    const listDue: typeof memory.listDue = async (shard, ...rest) => {
      asked.push(shard)
      return memory.listDue(shard, ...rest)
    }
    for (const random of [0, 0.3, 0.999_999]) {
      const w = setUp({ core: { store: { ...memory, listDue }, reconcilerShards: 3, random: () => random } })
      await w.reconcile({ recover: () => DONE })
    }
    const order = (first: number) => [0, 1, 2].map((n) => `payments#${(first + n) % 3}`)
    expect(asked).toEqual([...order(0), ...order(0), ...order(2)])
  })

  test('leaves the operations of other namespaces alone', async () => {
    const w = await crashed(1)
    const other = createIdempotency({ store: w.memory, clock: w.clock, namespace: 'refunds', reconcilerShards: 1 })
    expect(await reconciler({ idempotency: other, recover: () => DONE })()).toEqual(reportOf({}))
  })

  test('has so many under way at the most', async () => {
    const w = await crashed(6)
    let running = 0
    let most = 0
    const recover = async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return DONE
    }
    expect(await w.reconcile({ recover, concurrency: 2 })).toMatchObject({ recovered: 6 })
    expect(most).toBe(2)
  })

  test('starts nothing more when the invocation is nearly over', async () => {
    const w = await crashed(3)
    const recover = vi.fn(() => DONE)
    expect(await w.reconcile({ recover }, lambdaContext(4_999))).toEqual(reportOf({ hasMore: true }))
    expect(recover).not.toHaveBeenCalled()
    let leftMs = 30_000
    const context = { ...lambdaContext(), getRemainingTimeInMillis: () => leftMs }
    const slow = () => {
      leftMs -= 13_000
      return DONE
    }
    expect(await w.reconcile({ recover: slow, concurrency: 1 }, context)).toEqual(
      reportOf({ examined: 2, recovered: 2, hasMore: true }),
    )
  })

  test('gives what it recovers the invocation’s time, no more', async () => {
    const w = setUp({ core: { leaseSeconds: undefined as never } })
    await w.crash()
    w.clock.advance(30_000 + 1_000 + 60_000)
    let leaseMs = 0
    await w.reconcile(
      { recover: () => (leaseMs = (w.record()?.leaseUntil ?? 0) - w.clock.now()) },
      lambdaContext(20_000),
    )
    expect(leaseMs).toBe(21_000)
  })
})

describe('items that come to nothing do not keep the others waiting:', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['those that are beyond it', async () => ({ sender: { send: async () => [] } })],
    ['those that fail', async () => ({ recover: () => Promise.reject(new Error('no')) })],
  ])('%s', async (_name, make) => {
    const w = await crashed(3, { redrive: false })
    const options = { ...((await make()) as Partial<ReconcilerOptions>), maxItems: 1 }
    const revs = () => w.memory.records().map(({ rev }) => rev)
    for (const hasMore of [true, true, false])
      expect(await w.reconcile(options)).toMatchObject({ examined: 1, hasMore })
    expect(revs().every((rev) => rev > 1)).toBe(true)
  })

  test('those whose stored request is lost', async () => {
    const w = await crashed(3)
    const [first] = w.memory.records()
    if (first === undefined) throw new Error('Nothing was stored.')
    const payload = { kind: 'parts', partsId: 'lost', count: 1, length: 1, sha256: 'x' } as const
    await w.memory.update(
      first.id,
      {
        status: first.status,
        leaseUntil: first.leaseUntil,
        expiresAt: first.expiresAt,
        updatedAtMs: first.updatedAtMs,
        redrive: { target: { functionName: 'f' }, payload },
      },
      { kind: 'seen', token: first.token, rev: first.rev },
    )
    const run = () => w.reconcile({ recover: () => DONE, maxItems: 1 })
    expect(await run()).toMatchObject({ failed: 1, hasMore: true })
    expect(await run()).toMatchObject({ recovered: 1, hasMore: true })
    expect(await run()).toMatchObject({ recovered: 1, hasMore: false })
    expect(w.events).toContainEqual(expect.objectContaining({ type: 'store-error', during: 'reconcile' }))
  })
})

describe('a reconciler is refused at set-up', () => {
  const idempotency = () => createIdempotency({ store: memoryStore(), namespace: 'n', reconcilerShards: 1 })
  test.each<[string, () => unknown, RegExp]>([
    ['without options', () => undefined, /options object/],
    ['without an engine', () => ({ recover: () => 1 }), /createIdempotency/],
    ['with nothing that it could do', () => ({ idempotency: idempotency() }), /recover, sender or both/],
    ['with a misspelt option', () => ({ idempotency: idempotency(), recovery: () => 1 }), /"recovery"/],
    ['with a recover that is none', () => ({ idempotency: idempotency(), recover: 1 }), /recover must be a function/],
    ['with a sender that is none', () => ({ idempotency: idempotency(), sender: {} }), /createSender/],
    ['with no items', () => ({ idempotency: idempotency(), recover: () => 1, maxItems: 0 }), /maxItems/],
    ['with no concurrency', () => ({ idempotency: idempotency(), recover: () => 1, concurrency: 1.5 }), /concurrency/],
    [
      'with a negative margin',
      () => ({ idempotency: idempotency(), recover: () => 1, deadlineMarginSeconds: -1 }),
      /deadlineMarginSeconds/,
    ],
    [
      'where no operation is in the index',
      () => ({ idempotency: createIdempotency({ store: memoryStore(), namespace: 'n' }), recover: () => 1 }),
      /reconcilerShards/,
    ],
  ])('%s', (_name, options, why) => {
    expect(() => reconciler(options() as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(() => reconciler(options() as never)).toThrow(why)
  })

  test('and has these defaults', () => {
    expect(RECONCILER_DEFAULTS).toEqual({ maxItems: 200, concurrency: 10, deadlineMarginSeconds: 5 })
  })
})
