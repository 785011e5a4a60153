import { describe, expect, test } from 'vitest'
import { type Store, StoreError } from '../../lib/index.ts'
import type { SendResult } from '../../lib/outbox/index.ts'
import { DUE_MS, FUNCTION, LEASE_MS, reportOf, SCOPE, setUp } from './set-up.ts'

const FAILED: SendResult = { kind: 'failed', error: new Error('throttled') }
const REFUSED: SendResult = { kind: 'refused', reason: 'ResourceNotFoundException' }
const DONE = { statusCode: 200, body: 'handled' }
const never = () => new Promise<never>(() => undefined)

/** An operation that is due, and a reconciler that sends. */
async function due(...given: Parameters<typeof setUp>) {
  const w = setUp(...given)
  await w.crash()
  w.clock.advance(DUE_MS)
  return { ...w, run: () => w.reconcile({ sender: w.sender }) }
}

/** Until the reconciler has nothing more to do but to wait for what never comes. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a reconciler with a sender', () => {
  test('sends the stored request to its function, and the operation is taken over when it arrives', async () => {
    const w = await due()
    expect(await w.run()).toEqual(reportOf({ examined: 1, redriven: 1 }))
    expect(w.sent).toMatchObject([{ to: { functionName: FUNCTION }, operationId: w.record()?.id }])
    expect(JSON.parse(w.sent[0]?.text ?? '')).toMatchObject({ httpMethod: 'POST', path: '/orders' })
    expect(w.record()).toMatchObject({ status: 'RETRYABLE', dueAtMs: w.clock.now() + 900_000 })
    expect(w.record()).not.toHaveProperty('leaseUntil')
    expect(await w.call()).toMatchObject(DONE)
    expect(w.record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
    w.clock.advance(2_000_000)
    expect(await w.run()).toEqual(reportOf({}))
  })

  test('sends it again when it has not arrived within a quarter of an hour', async () => {
    const w = await due()
    await w.run()
    w.clock.advance(899_999)
    expect(await w.run()).toEqual(reportOf({}))
    w.clock.advance(1)
    expect(await w.run()).toEqual(reportOf({ examined: 1, redriven: 1 }))
    expect(new Set(w.sent.map(({ messageId }) => messageId)).size).toBe(2)
  })

  test('finds no work for itself where no request was stored', async () => {
    const w = await due({ redrive: false })
    expect(await w.run()).toEqual(reportOf({ examined: 1, beyond: 1 }))
    expect(w.sent).toEqual([])
    expect(w.record()).toMatchObject({ status: 'IN_PROGRESS', dueAtMs: w.clock.now() + 3_600_000 })
    expect(await w.call()).toMatchObject(DONE)
  })

  test('does what waits and is due', async () => {
    const w = setUp({ work: ({ delay, attempt }) => (attempt === 1 ? delay({ seconds: 60 }, 'the bank') : DONE) })
    await w.call()
    w.clock.advance(60_000)
    expect(await w.reconcile({ sender: w.sender })).toEqual(reportOf({ examined: 1, redriven: 1 }))
    expect(w.record()?.status).toBe('RETRYABLE')
    expect(w.record()).not.toHaveProperty('resumeAtMs')
    expect(await w.call()).toMatchObject(DONE)
  })

  test('keeps an operation for ever that must not expire', async () => {
    const w = setUp({
      core: { takeover: 'never' },
      work: ({ delay, attempt }) => (attempt === 1 ? delay({ seconds: 60 }) : DONE),
    })
    await w.call()
    expect(w.record()).not.toHaveProperty('expiresAt')
    w.clock.advance(60_000)
    expect(await w.reconcile({ sender: w.sender })).toMatchObject({ redriven: 1 })
    expect(w.record()?.status).toBe('RETRYABLE')
    expect(w.record()).not.toHaveProperty('expiresAt')
  })

  test('lets the message arrive before it has written that it sent it', async () => {
    const w = await due()
    w.results.push(async () => {
      await w.call()
      return { kind: 'sent' }
    })
    expect(await w.run()).toEqual(reportOf({ examined: 1, redriven: 1 }))
    expect(w.record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
  })

  test('in parallel with others sends once', async () => {
    const w = await due()
    const reports = await Promise.all([w.run(), w.run(), w.run()])
    expect(w.sent).toHaveLength(1)
    expect(reports.map(({ redriven }) => redriven).toSorted()).toEqual([0, 0, 1])
  })

  test('prefers recover where there is one', async () => {
    const w = await due()
    expect(await w.reconcile({ sender: w.sender, recover: () => DONE })).toMatchObject({ recovered: 1, redriven: 0 })
    expect(w.sent).toEqual([])
  })
})

describe('a reconciler whose process dies', () => {
  test('before it sends has only reserved: it is found again after two minutes', async () => {
    const w = await due()
    w.results.push(never)
    void w.run()
    await settled()
    expect(w.record()).toMatchObject({ status: 'IN_PROGRESS', dueAtMs: w.clock.now() + 120_000 })
    expect(await w.run()).toEqual(reportOf({}))
    w.clock.advance(120_000)
    expect(await w.run()).toEqual(reportOf({ examined: 1, redriven: 1 }))
    expect(await w.call()).toMatchObject(DONE)
  })

  test('after it sent and before it wrote that leaves what the message takes over', async () => {
    const w = await due()
    let writes = 0
    const update: Store['update'] = (...args) => (++writes > 1 ? never() : w.memory.update(...args))
    const dying = setUp({ core: { store: { ...w.memory, update }, clock: w.clock } })
    void dying.reconcile({ sender: w.sender })
    await settled()
    expect(w.sent).toHaveLength(1)
    expect(w.record()?.status).toBe('IN_PROGRESS')
    expect(await w.call()).toMatchObject(DONE)
    w.clock.advance(120_000)
    expect(await w.run()).toEqual(reportOf({}))
  })

  test('after it sent, with the message lost as well, sends again after two minutes', async () => {
    const w = await due()
    let writes = 0
    const update: Store['update'] = (...args) => (++writes > 1 ? never() : w.memory.update(...args))
    const dying = setUp({ core: { store: { ...w.memory, update }, clock: w.clock } })
    void dying.reconcile({ sender: w.sender })
    await settled()
    w.clock.advance(120_000)
    expect(await w.run()).toEqual(reportOf({ examined: 1, redriven: 1 }))
    expect(w.sent).toHaveLength(2)
  })
})

describe('a message that cannot be sent', () => {
  test('now is tried again after two minutes, and the observer hears of it', async () => {
    const w = await due()
    w.results.push(FAILED)
    expect(await w.run()).toEqual(reportOf({ examined: 1, failed: 1 }))
    expect(w.events).toContainEqual(expect.objectContaining({ type: 'store-error', during: 'redrive' }))
    expect(w.record()?.status).toBe('IN_PROGRESS')
    w.clock.advance(120_000)
    expect(await w.run()).toEqual(reportOf({ examined: 1, redriven: 1 }))
  })

  test('at all is stuck, and tried again in an hour only', async () => {
    const w = await due()
    w.results.push(REFUSED)
    expect(await w.run()).toEqual(reportOf({ examined: 1, stuck: 1 }))
    w.clock.advance(3_599_999)
    expect(await w.run()).toEqual(reportOf({}))
    w.clock.advance(1)
    expect(await w.run()).toEqual(reportOf({ examined: 1, redriven: 1 }))
  })
})

describe('crashes', () => {
  test('are counted over redrives, so that a crash loop ends', async () => {
    const w = setUp({ core: { maxCrashes: 2 } })
    for (let crash = 1; crash <= 3; crash++) {
      await w.crash()
      w.clock.advance(DUE_MS)
      expect(await w.reconcile({ sender: w.sender })).toMatchObject({ redriven: 1 })
      expect(w.record()).toMatchObject({ status: 'RETRYABLE', crashes: crash })
    }
    expect(await w.call()).toMatchObject({ statusCode: 409 })
    expect(w.record()).toMatchObject({ status: 'UNKNOWN', crashes: 3 })
  })

  test('of a reconciler’s own attempt do not count', async () => {
    const w = await due()
    void w.reconcile({ recover: never })
    await settled()
    w.clock.advance(LEASE_MS + 120_000)
    expect(await w.run()).toMatchObject({ redriven: 1 })
    expect(w.record()).toMatchObject({ status: 'RETRYABLE', crashes: 1 })
  })
})

describe('an operation that was settled while its request is on its way', () => {
  test('answers the request with the settlement', async () => {
    const w = await due()
    await w.run()
    expect(
      await w.idempotency.settle({ key: 'key-1', scope: SCOPE }, { value: { statusCode: 200, body: 'settled' } }),
    ).toBe('settled')
    expect(await w.call()).toMatchObject({ statusCode: 200, body: 'settled' })
  })

  test('a store that fails at the write after it leaves it to be found again', async () => {
    const w = await due()
    let writes = 0
    const update: Store['update'] = async (...args) => {
      if (++writes > 1) throw new StoreError('The store is gone.', { retryable: true })
      return w.memory.update(...args)
    }
    const failing = setUp({ core: { store: { ...w.memory, update }, clock: w.clock } })
    expect(await failing.reconcile({ sender: w.sender })).toEqual(reportOf({ examined: 1, failed: 1 }))
    w.clock.advance(120_000)
    expect(await w.run()).toMatchObject({ redriven: 1 })
  })
})
