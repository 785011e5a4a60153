import { describe, expect, test, vi } from 'vitest'
import { type Operation, PermanentError, RetryLater, type Store, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import type { Recovery } from '../../lib/reconciler/index.ts'
import { DUE_MS, LEASE_MS, reportOf, SCOPE, setUp } from './set-up.ts'

const RESPONSE = { statusCode: 200, body: 'recovered' }
const recovered = () => RESPONSE

describe('a reconciler with recover', () => {
  test('finishes an operation whose process has died, and its client gets that outcome', async () => {
    const w = setUp()
    let charges = 0
    await w.crash('key-1', ({ step }) => step('charge', () => ++charges))
    w.clock.advance(DUE_MS)
    const recover = vi.fn(async ({ step, attempt }: Operation, { record, request }: Recovery) => {
      expect([attempt, record.attempt, record.status]).toEqual([2, 1, 'IN_PROGRESS'])
      expect(request).toMatchObject({ httpMethod: 'POST' })
      return { statusCode: 200, body: `charge ${await step('charge', () => ++charges)}` }
    })
    expect(await w.reconcile({ recover })).toEqual(reportOf({ examined: 1, recovered: 1 }))
    expect(charges).toBe(1)
    expect(await w.call()).toMatchObject({ statusCode: 200, body: 'charge 1' })
    expect(await w.reconcile({ recover })).toEqual(reportOf({}))
    expect(recover).toHaveBeenCalledTimes(1)
  })

  test('leaves it alone until its lease is over, and a redelivery had time to come', async () => {
    const w = setUp()
    await w.crash()
    w.clock.advance(DUE_MS - 1)
    expect(await w.reconcile({ recover: recovered })).toEqual(reportOf({}))
    w.clock.advance(1)
    expect(await w.reconcile({ recover: recovered })).toEqual(reportOf({ examined: 1, recovered: 1 }))
  })

  test('leaves one alone that has made its lease longer', async () => {
    const w = setUp()
    await w.crash('key-1', ({ extend }) => extend(300))
    w.clock.advance(DUE_MS)
    const recover = vi.fn(recovered)
    await w.reconcile({ recover })
    expect(recover).not.toHaveBeenCalled()
    w.clock.advance(300_000)
    expect(await w.reconcile({ recover })).toMatchObject({ recovered: 1 })
  })

  test('is given no request where none was stored', async () => {
    const w = setUp({ redrive: false })
    await w.crash()
    w.clock.advance(DUE_MS)
    const requests: unknown[] = []
    await w.reconcile({ recover: (_operation, { request }) => requests.push(request) })
    expect(requests).toEqual([undefined])
  })

  test.each<[string, (operation: Operation) => unknown, string, string]>([
    ['returns', recovered, 'recovered', 'COMPLETED'],
    ['commits', ({ commit }) => commit(RESPONSE), 'recovered', 'COMPLETED'],
    ['fails for good', () => Promise.reject(new PermanentError('no')), 'recovered', 'FAILED'],
    ['throws', () => Promise.reject(new Error('not now')), 'failed', 'RETRYABLE'],
    ['asks to come again', () => Promise.reject(new RetryLater()), 'continued', 'RETRYABLE'],
    ['suspends it', ({ delay }) => delay({ seconds: 5 }), 'continued', 'WAITING'],
    ['waits for a signal', ({ wait }) => wait(), 'continued', 'WAITING'],
  ])('counts it as it ends, when recover %s', async (_name, recover, deed, status) => {
    const w = setUp()
    await w.crash()
    w.clock.advance(DUE_MS)
    expect(await w.reconcile({ recover })).toEqual(reportOf({ examined: 1, [deed]: 1 }))
    expect(w.statuses()).toEqual([status])
  })

  test('comes back to what it could not finish, and not at once', async () => {
    const w = setUp()
    await w.crash()
    w.clock.advance(DUE_MS)
    await w.reconcile({ recover: () => Promise.reject(new Error('not now')) })
    // Twice as long with every attempt.
    w.clock.advance(119_999)
    expect(await w.reconcile({ recover: recovered })).toEqual(reportOf({}))
    w.clock.advance(1)
    expect(await w.reconcile({ recover: recovered })).toEqual(reportOf({ examined: 1, recovered: 1 }))
  })

  test('continues what waits when it is due', async () => {
    const w = setUp({ work: ({ delay, attempt }) => (attempt === 1 ? delay({ seconds: 3600 }) : RESPONSE) })
    await w.call()
    w.clock.advance(3_599_999)
    expect(await w.reconcile({ recover: recovered })).toEqual(reportOf({}))
    w.clock.advance(1)
    expect(await w.reconcile({ recover: recovered })).toEqual(reportOf({ examined: 1, recovered: 1 }))
  })

  test('continues what a signal has woken', async () => {
    const w = setUp({ core: { relay: false } })
    await w.idempotency.run({ key: 'k', input: 1 }, ({ wait }) => wait()).catch(() => undefined)
    expect(await w.reconcile({ recover: recovered })).toEqual(reportOf({}))
    await w.idempotency.signal({ key: 'k' }, 'paid')
    const seen: unknown[] = []
    const recover = async ({ signals }: Operation) => seen.push(...(await signals()))
    expect(await w.reconcile({ recover })).toEqual(reportOf({ examined: 1, recovered: 1 }))
    expect(seen).toEqual(['paid'])
  })
})

describe('reconcilers', () => {
  test('in parallel recover no operation twice', async () => {
    const w = setUp()
    for (let n = 0; n < 20; n++) await w.crash(`key-${n}`)
    w.clock.advance(DUE_MS)
    const ids: string[] = []
    const recover = async ({ id }: Operation) => {
      ids.push(id)
      await new Promise((resolve) => setImmediate(resolve))
      return RESPONSE
    }
    const reports = await Promise.all([1, 2, 3].map(() => w.reconcile({ recover })))
    expect(ids).toHaveLength(20)
    expect(new Set(ids).size).toBe(20)
    expect(reports.reduce((sum, report) => sum + report.recovered, 0)).toBe(20)
  })

  test.each<[string, (w: ReturnType<typeof setUp>) => unknown, string[]]>([
    ['was completed meanwhile', (w) => w.call(), ['COMPLETED']],
    ['was settled', (w) => w.idempotency.settle({ key: 'key-1', scope: SCOPE }, { value: 1 }), ['COMPLETED']],
    ['is gone', (w) => w.memory.remove(w.record()?.id ?? ''), []],
  ])('skip an operation that %s, when the index still names it', async (_name, meanwhile, statuses) => {
    const w = setUp()
    await w.crash()
    w.clock.advance(DUE_MS)
    const due = await w.memory.listDue('payments#0', w.clock.now(), 10)
    expect(due).toHaveLength(1)
    await meanwhile(w)
    expect(w.statuses()).toEqual(statuses)
    const recover = vi.fn(recovered)
    const late = setUp({ core: { store: { ...w.memory, listDue: async () => due }, clock: w.clock } })
    expect(await late.reconcile({ recover })).toEqual(reportOf({ examined: 1, skipped: 1 }))
    expect(recover).not.toHaveBeenCalled()
    expect(w.statuses()).toEqual(statuses)
  })

  test('never begin an operation: one that was released or has expired stays so', async () => {
    const memory = memoryStore()
    const w = setUp({ core: { store: memory, unfinishedRetentionSeconds: 100 } })
    const crashed = w.idempotency.run({ key: 'k', input: 1 }, () => new Promise(() => undefined))
    await Promise.race([crashed, new Promise((resolve) => setImmediate(resolve))])
    w.clock.advance(200_000)
    const recover = vi.fn(recovered)
    const [before] = memory.records()
    expect(await w.reconcile({ recover })).toEqual(reportOf({ examined: 1, skipped: 1 }))
    expect(recover).not.toHaveBeenCalled()
    expect(memory.records()).toEqual([before])
  })

  test.each(['closed', 'open'] as const)(
    'run nothing when the store fails, with onStoreError: %s',
    async (onStoreError) => {
      const w = setUp({ core: { onStoreError } })
      await w.crash()
      w.clock.advance(DUE_MS)
      const recover = vi.fn(recovered)
      let reads = 0
      const get: Store['get'] = async (id) => {
        if (++reads > 1) throw new StoreError('The store is gone.', { retryable: true })
        return w.memory.get(id)
      }
      const failing = setUp({ core: { onStoreError, clock: w.clock, store: { ...w.memory, get } } })
      expect(await failing.reconcile({ recover })).toEqual(reportOf({ examined: 1, failed: 1 }))
      expect(recover).not.toHaveBeenCalled()
    },
  )

  test('do not wait for an operation that another one has taken', async () => {
    const w = setUp({ core: { inFlight: { waitSeconds: 30 } } })
    await w.crash()
    w.clock.advance(DUE_MS)
    const gate = Promise.withResolvers<void>()
    const first = w.reconcile({ recover: () => gate.promise })
    const startMs = w.clock.now()
    const second = await w.reconcile({ recover: recovered })
    expect(second.recovered).toBe(0)
    expect(w.clock.now()).toBe(startMs)
    gate.resolve()
    expect(await first).toMatchObject({ recovered: 1 })
  })

  test('never touch what only an operator may decide', async () => {
    const w = setUp({ core: { takeover: 'never' } })
    await w.crash()
    w.clock.advance(100 * DUE_MS)
    const before = w.record()
    expect(await w.reconcile({ recover: recovered, sender: w.sender })).toEqual(reportOf({}))
    expect(w.record()).toEqual(before)
  })
})

describe('an unknown step', () => {
  const charging =
    (found: 'done' | 'not-done' | 'unknown') =>
    async ({ step }: Operation) => {
      const charge = await step('charge', () => new Promise<string>(() => undefined), {
        onUnknown: 'stop',
        probe: () => (found === 'done' ? { kind: 'done', value: 'probed' } : { kind: found }),
      })
      return { statusCode: 200, body: charge }
    }

  async function unknown(hasProbe = true) {
    const w = setUp()
    void w.idempotency.run({ key: 'k', input: 1 }, charging('unknown')).catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    w.clock.advance(LEASE_MS + 2_000)
    const again = hasProbe
      ? charging('unknown')
      : ({ step }: Operation) => step('charge', () => 1, { onUnknown: 'stop' as const })
    await w.idempotency.run<unknown>({ key: 'k', input: 1 }, again).catch(() => undefined)
    expect(w.record()?.status).toBe('UNKNOWN')
    w.clock.advance(120_000)
    return w
  }

  test('that can be asked about is asked again through recover', async () => {
    const w = await unknown()
    expect(await w.reconcile({ recover: charging('done') })).toEqual(reportOf({ examined: 1, recovered: 1 }))
    expect(w.record()).toMatchObject({ status: 'COMPLETED', steps: { charge: { kind: 'done' } } })
    expect(w.record()).not.toHaveProperty('unknownStep')
  })

  test('that stays unknown is for an operator, and is asked again later', async () => {
    const w = await unknown()
    expect(await w.reconcile({ recover: charging('unknown') })).toEqual(reportOf({ examined: 1, beyond: 1 }))
    expect(w.record()).toMatchObject({ status: 'UNKNOWN', unknownStep: 'charge' })
    w.clock.advance(239_999)
    expect(await w.reconcile({ recover: charging('done') })).toEqual(reportOf({}))
    w.clock.advance(1)
    expect(await w.reconcile({ recover: charging('done') })).toEqual(reportOf({ examined: 1, recovered: 1 }))
  })

  test('stays unknown when recover throws before it asks', async () => {
    const w = await unknown()
    await w.reconcile({ recover: () => Promise.reject(new Error('before the step')) })
    const stop = ({ step }: Operation) => step('charge', () => 'charged twice', { onUnknown: 'stop' })
    await expect(w.idempotency.run<unknown>({ key: 'k', input: 1 }, stop)).rejects.toMatchObject({
      code: 'UNKNOWN_OUTCOME',
    })
  })

  test('that cannot be asked about is not looked at', async () => {
    const w = await unknown(false)
    expect(await w.reconcile({ recover: recovered })).toEqual(reportOf({}))
  })

  test('is beyond a reconciler that can only send, which comes back to it in an hour', async () => {
    const w = await unknown()
    expect(await w.reconcile({ sender: w.sender })).toEqual(reportOf({ examined: 1, beyond: 1 }))
    w.clock.advance(3_599_999)
    expect(await w.reconcile({ sender: w.sender })).toEqual(reportOf({}))
    expect(w.record()?.status).toBe('UNKNOWN')
    expect(w.record()).not.toHaveProperty('expiresAt')
  })
})

describe('crashes', () => {
  test('of reconcilers do not count as those of the work', async () => {
    const w = setUp({ core: { maxCrashes: 1 } })
    await w.crash()
    for (let n = 0; n < 5; n++) {
      w.clock.advance(DUE_MS + LEASE_MS)
      const hanging = w.reconcile({ recover: () => new Promise(() => undefined) })
      await Promise.race([hanging, new Promise((resolve) => setImmediate(resolve))])
      expect(w.record()).toMatchObject({ status: 'IN_PROGRESS', attempt: n + 2, crashes: 1, isReconciled: true })
      w.clock.advance(30_000)
    }
    w.clock.advance(DUE_MS)
    expect(await w.reconcile({ recover: recovered })).toMatchObject({ recovered: 1 })
    expect(w.record()?.status).toBe('COMPLETED')
  })

  test('of the work that were too many make it unknown, for an operator', async () => {
    const w = setUp({ core: { maxCrashes: 1 } })
    await w.crash()
    w.clock.advance(DUE_MS)
    await w.crash()
    w.clock.advance(DUE_MS)
    const recover = vi.fn(recovered)
    expect(await w.reconcile({ recover })).toEqual(reportOf({ examined: 1, beyond: 1 }))
    expect(recover).not.toHaveBeenCalled()
    expect(w.record()).toMatchObject({ status: 'UNKNOWN', crashes: 2 })
    expect(w.record()).not.toHaveProperty('dueAtMs')
  })
})
