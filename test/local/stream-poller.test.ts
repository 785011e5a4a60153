import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams'
import type { DynamoDBStreamEvent } from 'aws-lambda'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type StreamPoller,
  type StreamPollerOptions,
  startStreamPoller,
} from '../../infra/local/event-source-mapping/stream-poller.ts'
import type { InvocableFunction, InvocationResult } from '../../infra/local/lambda/invocation.ts'
import type { LocalStreamMapping } from '../../infra/local/template/model.ts'

const pollers: StreamPoller[] = []
afterEach(async () => {
  await Promise.all(pollers.splice(0).map((poller) => poller.stop()))
})

interface FakeShard {
  readonly id: string
  readonly parent?: string
  readonly records: string[]
  readonly closed: boolean
}

/** A stream with shards of the test's making: DynamoDB Local splits none within the life of a test. */
function streamOf(shards: readonly FakeShard[]) {
  const expired = new Set<string>()
  const answer = async (command: unknown): Promise<unknown> => {
    if (command instanceof ListStreamsCommand) return { Streams: [{ StreamArn: 'engine' }] }
    if (command instanceof DescribeStreamCommand) {
      return {
        StreamDescription: {
          Shards: shards.map(({ id, parent, closed }) => ({
            ShardId: id,
            ParentShardId: parent,
            SequenceNumberRange: closed ? { EndingSequenceNumber: '9' } : {},
          })),
        },
      }
    }
    if (command instanceof GetShardIteratorCommand) {
      const { ShardId, ShardIteratorType, SequenceNumber = '' } = command.input
      const { records } = shards.find(({ id }) => id === ShardId)!
      const positions = {
        TRIM_HORIZON: 0,
        LATEST: records.length,
        AFTER_SEQUENCE_NUMBER: records.indexOf(SequenceNumber) + 1,
      }
      return { ShardIterator: `${ShardId}/${positions[ShardIteratorType as keyof typeof positions]}` }
    }
    if (command instanceof GetRecordsCommand) {
      const { ShardIterator = '', Limit = 0 } = command.input
      if (expired.delete(ShardIterator)) throw new ExpiredIteratorException({ message: 'expired', $metadata: {} })
      const [shardId, position] = ShardIterator.split('/')
      const { records, closed } = shards.find(({ id }) => id === shardId)!
      const found = records.slice(Number(position), Number(position) + Limit)
      const next = Number(position) + found.length
      return {
        Records: found.map((SequenceNumber) => ({ eventName: 'INSERT', dynamodb: { SequenceNumber } })),
        NextShardIterator: closed && next === records.length ? undefined : `${shardId}/${next}`,
      }
    }
    throw new Error('not a command of streams')
  }
  return {
    client: { send: answer } as unknown as DynamoDBStreamsClient,
    expire: (iterator: string) => expired.add(iterator),
  }
}

/** A function that is only its answers. */
function functionAnswering(answer: (numbers: readonly string[], call: number) => InvocationResult | undefined) {
  const calls: string[][] = []
  const worker = {
    definition: { arn: 'arn:function' },
    invoke: async (event: unknown): Promise<InvocationResult> => {
      const numbers = (event as DynamoDBStreamEvent).Records.map(({ dynamodb }) => dynamodb?.SequenceNumber ?? '')
      calls.push(numbers)
      return answer(numbers, calls.length) ?? { kind: 'returned', requestId: 'r', payload: null }
    },
  } as InvocableFunction
  return { worker, calls }
}

async function follow(
  client: DynamoDBStreamsClient,
  worker: InvocableFunction,
  changes: Partial<LocalStreamMapping> = {},
  sendFailure: StreamPollerOptions['sendFailure'] = async () => undefined,
): Promise<StreamPoller> {
  const mapping: LocalStreamMapping = {
    kind: 'stream',
    logicalId: 'Mapping',
    streamArn: 'arn:aws:dynamodb:eu-central-1:000000000000:table/t/stream/s',
    functionName: 'worker',
    batchSize: 2,
    windowSeconds: 0,
    startingPosition: 'TRIM_HORIZON',
    filters: [],
    reportsBatchItemFailures: true,
    bisectsOnError: false,
    maxRetries: Infinity,
    maxRecordAgeSeconds: Infinity,
    onFailureQueueArn: undefined,
    ...changes,
  }
  const poller = await startStreamPoller({ mapping, tableName: 't', worker, client, sendFailure })
  pollers.push(poller)
  return poller
}

const error: InvocationResult = { kind: 'error', requestId: 'r', errorType: 'Error', errorMessage: 'x' }

