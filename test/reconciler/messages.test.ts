import { describe, expect, test, vi } from 'vitest'
import { type Operation, OUTBOX_PREFIX, type Store, StoreError } from '../../lib/index.ts'
import type { SendResult } from '../../lib/outbox/index.ts'
import { encodeValue } from '../../lib/outcome/codec.ts'
import { turnOf } from '../../lib/reconciler/lane.ts'
import { lambdaContext } from '../http/events.ts'
import { reportOf, setUp } from './set-up.ts'

const FAILED: SendResult = { kind: 'failed', error: new Error('throttled') }
const REFUSED: SendResult = { kind: 'refused', reason: 'ResourceNotFoundException' }
const DONE = { statusCode: 200, body: 'handled' }
const QUEUE = { queueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/emails' }

describe('a message of the outbox that the relay has left behind', () => {
  async function leftBehind() {
    const w = setUp({ work: ({ commit }) => commit(DONE, { messages: [{ to: QUEUE, body: 'paid' }] }) })
    await w.call()
    return { ...w, item: async () => (await w.outbox())[0] }
  }

  test('is sent after five minutes, once', async () => {
    const w = await leftBehind()
    w.clock.advance(299_999)
    expect(await w.reconcile({ sender: w.sender })).toEqual(reportOf({}))
    w.clock.advance(1)
    expect(await w.reconcile({ sender: w.sender })).toEqual(reportOf({ examined: 1, sent: 1 }))
    const { messageId } = (await w.item()) ?? {}
    expect(w.sent).toMatchObject([{ messageId, to: QUEUE, text: 'paid', operationId: w.record()?.id }])
    expect(await w.item()).toMatchObject({ state: 'dispatched' })
    w.clock.advance(10_000_000)
    expect(await w.reconcile({ sender: w.sender })).toEqual(reportOf({}))
  })

  test('is skipped when it was sent meanwhile', async () => {
    const w = await leftBehind()
    w.clock.advance(300_000)
    const due = await w.memory.listDue('payments#0', w.clock.now(), 10)
    await w.reconcile({ sender: w.sender })
    const late = setUp({ core: { store: { ...w.memory, listDue: async () => due }, clock: w.clock } })
    expect(await late.reconcile({ sender: w.sender })).toEqual(reportOf({ examined: 1, skipped: 1 }))
    expect(w.sent).toHaveLength(1)
  })

  test('is skipped when it is sent between the look at it and the reservation', async () => {
    const w = await leftBehind()
    w.clock.advance(300_000)
    const listBeside: Store['listBeside'] = async (...args) => {
      const found = await w.memory.listBeside(...args)
      await w.reconcile({ sender: w.sender })
      return found
    }
    const late = setUp({ core: { store: { ...w.memory, listBeside }, clock: w.clock } })
    expect(await late.reconcile({ sender: w.sender })).toEqual(reportOf({ examined: 1, skipped: 1 }))
    expect(w.sent).toHaveLength(1)
  })

  test('that is refused is stuck, and tried again every hour until its target takes it', async () => {
    const w = await leftBehind()
    w.clock.advance(300_000)
    w.results.push(REFUSED, REFUSED, FAILED)
    const run = () => w.reconcile({ sender: w.sender })
    for (const _ of ['refused', 'refused again', 'not reached']) {
      expect(await run()).toEqual(reportOf({ examined: 1, stuck: 1 }))
      expect(await w.item()).toMatchObject({ state: 'stuck', stuckReason: 'ResourceNotFoundException' })
      w.clock.advance(3_599_999)
      expect(await run()).toEqual(reportOf({}))
      w.clock.advance(1)
    }
    expect(await run()).toEqual(reportOf({ examined: 1, sent: 1 }))
    expect(await w.item()).toMatchObject({ state: 'dispatched' })
    expect(await w.item()).not.toHaveProperty('stuckReason')
    w.clock.advance(10_000_000)
    expect(await run()).toEqual(reportOf({}))
  })

  test('that fails is tried again in five minutes, with the same id', async () => {
    const w = await leftBehind()
    w.clock.advance(300_000)
    w.results.push(FAILED)
    expect(await w.reconcile({ sender: w.sender })).toEqual(reportOf({ examined: 1, failed: 1 }))
    w.clock.advance(299_999)
    expect(await w.reconcile({ sender: w.sender })).toEqual(reportOf({}))
    w.clock.advance(1)
    expect(await w.reconcile({ sender: w.sender })).toEqual(reportOf({ examined: 1, sent: 1 }))
    expect(new Set(w.sent.map(({ messageId }) => messageId)).size).toBe(1)
  })

  test('is beyond a reconciler that cannot send, and out of its way', async () => {
    const w = await leftBehind()
    w.clock.advance(300_000)
    const recover = vi.fn()
    expect(await w.reconcile({ recover })).toEqual(reportOf({ examined: 1, beyond: 1 }))
    expect(await w.reconcile({ recover })).toEqual(reportOf({}))
    expect(recover).not.toHaveBeenCalled()
  })
})

describe('the messages of one operation', () => {
  /** Three of one commit, and the relay has sent none. */
  async function three(core: Partial<Store> = {}) {
    const messages = ['1', '2', '3'].map((body) => ({ to: QUEUE, body }))
    const w = setUp({ work: ({ commit }: Operation) => commit(DONE, { messages }) })
    await w.call()
    w.clock.advance(300_000)
    const late = setUp({ core: { store: { ...w.memory, ...core }, clock: w.clock } })
    const id = w.record()?.id ?? ''
    return {
      ...w,
      id,
      run: (...[options, context]: Parameters<typeof w.reconcile>) =>
        late.reconcile({ sender: w.sender, ...options }, context),
      texts: () => w.sent.map(({ text }) => text),
      set: async (index: number, attributes: Record<string, unknown>) => {
        const item = (await w.memory.listBeside(id, OUTBOX_PREFIX))[index]!
        const expected = { attribute: 'state', value: String(item.attributes.state) }
        expect(await w.memory.updateBeside(id, item.sk, attributes, expected)).toBe(true)
      },
      dueAtMs: async () => (await w.outbox(id)).map(({ dueAtMs }) => dueAtMs),
    }
  }

  test('are sent in their order, whatever order the index names them in', async () => {
    const w = await three({ listDue: async (...args) => (await w.memory.listDue(...args)).toReversed() })
    expect(await w.run()).toEqual(reportOf({ examined: 3, sent: 3 }))
    expect(w.texts()).toEqual(['1', '2', '3'])
  })

  test('wait for the first that fails, and follow it when it is tried again', async () => {
    const w = await three()
    w.results.push(FAILED)
    expect(await w.run()).toEqual(reportOf({ examined: 3, failed: 1, skipped: 2 }))
    expect(w.texts()).toEqual(['1'])
    expect(await w.dueAtMs()).toEqual(Array(3).fill(w.clock.now() + 300_000))
    expect(await w.run()).toEqual(reportOf({}))
    w.clock.advance(300_000)
    expect(await w.run()).toEqual(reportOf({ examined: 3, sent: 3 }))
    expect(w.texts()).toEqual(['1', '1', '2', '3'])
  })

  test('are sent before one that the index names alone', async () => {
    const w = await three({ listDue: async (...args) => (await w.memory.listDue(...args)).slice(-1) })
    expect(await w.run()).toEqual(reportOf({ examined: 3, sent: 3 }))
    expect(w.texts()).toEqual(['1', '2', '3'])
  })

  test('wait for an earlier one that is pending and not due, and are due with it', async () => {
    const w = await three()
    const laterMs = w.clock.now() + 60_000
    await w.set(0, { dueAtMs: laterMs })
    expect(await w.run()).toEqual(reportOf({ examined: 2, skipped: 2 }))
    expect(w.sent).toEqual([])
    expect(await w.dueAtMs()).toEqual([laterMs, laterMs, laterMs])
    w.clock.advance(60_000)
    expect(await w.run()).toEqual(reportOf({ examined: 3, sent: 3 }))
    expect(w.texts()).toEqual(['1', '2', '3'])
  })

  test('go by when they were committed, and in one commit by their place', async () => {
    const w = await three()
    const [first] = await w.memory.listBeside(w.id, OUTBOX_PREFIX)
    const { attributes } = first!
    const createdAtMs = Number(attributes.createdAtMs)
    // A token is random: that of an earlier commit may sort after that of a later one.
    const body = await encodeValue('0')
    await w.memory.putBeside(w.id, {
      sk: `${OUTBOX_PREFIX}zzz#000`,
      attributes: { ...attributes, body, createdAtMs: createdAtMs - 1 },
    })
    // The messages of one commit may be made in different milliseconds.
    await w.set(0, { createdAtMs: createdAtMs + 1 })
    expect(await w.run()).toEqual(reportOf({ examined: 4, sent: 4 }))
    expect(w.texts()).toEqual(['0', '1', '2', '3'])
  })

  test('pass over one that is stuck, now and when it is tried again', async () => {
    const w = await three()
    w.results.push(REFUSED)
    expect(await w.run()).toEqual(reportOf({ examined: 3, stuck: 1, sent: 2 }))
    w.clock.advance(3_600_000)
    await w.set(2, { state: 'pending', dueShard: 'payments#0', dueAtMs: w.clock.now() })
    w.results.push(FAILED)
    expect(await w.run()).toEqual(reportOf({ examined: 2, stuck: 1, sent: 1 }))
    expect(w.texts()).toEqual(['1', '2', '3', '1', '3'])
  })

  test('do not wait for those of other operations', async () => {
    const w = await three()
    await w.call('key-2')
    w.clock.advance(300_000)
    w.results.push(FAILED)
    expect(await w.run({ concurrency: 1 })).toEqual(reportOf({ examined: 6, failed: 1, skipped: 2, sent: 3 }))
  })

  test('stop when the invocation is nearly over', async () => {
    const w = await three()
    let leftMs = 30_000
    const context = { ...lambdaContext(), getRemainingTimeInMillis: () => leftMs }
    w.results.push(async () => {
      leftMs = 4_999
      return { kind: 'sent' }
    })
    expect(await w.run({}, context)).toEqual(reportOf({ examined: 1, sent: 1, hasMore: true }))
    expect(await w.run()).toEqual(reportOf({ examined: 2, sent: 2 }))
    expect(w.texts()).toEqual(['1', '2', '3'])
  })

  test('are all found again when the store fails', async () => {
    const w = await three({ updateBeside: () => Promise.reject(new StoreError('gone', { retryable: true })) })
    expect(await w.run()).toEqual(reportOf({ examined: 3, failed: 3 }))
    expect(w.sent).toEqual([])
  })
})

describe('the turn of a message that is', () => {
  const NOW_MS = 1_000
  test.each([
    ['pending and due', 'pending', NOW_MS, 'send', 'send'],
    ['pending and not due', 'pending', NOW_MS + 1, 'hold', 'hold'],
    ['pending and in no index', 'pending', undefined, 'send', 'send'],
    ['stuck and due', 'stuck', NOW_MS, 'retry', 'pass'],
    ['stuck and not due', 'stuck', NOW_MS + 1, 'pass', 'pass'],
    ['dispatched', 'dispatched', undefined, 'pass', 'pass'],
    ['none', undefined, NOW_MS, 'pass', 'pass'],
  ])('%s', (_name, state, dueAtMs, named, unnamed) => {
    const item = { sk: 'outbox#t#000', attributes: { state, dueAtMs } }
    expect([turnOf(item, true, NOW_MS), turnOf(item, false, NOW_MS)]).toEqual([named, unnamed])
  })
})
