import { describe, expect, test } from 'vitest'
import { batchHandler, dynamoStream, kafka, kinesis, snsNotification, sqs } from '../../lib/batch/index.ts'
import { asyncInvoke, eventBridge, eventHandler, s3, sns } from '../../lib/event/index.ts'
import { createIdempotency, type Idempotency, type Operation } from '../../lib/index.ts'
import {
  dynamoStreamEvent,
  eventBusEvent,
  kafkaEvent,
  kinesisEvent,
  lambdaContext,
  memoryStore,
  s3Event,
  snsEvent,
  snsInSqsEvent,
  sqsEvent,
  verifyIdempotent,
  type World,
} from '../../lib/testing/index.ts'
import { said } from './set-up.ts'

type Charge = (id: string, operation: Operation) => Promise<unknown>
type Make = (idempotency: Idempotency, charge: Charge) => (event: unknown, context: unknown) => unknown

/** A handler of records whose body, or what `idOf` finds in it, says which order it is. */
const ofBatch =
  (source: unknown, idOf: (body: never) => string = ({ id }: { id: string }) => id): Make =>
  (idempotency, charge) =>
    batchHandler(
      { idempotency, source, onFailure: () => undefined } as never,
      (async ({ body }: { body: never }, operation: Operation) => {
        await charge(idOf(body), operation)
      }) as never,
    ) as never

const ofEvent =
  (source: unknown, idOf: (event: never) => string, more: object = {}): Make =>
  (idempotency, charge) =>
    eventHandler(
      { idempotency, source, ...more } as never,
      (async (event: never, { operation }: { operation: Operation }) => {
        await charge(idOf(event), operation)
      }) as never,
    ) as never

interface Source {
  readonly make: Make
  readonly event: unknown
  readonly orders: number
  readonly isAsync?: boolean
}

const ORDERS = [{ id: 'order-1' }, { id: 'order-2' }]
const SOURCES: Readonly<Record<string, Source>> = {
  SQS: { make: ofBatch(sqs()), event: sqsEvent(...ORDERS.map((body) => ({ body }))), orders: 2 },
  'SQS FIFO': { make: ofBatch(sqs()), event: sqsEvent(...ORDERS.map((body) => ({ body, group: 'g' }))), orders: 2 },
  'SNS in SQS': {
    make: ofBatch(sqs({ unwrap: snsNotification() })),
    event: snsInSqsEvent(ORDERS.map((message) => ({ message }))),
    orders: 2,
  },
  Kinesis: { make: ofBatch(kinesis()), event: kinesisEvent(...ORDERS.map((data) => ({ data }))), orders: 2 },
  Kafka: {
    make: ofBatch(kafka()),
    event: kafkaEvent(
      { value: ORDERS[0], headers: { trace: 'ä' } },
      { value: ORDERS[1], partition: 1, recordKey: 'k' },
    ),
    orders: 2,
  },
  'DynamoDB Streams': {
    make: ofBatch(dynamoStream(), ({ keys }: { keys: { id: string } }) => keys.id),
    event: dynamoStreamEvent(
      { keys: ORDERS[0] ?? {}, newImage: { cents: 100 } },
      { keys: ORDERS[1] ?? {}, oldImage: { cents: 100 }, isExpiry: true },
    ),
    orders: 2,
  },
  SNS: {
    make: ofEvent(
      sns(),
      ({ Records }: { Records: { Sns: { Message: string } }[] }) => JSON.parse(Records[0]?.Sns.Message ?? '').id,
    ),
    event: snsEvent({ message: ORDERS[0], subject: 'an order', key: 'order-1' }),
    orders: 1,
  },
  EventBridge: {
    make: ofEvent(eventBridge(), ({ detail }: { detail: { id: string } }) => detail.id),
    event: eventBusEvent({ detail: ORDERS[0] }),
    orders: 1,
  },
  S3: {
    make: ofEvent(
      s3(),
      ({ Records }: { Records: { s3: { object: { key: string } } }[] }) => Records[0]?.s3.object.key ?? '',
    ),
    event: s3Event({ key: 'invoices of May/1ä.pdf', versionId: 'v1' }),
    orders: 1,
  },
  'an asynchronous invocation': {
    make: ofEvent(asyncInvoke(), ({ id }: { id: string }) => id),
    event: ORDERS[0],
    orders: 1,
    isAsync: true,
  },
}

describe.each(Object.entries(SOURCES))('%s', (_name, { make, event, orders, isAsync = false }) => {
  const verify = (chargeIn: (world: World) => Charge) =>
    verifyIdempotent((world) => make(world.idempotency(), chargeIn(world)) as never, event, {
      asyncInvocation: isAsync,
    })

  test('an event of the builder is run, and a repetition of it is not', async () => {
    const ids: string[] = []
    const idempotency = createIdempotency({ store: memoryStore(), namespace: 'n' })
    const handler = make(idempotency, async (id) => ids.push(id))
    const context = lambdaContext()
    const answers = [await handler(structuredClone(event), context), await handler(structuredClone(event), context)]
    expect(new Set(ids).size).toBe(orders)
    expect(ids).toHaveLength(orders)
    for (const answer of answers) if (answer !== undefined) expect(answer).toEqual({ batchItemFailures: [] })
  })

  test('a handler that charges in a step with its key passes', async () => {
    const { effects, sequences } = await verify(
      ({ effect }) =>
        (id, { step }) =>
          step('charge', ({ idempotencyKey }) => effect('charge', { idempotencyKey, of: id })),
    )
    expect(effects).toEqual({ charge: orders })
    expect(sequences).toBeGreaterThan(5)
  })

  test('one that charges outside of a step does not, and is told after which crash', async () => {
    const message = await said(
      verify(
        ({ effect }) =>
          (id) =>
            effect('charge', { of: id }),
      ),
    )
    expect(message).toContain('NotIdempotentError: crash after the effect "charge"')
    expect(message).toContain('happened 2 times, expected once')
  })
})

test.each([
  [() => kinesisEvent({ body: 1 } as never), 'what kinesisEvent takes has no option "body"'],
  [() => dynamoStreamEvent(undefined as never), 'dynamoStreamEvent takes objects such as { keys: … }; got undefined.'],
  [() => snsEvent({ message: 1, id: 'a' } as never), 'what snsEvent takes has no option "id"'],
  [() => snsInSqsEvent(['text' as never]), 'snsInSqsEvent takes objects such as { message: … }; got "text".'],
  [() => eventBusEvent(1 as never), 'eventBusEvent takes objects such as { detail: … }; got 1.'],
  [() => s3Event({ name: 'a' } as never), 'what s3Event takes has no option "name"'],
  [() => kafkaEvent({ value: 1, key: 'a' } as never), 'what kafkaEvent takes has no option "key"'],
])('a builder refuses what describes nothing (%#)', (build, message) => {
  expect(build).toThrow(message)
})

test('S3 keys are encoded as S3 does, and a deleted Kafka key has no value', () => {
  expect(s3Event({ key: 'a b/ü+.pdf' }).Records[0]?.s3.object.key).toBe('a+b/%C3%BC%2B.pdf')
  const { records } = kafkaEvent({ value: null }, { value: 'x' }, { value: 'y', topic: 'other', offset: 7 })
  expect(Object.entries(records).map(([name, list]) => [name, list.map(({ offset }) => offset)])).toEqual([
    ['topic-0', [0, 1]],
    ['other-0', [7]],
  ])
  expect(records['topic-0']?.[0]).not.toHaveProperty('value')
})