describe('shards', () => {
  test('a child is read after its parent, also when the parent’s last batch has to be retried', async () => {
    const { client } = streamOf([
      { id: 'child', parent: 'parent', records: ['4', '5'], closed: false },
      { id: 'parent', records: ['1', '2', '3'], closed: true },
    ])
    const { worker, calls } = functionAnswering(([first], call) => (first === '3' && call < 4 ? error : undefined))
    const poller = await follow(client, worker)
    await expect.poll(() => calls.at(-1), { timeout: 20_000 }).toEqual(['4', '5'])
    expect(calls).toEqual([['1', '2'], ['3'], ['3'], ['3'], ['4', '5']])
    await expect.poll(() => poller.isIdle()).toBe(true)
  })

  test('LATEST begins with what is written after the start, in shards there are and in new ones', async () => {
    const open: FakeShard = { id: 'open', parent: 'old', records: ['2'], closed: false }
    const shards = [{ id: 'old', records: ['1'], closed: true }, open]
    const { client } = streamOf(shards)
    const { worker, calls } = functionAnswering(() => undefined)
    await follow(client, worker, { startingPosition: 'LATEST' })
    open.records.push('3')
    shards.push({ id: 'new', records: ['7'], closed: false })
    await expect.poll(() => calls.flat().sort(), { timeout: 20_000 }).toEqual(['3', '7'])
  })

  test('an iterator that expired is replaced by one behind the last record read', async () => {
    const shard: FakeShard = { id: 's', records: ['1', '2'], closed: false }
    const { client, expire } = streamOf([shard])
    expire('s/2')
    const { worker, calls } = functionAnswering(() => undefined)
    await follow(client, worker)
    await expect.poll(() => calls).toEqual([['1', '2']])
    shard.records.push('3')
    await expect.poll(() => calls).toEqual([['1', '2'], ['3']])
  })
})

test('a throttled batch is tried again and counts as no failure', async () => {
  const { client } = streamOf([{ id: 's', records: ['1'], closed: false }])
  const { worker, calls } = functionAnswering((_, call) => (call <= 2 ? { kind: 'throttled' } : undefined))
  const failures: string[] = []
  const onFailureQueueArn = 'arn:queue'
  const poller = await follow(client, worker, { maxRetries: 0, onFailureQueueArn }, async (_, body) => {
    failures.push(body)
  })
  await expect.poll(() => poller.isIdle(), { timeout: 20_000 }).toBe(true)
  expect(calls).toEqual([['1'], ['1'], ['1']])
  expect(failures).toEqual([])
})

test('a batch is halved down to the record that throws, which alone is given up', async () => {
  const { client } = streamOf([{ id: 's', records: ['1', '2', '3', '4'], closed: false }])
  const { worker, calls } = functionAnswering((numbers) => (numbers.includes('3') ? error : undefined))
  const failures: unknown[] = []
  const settings = { batchSize: 4, bisectsOnError: true, maxRetries: 1, onFailureQueueArn: 'arn:queue' }
  const poller = await follow(client, worker, settings, async (arn, body) => {
    failures.push([arn, JSON.parse(body).DDBStreamBatchInfo])
  })
  await expect.poll(() => poller.isIdle(), { timeout: 20_000 }).toBe(true)
  expect(calls).toEqual([['1', '2', '3', '4'], ['1', '2'], ['3', '4'], ['3'], ['3'], ['4']])
  expect(failures).toEqual([
    ['arn:queue', expect.objectContaining({ startSequenceNumber: '3', endSequenceNumber: '3', batchSize: 1 })],
  ])
})

test('records too old are given up unseen', async () => {
  const { client } = streamOf([{ id: 's', records: ['1'], closed: false }])
  const { worker, calls } = functionAnswering(() => undefined)
  const conditions: string[] = []
  const settings = { maxRecordAgeSeconds: 60, onFailureQueueArn: 'arn:queue' }
  // The fake's records have no time of creation, which reads as 1970.
  await follow(client, worker, settings, async (_, body) => {
    conditions.push(JSON.parse(body).requestContext.condition)
  })
  await expect.poll(() => conditions).toEqual(['RecordAgeExceeded'])
  expect(calls).toEqual([])
})

test('a table without a stream is refused', async () => {
  const client = { send: async () => ({ Streams: [] }) } as unknown as DynamoDBStreamsClient
  await expect(follow(client, functionAnswering(() => undefined).worker)).rejects.toThrow('table t has no stream')
})
