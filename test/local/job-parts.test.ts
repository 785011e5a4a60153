import { afterEach, describe, expect, test } from 'vitest'
import { spawnTied, type TiedProcess } from '../../infra/local/engines/tied-process.ts'
import { type KillTarget, startKiller } from '../../infra/local/job/killer.ts'
import { findRoles } from '../../infra/local/job/roles.ts'
import { createTally } from '../../infra/local/job/tally.ts'
import type { PartName } from '../../infra/local/parts.ts'
import type { LocalFunction, LocalModel } from '../../infra/local/template/model.ts'

const api = { name: 'api', environment: { ORDERS_TABLE: 'orders' } } as unknown as LocalFunction
const worker = { name: 'worker', environment: { PAYMENT_PROVIDER_URL: 'x' } } as unknown as LocalFunction
const other = { name: 'other', environment: {} } as unknown as LocalFunction
const queues = [
  { arn: 'payments', redrive: { deadLetterQueueArn: 'dead', maxReceiveCount: 5 } },
  { arn: 'dead', redrive: undefined },
  { arn: 'ledger', redrive: undefined },
]
const model = {
  functions: [other, worker, api],
  queues,
  queueMappings: [
    { queueArn: 'payments', functionName: 'worker' },
    { queueArn: 'ledger', functionName: 'other' },
  ],
  routes: [{ routeKey: 'POST /orders', functionName: 'api', authorizer: { issuer: 'i' } }],
} as unknown as LocalModel

describe('the roles of a template', () => {
  test('are found by how functions are wired, and a function without a part changes nothing', () => {
    const roles = findRoles(model)
    expect(roles.functions).toEqual(
      new Map<PartName, LocalFunction>([
        ['orders-api', api],
        ['payments-worker', worker],
      ]),
    )
    expect([roles.paymentsQueue.arn, roles.deadLetterQueue.arn, roles.ordersTable]).toEqual([
      'payments',
      'dead',
      'orders',
    ])
  })

  test('include every queue that some function works off, and no other', () => {
    expect(findRoles(model).workedQueues.map(({ arn }) => arn)).toEqual(['payments', 'ledger'])
  })

  test.each<[string, Partial<LocalModel>, RegExp]>([
    ['route', { routes: [] }, /needs a route POST \/orders with its function/],
    ['worker', { functions: [api] }, /needs a function with the variable PAYMENT_PROVIDER_URL/],
    ['mapping', { queueMappings: [] }, /needs a queue for worker/],
    ['dead-letter queue', { queues: queues.slice(0, 1) as unknown as LocalModel['queues'] }, /needs the queue dead/],
  ])('without its %s are refused by name', (_, changes, message) => {
    expect(() => findRoles({ ...model, ...changes })).toThrow(message)
  })
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

  const run = async (targets: readonly KillTarget[], kills: number): Promise<ReadonlyMap<PartName, number>> => {
    const tally = createTally()
    const killer = startKiller({
      targets,
      kills,
      progress: () => 1,
      sparedReceiveCount: (queueArn) => (queueArn === 'strict' ? 2 : Infinity),
      random: () => 0,
      tally,
    })
    await expect.poll(() => [...tally.counts().kills.values()].reduce((sum, one) => sum + one, 0)).toBe(kills)
    await killer.stop()
    return tally.counts().kills
  }

  const message = (eventSourceARN: string, ApproximateReceiveCount: string) => ({
    Records: [{ eventSourceARN, attributes: { ApproximateReceiveCount } }],
  })

  test('kills any part it is given, whatever that is working on', async () => {
    const targets = [target('orders-api', { routeKey: 'POST /orders' }), target('payments-worker', message('lax', '9'))]
    expect(await run(targets, 2)).toEqual(
      new Map([
        ['orders-api', 1],
        ['payments-worker', 1],
      ]),
    )
  })

  test('spares messages that would soon count as poison on their queue', async () => {
    const spared = target('payments-worker', message('strict', '2'))
    expect(await run([spared, target('orders-api', message('strict', '1'))], 1)).toEqual(new Map([['orders-api', 1]]))
    expect(spared.processes.busy()).toHaveLength(1)
  })

  test('meets a record of a stream only once', async () => {
    const event = { Records: [{ eventSourceARN: 'stream', dynamodb: { SequenceNumber: '1' } }] }
    const again = target('payments-worker', event)
    expect(await run([target('orders-api', event), again, target('orders-api', {})], 2)).toEqual(
      new Map([['orders-api', 2]]),
    )
    expect(again.processes.busy()).toHaveLength(1)
  })
})
