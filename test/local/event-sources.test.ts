import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DeleteItemCommand, DescribeTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { DynamoDBStreamEvent, SQSEvent } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requireJava } from '../../infra/local/engines/java.ts'
import { type LocalService, startLocalService } from '../../infra/local/local-service.ts'
import { startProcesses } from '../../infra/local/platform/processes.ts'
import { synthesizeEventSources } from './fixtures/event-sources-app.ts'

interface Line {
  readonly function: string
  readonly seen?: { readonly [name: string]: unknown }
  readonly variables?: { readonly STREAM_ARN: string }
  readonly bodies?: readonly string[]
  readonly begunAtMs: number
  readonly endedAtMs: number
}

let directory: string
let service: LocalService
let dynamoDb: DynamoDBClient
let sqs: SQSClient
const lines: Line[] = []

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lambda-once-sources-'))
  synthesizeEventSources(join(directory, 'cdk.out'))
  const platform = await startProcesses({ javaPath: requireJava() })
  dynamoDb = new DynamoDBClient({ endpoint: platform.dynamoDbEndpoint! })
  service = await startLocalService({
    assemblyDirectory: join(directory, 'cdk.out'),
    logDirectory: join(directory, 'logs'),
    platform,
    environmentOverrides: {},
    scheduleEverySeconds: 1,
    onLine: (name, line) => {
      if (line.startsWith('{'))
        lines.push({ function: name.replace(/^Service-|[0-9A-F]{8}$/g, ''), ...JSON.parse(line) })
    },
  })
  sqs = new SQSClient({ endpoint: service.sqsEndpoint })
})
afterAll(async () => {
  await service?.stop()
  rmSync(directory, { recursive: true })
})

const table = () => service.model.tables[0]!
const queueUrl = (id: string) =>
  service.model.queues.find(({ logicalId }) => logicalId.replace(/.{8}$/, '') === id)!.url
const put = (pk: string, sk: string, command = 'nothing') =>
  dynamoDb.send(
    new PutItemCommand({ TableName: table().name, Item: { pk: { S: pk }, sk: { S: sk }, do: { S: command } } }),
  )
/** The sort keys of the batches with items under `pk` that a function was given, in order. */
const streamBatches = (name: string, pk: string) =>
  lines
    .filter((line) => line.function === name && line.seen?.Records)
    .map(({ seen }) =>
      (seen as unknown as DynamoDBStreamEvent).Records.filter(({ dynamodb }) => dynamodb?.Keys?.pk?.S === pk).map(
        ({ eventName, dynamodb }) => `${eventName} ${dynamodb?.Keys?.sk?.S}`,
      ),
    )
    .filter((batch) => batch.length > 0)

test('the table has its stream and its index', async () => {
  const { Table } = await dynamoDb.send(new DescribeTableCommand({ TableName: table().name }))
  expect(Table?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' })
  expect(Table?.GlobalSecondaryIndexes?.[0]).toMatchObject({
    IndexName: 'due',
    KeySchema: [
      { AttributeName: 'shard', KeyType: 'HASH' },
      { AttributeName: 'dueAtMs', KeyType: 'RANGE' },
    ],
  })
})

describe('a table’s stream', () => {
  test('brings what passes the filter, in Lambda’s shape, under the ARN the template’s references have', async () => {
    await put('filter', 'op')
    await put('filter', 'outbox#1')
    await put('filter', 'outbox#1', 'changed')
    await put('filter', 'outbox#2')
    await expect.poll(() => streamBatches('Relay', 'filter').flat()).toEqual(['INSERT outbox#1', 'INSERT outbox#2'])
    const { seen, variables } = lines.find(({ function: name, seen }) => name === 'Relay' && seen)!
    const [record] = (seen as unknown as DynamoDBStreamEvent).Records
    expect(record).toEqual({
      eventID: expect.stringMatching(/^[0-9a-f]{32}$/),
      eventName: 'INSERT',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'eu-central-1',
      dynamodb: {
        ApproximateCreationDateTime: expect.any(Number),
        Keys: { pk: { S: 'filter' }, sk: { S: 'outbox#1' } },
        NewImage: { pk: { S: 'filter' }, sk: { S: 'outbox#1' }, do: { S: 'nothing' } },
        SequenceNumber: expect.stringMatching(/^\d+$/),
        SizeBytes: expect.any(Number),
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      },
      eventSourceARN: table().streamArn,
    })
    expect(variables).toEqual({ STREAM_ARN: table().streamArn })
    expect(Math.abs(Date.now() / 1000 - record!.dynamodb!.ApproximateCreationDateTime!)).toBeLessThan(600)
  })

  test('goes to every function that follows it, changes and deletions included', async () => {
    await put('all', 'a')
    await put('all', 'a', 'changed')
    await dynamoDb.send(new DeleteItemCommand({ TableName: table().name, Key: { pk: { S: 'all' }, sk: { S: 'a' } } }))
    await expect
      .poll(() => streamBatches('Mirror', 'all').flat(), { timeout: 10_000 })
      .toEqual(['INSERT a', 'MODIFY a', 'REMOVE a'])
  })

  test('is retried from the lowest reported record on, and nothing newer overtakes it', async () => {
    for (const [sk, command] of [['1'], ['2', 'report-once'], ['3'], ['4', 'report-once']] as const) {
      await put('partial', `outbox#${sk}`, command)
    }
    const last = (): string | undefined => streamBatches('Relay', 'partial').at(-1)?.at(-1)
    await expect
      .poll(
        () =>
          streamBatches('Relay', 'partial')
            .flat()
            .filter((id) => id.endsWith('#4')).length,
        { timeout: 20_000 },
      )
      .toBeGreaterThan(1)
    await expect.poll(last).toBe('INSERT outbox#4')
    // However the records fell into batches: each batch after a failure begins with the failed record.
    const flat = streamBatches('Relay', 'partial')
      .flat()
      .map((id) => Number(id.at(-1)))
    const steps = flat.slice(1).map((one, index) => one - flat[index]!)
    expect(steps.every((step) => step <= 1)).toBe(true)
    expect(flat.filter((one) => one === 1)).toHaveLength(1)
    expect(flat.filter((one) => one === 2)).toHaveLength(2)
  })

  test('gives a record up after its retries, tells the destination where it is, and goes on', async () => {
    await put('poison', 'outbox#1', 'report')
    await put('poison', 'outbox#2')
    await expect.poll(() => streamBatches('Relay', 'poison').flat().at(-1), { timeout: 20_000 }).toBe('INSERT outbox#2')
    const { Messages } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl('GivenUp'), WaitTimeSeconds: 5 }),
    )
    const relay = service.model.functions.find(({ logicalId }) => logicalId.startsWith('Relay'))!
    const poison = lines
      .flatMap(({ seen }) => (seen as unknown as DynamoDBStreamEvent | undefined)?.Records ?? [])
      .find(({ dynamodb }) => dynamodb?.NewImage?.do?.S === 'report')!
    expect(JSON.parse(Messages![0]!.Body!)).toEqual({
      requestContext: {
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        functionArn: relay.arn,
        condition: 'RetryAttemptsExhausted',
        approximateInvokeCount: 2,
      },
      responseContext: { statusCode: 200, executedVersion: '$LATEST' },
      version: '1.0',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      DDBStreamBatchInfo: {
        shardId: expect.stringMatching(/^shardId-/),
        startSequenceNumber: poison.dynamodb!.SequenceNumber,
        endSequenceNumber: expect.stringMatching(/^\d+$/),
        approximateArrivalOfFirstRecord: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        approximateArrivalOfLastRecord: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        batchSize: expect.any(Number),
        streamArn: table().streamArn,
      },
    })
  })

  test('brings a batch that throws again until all of it has got through', async () => {
    for (const sk of ['1', '2', '3', '4']) await put('halved', sk, sk === '3' ? 'throw-once' : 'nothing')
    await expect.poll(() => streamBatches('Mirror', 'halved').flat().at(-1), { timeout: 20_000 }).toBe('INSERT 4')
    const batches = streamBatches('Mirror', 'halved')
    expect(new Set(batches.flat())).toEqual(new Set(['1', '2', '3', '4'].map((sk) => `INSERT ${sk}`)))
  })

  test('is idle when everything on it is done', async () => {
    await expect.poll(() => service.streamsAreIdle(), { timeout: 20_000 }).toBe(true)
  })
})

