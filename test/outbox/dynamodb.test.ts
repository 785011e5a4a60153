import { UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams'
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest'
import { type SqsEmulator, startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import { type StreamEventRecord, streamEventRecord } from '../../infra/local/event-source-mapping/stream-event.ts'
import { engineStreamArn, listShards, openShard } from '../../infra/local/event-source-mapping/stream-shards.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, type Store } from '../../lib/index.ts'
import { createSender, dispatchOne, OUTBOX_PREFIX, outboxRelay } from '../../lib/outbox/index.ts'
import { invocation } from '../batch/sqs-event.ts'
import { createTable, localClient } from '../stores/table.ts'

const endpoint = inject('dynamoDbEndpoint')
const client = localClient(endpoint)
const streams = new DynamoDBStreamsClient({ endpoint })
let emulator: SqsEmulator
let sqs: SQSClient
let store: Store
let tableName: string

beforeAll(async () => {
  emulator = await startSqsEmulator()
  sqs = new SQSClient({ endpoint: emulator.endpoint })
  tableName = await createTable(client)
  const StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } as const
  await client.send(new UpdateTableCommand({ TableName: tableName, StreamSpecification }))
  store = dynamoStore({ tableName, client })
})
afterAll(() => emulator?.stop())
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

async function queue(suffix = ''): Promise<string> {
  const Attributes = suffix === '.fifo' ? { FifoQueue: 'true' } : {}
  const QueueName = `q-${crypto.randomUUID()}${suffix}`
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
  return QueueUrl
}

async function receive(QueueUrl: string) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
      VisibilityTimeout: 0,
    }),
  )
  return Messages
}

/** Everything that the table's stream has said so far, as Lambda would give it to the relay. */
async function streamed(): Promise<StreamEventRecord[]> {
  const arn = await engineStreamArn(streams, tableName)
  const records: StreamEventRecord[] = []
  for (const { ShardId = '' } of await listShards(streams, arn)) {
    const reader = await openShard(streams, arn, ShardId, 'TRIM_HORIZON')
    for (;;) {
      const found = await reader.read(1_000)
      if (found === undefined || found.length === 0) break
      records.push(...found.map((record) => streamEventRecord(record, arn)))
    }
  }
  return records
}

test('what a commit puts into the outbox is sent once its stream says so, and nothing is sent of later changes', async () => {
  const [emails, ledger] = [await queue(), await queue('.fifo')]
  const large = 'é'.repeat(300) + JSON.stringify(Array.from({ length: 40_000 }, () => Math.random()))
  const idempotency = createIdempotency({ store, namespace: 'orders', relay: true, reconcilerShards: 2 })
  let id = ''
  await idempotency.run({ key: 'order-1', input: 1 }, (operation) => {
    id = operation.id
    return operation.commit('paid', {
      messages: [
        { to: { queueUrl: emails }, body: { orderId: 'order-1' }, attributes: { tenant: 'a' } },
        { to: { queueUrl: ledger }, body: 'debit' },
        { to: { queueUrl: emails }, body: large },
      ],
    })
  })
  const relay = outboxRelay({ store, sender: createSender({ sqs }) })

  expect(await relay({ Records: await streamed() }, invocation())).toEqual({ batchItemFailures: [] })

  const items = await store.listBeside(id, OUTBOX_PREFIX)
  const ids = items.map(({ attributes }) => attributes.messageId)
  expect(new Set(ids).size).toBe(3)
  const received = await receive(emails)
  expect(received.map(({ Body }) => Body).toSorted()).toEqual(['{"orderId":"order-1"}', large].toSorted())
  expect(received.find(({ Body }) => Body !== large)?.MessageAttributes).toMatchObject({
    'Idempotency-Key': { StringValue: ids[0] },
    'Operation-Id': { StringValue: id },
    tenant: { StringValue: 'a' },
  })
  expect(await receive(ledger)).toMatchObject([{ Body: 'debit' }])
  for (const { attributes } of items) {
    expect(attributes).toMatchObject({ state: 'dispatched', expiresAt: expect.any(Number) })
    expect(attributes).not.toHaveProperty('dueShard')
  }
  expect(await Promise.all(['orders#0', 'orders#1'].map((shard) => store.listDue(shard, Date.now() * 2, 10)))).toEqual([
    [],
    [],
  ])

  // The marks are on the stream by now.
  const later = (await streamed()).filter(({ eventName }) => eventName === 'MODIFY')
  expect(later.length).toBeGreaterThan(0)
  await relay({ Records: later }, invocation())
  expect(await receive(emails)).toHaveLength(2)
})

