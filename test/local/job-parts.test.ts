import { afterEach, describe, expect, test } from 'vitest'
import { spawnTied, type TiedProcess } from '../../infra/local/engines/tied-process.ts'
import { type KillTarget, startKiller } from '../../infra/local/job/killer.ts'
import { findRoles } from '../../infra/local/job/roles.ts'
import { createTally } from '../../infra/local/job/tally.ts'
import type { PartName } from '../../infra/local/parts.ts'
import type { LocalFunction, LocalModel } from '../../infra/local/template/model.ts'

const named = (name: string, environment: object = {}) => ({ name, environment }) as unknown as LocalFunction
const api = named('api', { IDEMPOTENCY_TABLE: 'operations', ORDERS_TABLE: 'orders' })
const worker = named('worker', { PAYMENT_PROVIDER_URL: 'x', LEDGER_TABLE: 'ledger' })
const ledgerWorker = named('ledger-worker', { BALANCES_TABLE: 'balances' })
const [webhook, relay, reconciler, other] = ['webhook', 'relay', 'reconciler', 'other'].map((name) => named(name))
const queues = [
  { arn: 'payments', redrive: { deadLetterQueueArn: 'dead', maxReceiveCount: 5 } },
  { arn: 'dead', redrive: undefined },
  { arn: 'paid', redrive: { deadLetterQueueArn: 'dead-paid', maxReceiveCount: 5 } },
  { arn: 'dead-paid', redrive: undefined },
  { arn: 'others', redrive: undefined },
]
const model = {
  functions: [other, worker, api, reconciler, relay, webhook, ledgerWorker],
  queues,
  queueMappings: [
    { queueArn: 'payments', functionName: 'worker' },
    { queueArn: 'paid', functionName: 'ledger-worker' },
    { queueArn: 'others', functionName: 'other' },
  ],
  streamMappings: [{ functionName: 'relay' }],
  schedules: [{ functionName: 'reconciler' }],
  routes: [
    { routeKey: 'POST /orders', functionName: 'api', authorizer: { issuer: 'i' } },
    { routeKey: 'POST /webhooks/payments', functionName: 'webhook' },
  ],
} as unknown as LocalModel

describe('the roles of a template', () => {
  test('are found by how functions are wired, and a function without a part changes nothing', () => {
    const roles = findRoles(model)
    expect(Object.fromEntries(roles.functions)).toEqual({
      'orders-api': api,
      'payments-worker': worker,
      'payment-webhook': webhook,
      'outbox-relay': relay,
      'ledger-worker': ledgerWorker,
      reconciler,
    } satisfies Record<PartName, unknown>)
    expect([roles.paymentsQueue.arn, roles.deadLetterQueue.arn, roles.paidOrdersQueue.arn]).toEqual([
      'payments',
      'dead',
      'paid',
    ])
    expect(roles.tables).toEqual({
      operations: 'operations',
      orders: 'orders',
      ledger: 'ledger',
      balances: 'balances',
    })
  })

  test('include every queue that some function works off, and no other', () => {
    expect(findRoles(model).workedQueues.map(({ arn }) => arn)).toEqual(['payments', 'paid', 'others'])
    expect(findRoles(model).deadLetterQueues.map(({ arn }) => arn)).toEqual(['dead', 'dead-paid'])
  })

  test.each<[string, Partial<LocalModel>, RegExp]>([
    ['route', { routes: [] }, /needs a route POST \/orders with its function/],
    ['worker', { functions: [api] }, /needs a function with the variable PAYMENT_PROVIDER_URL/],
    ['ledger worker', { functions: [api, worker] }, /needs a function with the variable BALANCES_TABLE/],
    ['mapping', { queueMappings: [] }, /needs a queue for worker/],
    [
      'dead-letter queue',
      { queues: queues.filter(({ arn }) => arn !== 'dead') as unknown as LocalModel['queues'] },
      /needs the queue dead/,
    ],
  ])('without its %s are refused by name', (_, changes, message) => {
    expect(() => findRoles({ ...model, ...changes })).toThrow(message)
  })
})

test('a tally reads what the functions say, and nothing else', () => {
  const tally = createTally()
  const say = (event: object) => tally.lineWritten(JSON.stringify(event))
  say({ event: 'claimed', namespace: 'orders' })
  say({ event: 'completed', namespace: 'balances', skippedWrites: [0, 2] })
  say({ event: 'outbox-dispatched', operationId: 'o' })
  say({ event: 'reconciled', namespace: 'orders', examined: 9, redriven: 2, skipped: 7, hasMore: false })
  say({ event: 'reconciled', namespace: 'payments', redriven: 1, sent: 3 })
  for (const line of ['{"event":', '{"message":"not ours"}', 'claimed', '{"event":7}']) tally.lineWritten(line)
  const { events, staleWrites, deeds } = tally.counts()
  expect(Object.fromEntries(events)).toEqual({ 'orders/claimed': 1, 'balances/completed': 1, 'outbox-dispatched': 1 })
  expect(Object.fromEntries(staleWrites)).toEqual({ balances: 2 })
  expect(Object.fromEntries(deeds)).toEqual({ redriven: 3, sent: 3 })
})

