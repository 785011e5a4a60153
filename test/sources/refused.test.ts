import type { SQSRecord } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import {
  batchHandler,
  dynamoStream,
  type IdempotentBatchOptions,
  kafka,
  kinesis,
  type Source,
  sqs,
} from '../../lib/batch/index.ts'
import { idempotent } from '../../lib/http/index.ts'
import { event, message } from '../batch/sqs-event.ts'
import { httpEvent } from '../http/events.ts'
import {
  busEvent,
  kafkaEvent,
  kinesisEvent,
  kinesisRecord,
  notification,
  s3Record,
  snsEvent,
  streamRecord,
} from './events.ts'
import { consumer, invocation, world } from './set-up.ts'

const EVENTS: Record<string, readonly [event: unknown, hint: RegExp]> = {
  SQS: [event(message('1')), /from SQS\. Use idempotentBatch or batchHandler, whose default source/],
  Kinesis: [kinesisEvent(kinesisRecord('1')), /source: kinesis\(\)/],
  'a DynamoDB stream': [{ Records: [streamRecord('1')] }, /source: dynamoStream\(\)/],
  Kafka: [kafkaEvent({ 'orders-0': ['1'] }), /source: kafka\(\)/],
  'self-managed Kafka': [
    kafkaEvent({ 'o-0': ['1'] }, { eventSource: 'SelfManagedKafka' as never }),
    /source: kafka\(\)/,
  ],
  'Amazon MQ': [
    { eventSource: 'aws:mq', eventSourceArn: 'arn', messages: [{ messageID: '1', data: 'e30=' }] },
    /from Amazon MQ\. It cannot be told which messages have failed\. Call idempotency\.run/,
  ],
  RabbitMQ: [
    { eventSource: 'aws:rmq', eventSourceArn: 'arn', rmqMessagesByQueue: { 'q::/': [] } },
    /RabbitMQ\. It cannot be told which messages have failed\. Call idempotency\.run/,
  ],
  SNS: [snsEvent(notification('x')), /source: sns\(\)/],
  S3: [{ Records: [s3Record()] }, /source: s3\(\)/],
  EventBridge: [busEvent({}), /source: eventBridge\(\)/],
  HTTP: [httpEvent(), /idempotentHttp/],
  'an EventBridge pipe': [event(message('1')).Records, /EventBridge pipe.*\{ Records: event \}/],
  WebSocket: [
    { requestContext: { connectionId: 'c', eventType: 'MESSAGE' }, body: '{}' },
    /WebSocket API.*idempotency\.run/,
  ],
}

const SOURCES: Record<string, Source<never>> = {
  SQS: sqs(),
  Kinesis: kinesis(),
  'a DynamoDB stream': dynamoStream(),
  Kafka: kafka(),
} as never

describe.each(Object.entries(SOURCES))('the source of %s', (name, source) => {
  test.each(Object.entries(EVENTS).filter(([of]) => of !== name && of !== `self-managed ${name}`))(
    'refuses an event of %s and says what serves it',
    async (_of, [given, hint]) => {
      const { deliver, bodies } = consumer(source)
      const refusal = deliver(given)
      await expect(refusal).rejects.toMatchObject({ code: 'INVALID_EVENT', message: expect.stringMatching(hint) })
      expect(bodies).toEqual([])
    },
  )

  test.each([
    undefined,
    null,
    'text',
    7,
    [],
    {},
    { Records: null },
    { Records: [null] },
    { Records: ['x'] },
    { records: 7 },
  ])('refuses %j', async (given) => {
    await expect(consumer(source).deliver(given)).rejects.toMatchObject({ code: 'INVALID_EVENT' })
  })
})

describe('idempotentHttp', () => {
  const { idempotency } = world()
  test.each<[string, unknown]>([
    ['a message of a WebSocket API', EVENTS.WebSocket![0]],
    ['an AppSync resolver', { arguments: {}, info: { fieldName: 'pay' }, request: { headers: {} }, identity: null }],
    [
      'a request of VPC Lattice',
      { version: '2.0', path: '/', method: 'POST', headers: { a: ['b'] }, requestContext: {} },
    ],
    ['an event of EventBridge', busEvent({})],
  ])('refuses %s and says what to use', async (_name, given) => {
    const handler = idempotent({ idempotency }, () => 'never')
    await expect(handler(given as never, invocation())).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      message: expect.stringMatching(/WebSocket messages, AppSync resolvers and anything else run or wrap/),
    })
  })
})

describe('options that only a queue has', () => {
  const { idempotency } = world()
  test.each<[string, Partial<IdempotentBatchOptions<unknown, SQSRecord>>]>([
    ['fifo', { fifo: 'group' }],
    ['redrive', { redrive: { queueUrl: 'https://sqs.example/q' } }],
    ['changeVisibility', { changeVisibility: async () => undefined }],
  ])('are refused for a stream: %s', (name, option) => {
    for (const source of [kinesis(), dynamoStream(), kafka()]) {
      expect(() => batchHandler({ idempotency, source, ...option } as never, () => 1)).toThrow(
        new RegExp(`^${name} is for queues, and the source is`),
      )
    }
  })

  test.each(['sqs', null, {}, sqs])('a source that is none is refused: %s', (source) => {
    expect(() => batchHandler({ idempotency, source } as never, () => 1)).toThrow(/^source must be sqs\(\)/)
  })

  test('options of the sources are checked', () => {
    expect(() => sqs({ unwrap: 's3' as never })).toThrow(/^unwrap must be an envelope/)
    expect(() => kinesis({ wrap: 1 } as never)).toThrow(/no option "wrap"/)
    expect(() => dynamoStream({ ttlRemovals: 'drop' as never })).toThrow(/^ttlRemovals must be "handle" or "skip"/)
  })
})