test('a stuck message is sent by hand, once its queue is there', async () => {
  const idempotency = createIdempotency({ store, namespace: 'orders', relay: true })
  const missing = (await queue()).replace(/[^/]*$/, `late-${crypto.randomUUID()}`)
  let id = ''
  await idempotency.run({ key: 'order-2', input: 1 }, (operation) => {
    id = operation.id
    return operation.commit('paid', { messages: [{ to: { queueUrl: missing }, body: 'hello' }] })
  })
  const sender = createSender({ sqs })
  const records = (await streamed()).filter(({ dynamodb }) => dynamodb.Keys?.pk?.S === id)
  const relay = outboxRelay({ store, sender, observer: () => undefined })
  expect(await relay({ Records: records }, invocation())).toEqual({ batchItemFailures: [] })
  const [stuck] = await store.listBeside(id, OUTBOX_PREFIX)
  expect(stuck?.attributes).toMatchObject({ state: 'stuck', stuckReason: 'QueueDoesNotExist' })
  expect(await dispatchOne(store, sender, { ...stuck!, id })).toEqual({ kind: 'stuck', reason: 'QueueDoesNotExist' })

  await sqs.send(new CreateQueueCommand({ QueueName: missing.split('/').at(-1) }))
  expect(await dispatchOne(store, sender, { ...stuck!, id })).toEqual({ kind: 'dispatched' })

  const [sent] = await store.listBeside(id, OUTBOX_PREFIX)
  expect(sent?.attributes).toMatchObject({ state: 'dispatched' })
  expect(sent?.attributes).not.toHaveProperty('stuckReason')
  expect(await receive(missing)).toMatchObject([
    { MessageAttributes: { 'Idempotency-Key': { StringValue: stuck?.attributes.messageId } } },
  ])
})

test('the service’s relay sends with clients of its own, and writes a line for each message', async () => {
  vi.stubEnv('IDEMPOTENCY_TABLE', undefined)
  await expect(import('../../functions/outbox-relay.ts')).rejects.toThrow('IDEMPOTENCY_TABLE is not set')
  vi.resetModules()
  vi.stubEnv('IDEMPOTENCY_TABLE', tableName)
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint)
  vi.stubEnv('AWS_ENDPOINT_URL_SQS', emulator.endpoint)
  const { handler } = await import('../../functions/outbox-relay.ts')
  // The client follows the queue's URL, whose host not every machine can resolve.
  const emails = emulator.endpoint + new URL(await queue()).pathname
  const idempotency = createIdempotency({ store, namespace: 'orders', relay: true })
  const { value: id } = await idempotency.run({ key: 'order-3', input: 1 }, (operation) =>
    operation.commit(operation.id, { messages: [{ to: { queueUrl: emails }, body: 'secret' }] }),
  )
  const records = (await streamed()).filter(({ dynamodb }) => dynamodb.Keys?.pk?.S === id)
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)

  expect(await handler({ Records: records }, invocation())).toEqual({ batchItemFailures: [] })

  const written = write.mock.calls.map(([text]) => String(text)).join('')
  expect(JSON.parse(written)).toMatchObject({ event: 'outbox-dispatched', operationId: id, to: { queueUrl: emails } })
  expect(written).not.toContain('secret')
  expect(await receive(emails)).toMatchObject([{ Body: 'secret' }])
})