describe('queues', () => {
  test('a FIFO queue is made as the template says', async () => {
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl('Ledger'), AttributeNames: ['All'] }),
    )
    expect(Attributes).toMatchObject({
      FifoQueue: 'true',
      ContentBasedDeduplication: 'true',
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      RedrivePolicy: expect.stringContaining('"maxReceiveCount":3'),
    })
    expect(queueUrl('Ledger')).toMatch(/\.fifo$/)
  })

  test('a group is worked off in order, one invocation at a time', async () => {
    const groups = ['a', 'b', 'c']
    for (let number = 0; number < 5; number += 1) {
      for (const MessageGroupId of groups) {
        const MessageBody = `${MessageGroupId}${number}`
        await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl('Ledger'), MessageBody, MessageGroupId }))
      }
    }
    const spans = () => lines.filter(({ function: name, bodies }) => name === 'LedgerWorker' && bodies)
    await expect.poll(() => spans().flatMap(({ bodies }) => bodies).length, { timeout: 30_000 }).toBe(15)
    const inOrder = spans().toSorted((one, other) => one.begunAtMs - other.begunAtMs)
    for (const group of groups) {
      const own = inOrder.filter(({ bodies }) => bodies?.some((body) => body.startsWith(group)))
      const bodies = own.flatMap((span) => span.bodies).filter((body) => body?.startsWith(group))
      expect(bodies).toEqual([0, 1, 2, 3, 4].map((number) => `${group}${number}`))
      expect(own.slice(1).every(({ begunAtMs }, index) => begunAtMs >= own[index]!.endedAtMs)).toBe(true)
    }
    const event = lines.find((line) => line.function === 'LedgerWorker')!.seen as unknown as SQSEvent
    expect(event.Records[0]?.attributes).toMatchObject({
      MessageGroupId: expect.stringMatching(/^[abc]$/),
      MessageDeduplicationId: expect.any(String),
      SequenceNumber: expect.stringMatching(/^\d+$/),
    })
  })

  test('a second queue brings its messages to a function that has other sources, too', async () => {
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl('Errands'), MessageBody: 'buy milk' }))
    await expect
      .poll(() =>
        lines
          .filter((line) => line.function === 'Mirror')
          .map(({ seen }) => JSON.stringify(seen))
          .join(),
      )
      .toContain('"body":"buy milk"')
  })
})

test('schedules run at the period asked for, with the event of their service or the template’s own', async () => {
  const seen = () => lines.filter((line) => line.function === 'Sweeper' && line.seen).map((line) => line.seen!)
  await expect
    .poll(() => seen().filter(({ source }) => source === 'aws.events').length, { timeout: 20_000 })
    .toBeGreaterThan(1)
  expect(seen().find(({ source }) => source === 'aws.events')).toMatchObject({
    'detail-type': 'Scheduled Event',
    resources: [expect.stringMatching(/^arn:aws:events:eu-central-1:000000000000:rule\/Service-Sweep/)],
  })
  expect(seen()).toContainEqual({ report: 'daily' })
})
