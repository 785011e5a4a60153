import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  GROUP_COMMIT_ACTIONS,
  INDEX_ACTIONS,
  OPERATOR_INDEX_ACTIONS,
  OPERATOR_READ_ACTIONS,
  OPERATOR_WRITE_ACTIONS,
  RELAY_ACTIONS,
  tableActions,
} from '../../infra/constructs/table/grants.ts'
import { batchHandler } from '../../lib/batch/index.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { INDEX_NAME } from '../../lib/dynamodb/table-shape.ts'
import { createIdempotency, type IdempotencyOptions, NoEffectError, RetryLater, type Store } from '../../lib/index.ts'
import { OUTBOX_PREFIX, outboxRelay } from '../../lib/outbox/index.ts'
import { reconciler } from '../../lib/reconciler/index.ts'
import { operationId } from '../../lib/record/identity.ts'
import { storeContract } from '../../lib/store-contract/index.ts'
import { lambdaContext, sqsEvent } from '../../lib/testing/index.ts'
import { cliFor, operationsIn, SCOPE } from '../cli/set-up.ts'
import { createTable, localClient } from '../stores/table.ts'
import { type RecordedActions, record, recordingProxy } from './recorded-calls.ts'

const endpoint = inject('dynamoDbEndpoint')
const QUEUE = { queueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/orders' }

interface Path {
  readonly store: Store
  readonly client: DynamoDBClient
  readonly tableName: string
  readonly calls: RecordedActions
  readonly make: (options?: Partial<IdempotencyOptions>) => ReturnType<typeof createIdempotency>
}

/** A table of its own, and a client that takes down every call: what a function on this code path does. */
async function path(): Promise<Path> {
  const client = localClient(endpoint)
  const tableName = await createTable(client)
  const calls = record(client)
  const store = dynamoStore({ tableName, client })
  const make = (options: Partial<IdempotencyOptions> = {}) =>
    createIdempotency({ store, namespace: 'payments', leaseSeconds: 600, ...options })
  return { store, client, tableName, calls, make }
}

const name = (key: string) => ({ key, scope: SCOPE, fingerprint: false as const })
/** Random bytes do not compress: they lie in parts beside the record. */
const large = () => randomBytes(300_000).toString('base64')

/** Everything that `run`, steps, settling, signals and admissions do; no commit. */
async function runOperations(make: Path['make']): Promise<void> {
  const idempotency = make()
  await idempotency.run(name('small'), () => 'done')
  expect((await idempotency.run(name('small'), () => 'again')).replayed).toBe(true)
  const value = large()
  await idempotency.run(name('large'), () => value)
  expect((await idempotency.run(name('large'), () => 'again')).value).toBe(value)
  const attempts = [
    (): never => {
      throw new RetryLater()
    },
    () => 'resumed',
  ]
  for (const attempt of attempts) {
    const work = idempotency.run(name('retried'), async (operation) => {
      await operation.step('once', async () => 'step')
      return attempt()
    })
    await work.catch(() => undefined)
  }
  const nothing = idempotency.run(name('released'), () => {
    throw new NoEffectError()
  })
  await nothing.catch(() => undefined)
  await idempotency.run(name('released'), () => 'anew')
  // Found in progress by another, who waits for its outcome and reads the record meanwhile.
  let waiting: Promise<{ readonly replayed: boolean }> | undefined
  await idempotency.run(name('waited for'), async (operation) => {
    waiting = make({ inFlight: { waitSeconds: 20 } }).run(name('waited for'), () => 'second')
    await new Promise((resolve) => setTimeout(resolve, 300))
    await operation.extend()
    return 'first'
  })
  expect((await waiting)?.replayed).toBe(true)
  await idempotency.signal({ key: 'nobody', scope: SCOPE }, { any: 'payload' })
  const admission = await idempotency.acquire({ key: 'admitted', scope: SCOPE }, { ttlSeconds: 60 })
  if (admission.admitted) await admission.confirm({ evidence: 'seen' })
}

/** One commit with all that it may have: writes of the caller's, messages and a receipt. */
async function runCommit(make: Path['make'], ownTable: string): Promise<void> {
  const at = (id: string) => ({ TableName: ownTable, Key: { pk: id, sk: 'row' } })
  await make({ relay: true, reconcilerShards: 1 }).run(name('committed'), (operation) =>
    operation.commit('paid', {
      writes: [
        { Put: { TableName: ownTable, Item: { pk: 'put', sk: 'row' } } },
        {
          Update: {
            ...at('update'),
            UpdateExpression: 'SET #n = :one',
            ExpressionAttributeNames: { '#n': 'n' },
            ExpressionAttributeValues: { ':one': 1 },
          },
        },
        { Delete: at('delete') },
        { ConditionCheck: { ...at('check'), ConditionExpression: 'attribute_not_exists(pk)' } },
      ],
      messages: [{ to: QUEUE, body: { paid: true, statement: randomBytes(3_000).toString('base64') } }],
      receipt: { evidence: 'seen' },
    }),
  )
}

describe('a function is granted what its code path calls: no action is missing, and none is for nothing', () => {
  test('run, steps, large outcomes, settling, signals and admissions', async () => {
    const { calls, make, tableName } = await path()
    await runOperations(make)
    expect(calls.on(tableName)).toEqual(tableActions({}).sort())
    expect(calls.resources()).toEqual([tableName])
  })

  test('a commit needs no more of the table, and for the writes of the caller exactly their own actions', async () => {
    const { calls, make, tableName, client } = await path()
    const ownTable = await createTable(client)
    await runCommit(make, ownTable)
    const ofCommit = calls.on(tableName)
    for (const action of ofCommit) expect(tableActions({})).toContain(action)
    expect(calls.on(ownTable)).toEqual([
      'dynamodb:ConditionCheckItem',
      'dynamodb:CreateTable',
      'dynamodb:DeleteItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
    ])
    expect(ofCommit).not.toContain('dynamodb:ConditionCheckItem')
  })

  test('reading receipts', async () => {
    const { calls, make, tableName } = await path()
    await runOperations(make)
    await make().receipts({ key: 'admitted', scope: SCOPE })
    expect(calls.on(tableName)).toEqual(tableActions({ receipts: true }).sort())
    expect(calls.resources()).toEqual([tableName])
  })

  test('a batch whose records share requests', async () => {
    const { calls, make, tableName } = await path()
    await runOperations(make)
    const handler = batchHandler({ idempotency: make(), onFailure: () => undefined }, () => 'worked off')
    const event = sqsEvent(...Array.from({ length: 5 }, (_, index) => ({ body: JSON.stringify({ index }) })))
    expect(await handler(event, lambdaContext())).toEqual({ batchItemFailures: [] })
    expect(await handler(event, lambdaContext())).toEqual({ batchItemFailures: [] })
    expect(calls.on(tableName)).toEqual(tableActions({ groupCommit: true }).sort())
    expect(tableActions({ groupCommit: true }).sort()).toEqual([...tableActions({}), ...GROUP_COMMIT_ACTIONS].sort())
  })

  test('an outbox relay', async () => {
    const { store, client, tableName, make } = await path()
    await runCommit(make, await createTable(client))
    const id = operationId('payments', [SCOPE], 'committed')
    const own = localClient(endpoint)
    const calls = record(own)
    const relay = outboxRelay({
      store: dynamoStore({ tableName, client: own }),
      sender: { send: async (messages) => messages.map(() => ({ kind: 'sent' as const })) },
    })
    const items = await store.listBeside(id, OUTBOX_PREFIX)
    const Records = items.map(
      ({ sk, attributes }): DynamoDBRecord =>
        ({
          eventName: 'INSERT',
          eventSource: 'aws:dynamodb',
          dynamodb: {
            Keys: marshall({ pk: id, sk }),
            NewImage: marshall({ pk: id, sk, ...attributes }, { removeUndefinedValues: true }),
            SequenceNumber: '100',
          },
        }) as DynamoDBRecord,
    )
    expect(Records).toHaveLength(1)
    expect(await relay({ Records }, lambdaContext())).toEqual({ batchItemFailures: [] })
    expect(calls.on(tableName)).toEqual([...RELAY_ACTIONS])
    expect(calls.resources()).toEqual([tableName])
  })

  test('a reconciler, which alone reads the index', async () => {
    const { store, tableName, make, client } = await path()
    await runCommit(make, await createTable(client))
    // Due at once: claimed an hour ago, and never finished.
    const long = operationsIn(client, tableName)
    await long.stale('large')
    await long.stale('small')
    const own = localClient(endpoint)
    const calls = record(own)
    // An hour on, in which nothing times out.
    const later = { now: () => Date.now() + 3_600_000, wait: () => new Promise<void>(() => undefined) }
    const options = { namespace: 'orders', store: dynamoStore({ tableName, client: own }), leaseSeconds: 600 }
    const shards = { relay: true, reconcilerShards: 4, reconcilerRecovers: true, clock: later }
    const sender = { send: async (messages: readonly unknown[]) => messages.map(() => ({ kind: 'sent' as const })) }
    const recovered: string[] = []
    const recover = async ({ id }: { id: string }) => {
      recovered.push(id)
      return large()
    }
    for (const namespace of ['orders', 'payments']) {
      const idempotency = createIdempotency({ ...options, ...shards, namespace })
      await reconciler({ idempotency, sender, recover })(undefined, lambdaContext())
    }
    expect(recovered).not.toEqual([])
    // Its recovery is told what was stored, however large.
    await createIdempotency({ ...options, ...shards }).run(name('large'), () => 'replayed')
    expect(calls.on(tableName)).toEqual(tableActions({ reconciler: true }).sort())
    expect(calls.on(`${tableName}/index/${INDEX_NAME}`)).toEqual([...INDEX_ACTIONS])
    expect(calls.resources()).toEqual([tableName, `${tableName}/index/${INDEX_NAME}`])
    expect(await store.listBeside('nobody', OUTBOX_PREFIX)).toEqual([])
  })
})

describe('the store as a whole', async () => {
  const { store, calls, tableName } = await path()
  for (const { name: about, check } of storeContract) test(`${about}`, () => check(store))

  test('calls nothing that no construct could grant', () => {
    const everything = new Set([...tableActions({ reconciler: true, groupCommit: true }), 'dynamodb:CreateTable'])
    for (const action of calls.on(tableName)) expect([...everything]).toContain(action)
    expect(calls.on(`${tableName}/index/${INDEX_NAME}`)).toEqual([...INDEX_ACTIONS])
  })
})

describe('a person at the command line is granted what its commands call', () => {
  let proxy: Awaited<ReturnType<typeof recordingProxy>>
  let tableName: string
  let operations: ReturnType<typeof operationsIn>
  let cli: ReturnType<typeof cliFor>

  beforeAll(async () => {
    const client = localClient(endpoint)
    tableName = await createTable(client)
    operations = operationsIn(client, tableName)
    proxy = await recordingProxy(endpoint)
    cli = cliFor(proxy.endpoint, tableName)
  })
  afterAll(() => proxy.stop())

  test('to inspect, list, export and examine; and to act', async () => {
    const huge = await operations.huge('huge')
    await operations.committed('committed', QUEUE.queueUrl)
    for (const [command, ...args] of [
      ['inspect', huge, '--show-values'],
      ['receipts', huge],
      ['list'],
      ['list', '--index', '--stale'],
      ['export', '--all'],
      ['doctor', '--reconciler'],
    ] as const) {
      const { code, stderr } = await cli.run(command, ...args)
      expect([0, 9], stderr).toContain(code)
    }
    const { recorded } = proxy
    const tried = (actions: readonly string[]) => actions.filter((action) => !isTried.has(action))
    // `doctor` tries what functions may, with writes that never apply: those are no part of looking.
    const isTried = new Set(OPERATOR_WRITE_ACTIONS)
    expect(tried(recorded.on(tableName))).toEqual([...OPERATOR_READ_ACTIONS])
    expect(recorded.on(`${tableName}/index/${INDEX_NAME}`)).toEqual([...OPERATOR_INDEX_ACTIONS])
    expect(recorded.resources()).toEqual([tableName, `${tableName}/index/${INDEX_NAME}`])

    await proxy.stop()
    proxy = await recordingProxy(endpoint)
    cli = cliFor(proxy.endpoint, tableName)
    const file = join(mkdtempSync(join(tmpdir(), 'settle-')), 'value.json')
    writeFileSync(file, JSON.stringify(large()))
    const acts = [
      ['settle', await operations.stopped('to settle'), '--value-file', file],
      ['release', await operations.stopped('to release')],
      ['resume', await operations.unknown('to resume')],
    ] as const
    for (const [command, ...args] of acts) {
      const { code, stderr } = await cli.run(command, ...args, '--yes')
      expect(code, stderr).toBe(0)
    }
    const reading = new Set(OPERATOR_READ_ACTIONS)
    expect(proxy.recorded.on(tableName).filter((action) => !reading.has(action))).toEqual([...OPERATOR_WRITE_ACTIONS])
  }, 60_000)
})
