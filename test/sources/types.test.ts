import middy from '@middy/core'
import type {
  Context,
  EventBridgeEvent,
  KinesisStreamEvent,
  KinesisStreamRecord,
  MSKEvent,
  S3EventRecord,
  SelfManagedKafkaEvent,
  SNSEvent,
  SQSEvent,
} from 'aws-lambda'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type BatchRecord,
  batchHandler,
  dynamoStream,
  eachRecord,
  eventBridgeEvent,
  type ItemChange,
  idempotentBatch,
  kafka,
  kinesis,
  type StreamRecord,
  s3Notification,
  snsNotification,
  sqs,
  type TopicPosition,
} from '../../lib/batch/index.ts'
import { eventBridge, eventHandler, idempotentEvent, sns } from '../../lib/event/index.ts'
import { idempotentHttp } from '../../lib/http/index.ts'
import { githubWebhook, header } from '../../lib/keys/index.ts'
import { world } from './set-up.ts'

const { idempotency } = world()
const Order = v.object({ orderId: v.string() })
type Order = v.InferOutput<typeof Order>

describe('the source says', () => {
  test('what a record and an event are', () => {
    const handler = batchHandler(
      { idempotency, source: kinesis(), schema: Order, key: ({ body }) => body.orderId },
      (record) => {
        expectTypeOf(record).toEqualTypeOf<BatchRecord<Order, KinesisStreamRecord>>()
        expectTypeOf(record.kinesis.partitionKey).toEqualTypeOf<string>()
      },
    )
    expectTypeOf(handler).parameter(0).toEqualTypeOf<KinesisStreamEvent>()
    const parsed = batchHandler(
      { idempotency, source: kinesis(), parse: (_text, record) => record.kinesis.data.length },
      ({ body }) => {
        expectTypeOf(body).toEqualTypeOf<number>()
      },
    )
    expectTypeOf(parsed).parameter(1).toEqualTypeOf<Context>()
    const topics = batchHandler({ idempotency, source: kafka() }, ({ body, offset }) => {
      expectTypeOf(body).toEqualTypeOf<unknown>()
      expectTypeOf(offset).toEqualTypeOf<number>()
    })
    expectTypeOf(topics).parameter(0).toEqualTypeOf<MSKEvent | SelfManagedKafkaEvent>()
    expectTypeOf<
      Awaited<ReturnType<typeof topics>>['batchItemFailures'][number]['itemIdentifier']
    >().toEqualTypeOf<TopicPosition>()
    expect([handler, parsed, topics]).toHaveLength(3)
  })

  test('what a body is, where the source or its envelope knows', () => {
    batchHandler({ idempotency, source: dynamoStream() }, ({ body }) => {
      expectTypeOf(body).toEqualTypeOf<ItemChange>()
    })
    batchHandler({ idempotency, source: sqs({ unwrap: snsNotification(s3Notification()) }) }, ({ body, messageId }) => {
      expectTypeOf(body).toEqualTypeOf<S3EventRecord>()
      expectTypeOf(messageId).toEqualTypeOf<string>()
    })
    batchHandler({ idempotency, source: sqs({ unwrap: eventBridgeEvent<Order>() }) }, ({ body }) => {
      expectTypeOf(body).toEqualTypeOf<Order>()
    })
    batchHandler({ idempotency, source: sqs({ unwrap: snsNotification() }), schema: Order }, ({ body }) => {
      expectTypeOf(body).toEqualTypeOf<Order>()
    })
    const handler = batchHandler({ idempotency, source: sqs() }, ({ body }) => {
      expectTypeOf(body).toEqualTypeOf<unknown>()
    })
    expectTypeOf(handler).parameter(0).toEqualTypeOf<SQSEvent>()
    expect(handler).toBeTypeOf('function')
  })

  test('through Middy as well', () => {
    const changes = idempotentBatch({ idempotency, source: dynamoStream() })
    const handler = middy()
      .use(changes)
      .handler(
        changes.eachRecord((record) => {
          expectTypeOf(record).toEqualTypeOf<BatchRecord<ItemChange, StreamRecord>>()
        }),
      )
    middy()
      .use(idempotentBatch({ idempotency, source: kinesis(), schema: Order }))
      .handler(eachRecord<Order, KinesisStreamRecord>(({ kinesis: { data } }) => data))
    middy()
      .use(idempotentBatch({ idempotency, source: kinesis(), schema: Order }))
      // @ts-expect-error the records are those of Kinesis
      .handler(eachRecord<Order>(({ messageId }) => messageId))
    expect(handler).toBeTypeOf('function')
  })
})

test('single events are typed by their source', () => {
  eventHandler(
    { idempotency, source: eventBridge<Order, 'OrderPlaced'>(), key: ({ detail }) => detail.orderId },
    (event, { operation }) => {
      expectTypeOf(event).toEqualTypeOf<EventBridgeEvent<'OrderPlaced', Order>>()
      expectTypeOf(operation.key).toEqualTypeOf<string>()
    },
  )
  const answer = eventHandler({ idempotency, source: sns() }, async () => 7)
  expectTypeOf(answer).parameter(0).toEqualTypeOf<SNSEvent>()
  expectTypeOf(answer).returns.resolves.toEqualTypeOf<number | undefined>()
  const handler = middy<EventBridgeEvent<'OrderPlaced', Order>>()
    .use(idempotentEvent({ idempotency, source: eventBridge<Order, 'OrderPlaced'>() }))
    .handler(async ({ detail }, { operation }) => {
      expectTypeOf(detail).toEqualTypeOf<Order>()
      return operation.key
    })
  expect(handler).toBeTypeOf('function')
})

test('selectors and presets fit into the HTTP options', () => {
  expect(idempotentHttp({ idempotency, keyFrom: header('x-order-id') })).toHaveProperty('before')
  expect(idempotentHttp({ idempotency, ...githubWebhook() })).toHaveProperty('before')
})