test('a message of the outbox that comes to a queue under two ids was sent twice', () => {
  const tally = createTally()
  for (const [outboxId, messageId] of [
    ['a', '1'],
    ['a', '1'],
    ['b', '2'],
    ['b', '3'],
  ] as const) {
    tally.outboxMessageCame(outboxId, messageId)
  }
  expect(tally.counts().sentTwice).toBe(1)
})

test('a tally keeps its sources, schedules and kills apart', () => {
  const tally = createTally()
  tally.batchDone({
    source: 'q',
    functionName: 'f',
    ids: ['1', '2'],
    verdict: { kind: 'some-failed', failedIds: new Set(['2']) },
  })
  tally.batchDone({ source: 'q', functionName: 'f', ids: ['2'], verdict: { kind: 'all-succeeded' } })
  tally.batchDone({ source: 't', functionName: 'g', ids: ['1'], verdict: { kind: 'all-failed', reason: 'x' } })
  tally.deleteLost('q')
  tally.scheduledRunDone('s', { kind: 'throttled' })
  tally.scheduledRunDone('s', { kind: 'returned', requestId: 'r', payload: null })
  tally.killed('orders-api')
  const { sources, scheduledRuns, kills } = tally.counts()
  expect(sources).toEqual(
    new Map([
      [
        'q',
        {
          deliveriesById: new Map([
            ['1', 1],
            ['2', 2],
          ]),
          deliveries: 3,
          lostDeletes: 1,
          failedBatches: 0,
          failedItems: 1,
        },
      ],
      ['t', { deliveriesById: new Map([['1', 1]]), deliveries: 1, lostDeletes: 0, failedBatches: 1, failedItems: 0 }],
    ]),
  )
  expect(scheduledRuns).toEqual(new Map([['s', { runs: 2, failures: 1 }]]))
  expect(kills).toEqual(new Map([['orders-api', 1]]))
})

describe('the killer', () => {
  const processes: TiedProcess[] = []
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((one) => one.kill()))
  })

  /** A process at work on an event until it is killed. */
  function target(name: PartName, event: unknown): KillTarget & { readonly process: TiedProcess } {
    const child = spawnTied('sleep', ['600'])
    processes.push(child)
    let isAlive = true
    void child.exited.then(() => {
      isAlive = false
    })
    const environment = { pid: child.pid, busyWith: { requestId: String(child.pid), event, deliveredAtMs: 1 } }
    return {
      name,
      process: child,
      processes: { busy: () => (isAlive ? [environment] : []) } as unknown as KillTarget['processes'],
    }
  }

  const run = async (
    targets: readonly KillTarget[],
    kills: number,
    moment?: (name: PartName) => 'now' | 'soon' | 'no',
  ): Promise<ReadonlyMap<PartName, number>> => {
    const tally = createTally()
    const killer = startKiller({
      targets,
      kills,
      ...(moment && { moment: async (name) => moment(name) }),
      progress: () => 1,
      sparedReceiveCount: (queueArn) => (queueArn === 'strict' ? 2 : Infinity),
      random: () => 0,
      tally,
    })
    await expect.poll(() => [...tally.counts().kills.values()].reduce((sum, one) => sum + one, 0)).toBe(kills)
    await expect.poll(killer.isDone).toBe(true)
    await killer.stop()
    return tally.counts().kills
  }

  const message = (eventSourceARN: string, ApproximateReceiveCount: string) => ({
    Records: [{ eventSourceARN, attributes: { ApproximateReceiveCount } }],
  })

  test('kills each part it is given as often as the others, whatever that is working on', async () => {
    const targets = [target('orders-api', { routeKey: 'POST /orders' }), target('payments-worker', message('lax', '9'))]
    expect(Object.fromEntries(await run(targets, 2))).toEqual({ 'orders-api': 1, 'payments-worker': 1 })
  })

  test('waits for the moment a kill is meant for', async () => {
    let looks = 0
    const moment = () => (++looks < 3 ? 'no' : 'now')
    expect(await run([target('payments-worker', {})], 1, moment)).toEqual(new Map([['payments-worker', 1]]))
    expect(looks).toBe(3)
  })

  /** A killer of one process that it must not kill; resolves when it has looked often enough. */
  async function spares(spared: KillTarget, sparing?: KillTarget): Promise<void> {
    const tally = createTally()
    let looks = 0
    const killer = startKiller({
      targets: [spared],
      kills: 2,
      progress: () => {
        looks += 1
        return 1
      },
      sparedReceiveCount: (queueArn) => (queueArn === 'strict' ? 2 : Infinity),
      random: () => 0,
      tally,
    })
    await expect.poll(() => looks).toBeGreaterThan(20)
    await killer.stop()
    expect(tally.counts().kills.get(spared.name) ?? 0).toBe(sparing === undefined ? 0 : 1)
    expect(killer.isDone()).toBe(false)
  }

  test('spares messages that would soon count as poison on their queue', async () => {
    await spares(target('payments-worker', message('strict', '2')))
  })

  test.each([
    ['a record of a stream', { Records: [{ eventSourceARN: 'stream', dynamodb: { SequenceNumber: '1' } }] }],
    ['a request under a key', { headers: { 'idempotency-key': 'k' } }],
  ])('meets %s only once', async (_, event) => {
    const [first, second] = [target('payments-worker', event), target('payments-worker', event)]
    const both = {
      ...first,
      processes: {
        busy: () => [...first.processes.busy(), ...second.processes.busy()],
      } as unknown as KillTarget['processes'],
    }
    await spares(both, first)
  })
})
