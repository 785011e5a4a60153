import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  batchHandler,
  dynamoStream,
  eventBridgeEvent,
  kafka,
  kinesis,
  type Source,
  s3Notification,
  snsNotification,
  sqs,
} from '../../lib/batch/index.ts'
import { createIdempotency, isLambdaOnceError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { event, message } from '../batch/sqs-event.ts'
import { fakeClock } from '../core/fake-clock.ts'
import {
  busEvent,
  kafkaEvent,
  kinesisEvent,
  kinesisRecord,
  notification,
  s3Record,
  streamRecord,
  ttlRemoval,
} from './events.ts'
import { copyOf, FUZZ_EVENTS, mutated, mutations, reordered } from './mutations.ts'
import { invocation } from './set-up.ts'

interface Fuzzed {
  readonly source: Source<never>
  readonly event: unknown
}

const queue = (source: unknown, ...bodies: unknown[]): Fuzzed => ({
  source: source as Source<never>,
  event: event(
    ...bodies.map((body, index) =>
      message(`m${index}`, {
        body,
        messageAttributes: {
          shop: { stringValue: 's', dataType: 'String' },
          raw: { binaryValue: 'aw==', dataType: 'Binary' },
        },
      }),
    ),
  ),
})

const FUZZED: Record<string, Fuzzed> = {
  SQS: queue(sqs(), { id: 1 }, { id: 2 }),
  'SQS, FIFO': {
    source: sqs() as never,
    event: event(message('a1', { group: 'A' }), message('b1', { group: 'B', key: 'k' }), message('a2', { group: 'A' })),
  },
  'SNS in SQS': queue(
    sqs({ unwrap: snsNotification() }),
    notification({ id: 1 }, { key: 'k' }),
    notification({ id: 2 }),
  ),
  'EventBridge in SQS': queue(
    sqs({ unwrap: eventBridgeEvent() }),
    busEvent({ id: 1 }),
    busEvent({ metadata: { idempotencyKey: 'k' } }),
  ),
  'S3 in SNS in SQS': queue(
    sqs({ unwrap: snsNotification(s3Notification()) }),
    notification({ Records: [s3Record('a'), s3Record('b')] }),
    { Records: [s3Record('c')] },
  ),
  Kinesis: {
    source: kinesis() as never,
    event: kinesisEvent(kinesisRecord('7'), kinesisRecord('8', { a: [1, { b: 2 }] })),
  },
  'a DynamoDB stream': {
    source: dynamoStream() as never,
    event: {
      Records: [
        streamRecord('1', {
          newImage: { id: { S: '1' }, n: { N: '5' }, tags: { SS: ['a'] }, list: { L: [{ M: { x: { BOOL: true } } }] } },
        }),
        streamRecord('2', { eventName: 'MODIFY', oldImage: { id: { S: '2' } } }),
        ttlRemoval('3'),
      ],
    },
  },
  Kafka: { source: kafka() as never, event: kafkaEvent({ 'orders-0': [{ id: 1 }, null], 'orders-1': [{ id: 2 }] }) },
}

/** What happened to the records of one delivery. */
function consume(source: Source<never>, key?: () => string) {
  const store = memoryStore()
  const idempotency = createIdempotency({ store, clock: fakeClock(), namespace: 'fuzz' })
  const ran: { key: string; id: string; raw: unknown }[] = []
  let failed: unknown[] = []
  const handler = batchHandler(
    {
      idempotency,
      source,
      onFailure: ({ record }: { record: unknown }) => void failed.push(record),
      ...(key && { key }),
      ...(source.queue && { redrive: { queueUrl: 'https://sqs.example/q', allowReorder: true } }),
    } as never,
    ((record: object, operation: { key: string; id: string }) => {
      ran.push({ key: operation.key, id: operation.id, raw: record })
    }) as never,
  )
  return {
    store,
    ran,
    failedRecords: () => failed,
    async deliver(given: unknown): Promise<unknown[] | undefined> {
      failed = []
      try {
        const { batchItemFailures } = await handler(given as never, invocation())
        return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
      } catch (error) {
        // Whatever is thrown has a name and says what to do.
        if (!isLambdaOnceError(error, 'INVALID_EVENT')) throw error
        return undefined
      }
    },
  }
}

/** Everything in the event that a failure may be reported under, read without the toolkit. */
function identifiersIn(given: unknown): unknown[] {
  const { Records, records } = Object(given)
  const kafkas = Object.values(Object(records)).flat().map(Object)
  return [
    ...(Array.isArray(Records) ? Records : [])
      .map(Object)
      .flatMap(({ messageId, kinesis: data, dynamodb }) => [messageId, data?.sequenceNumber, dynamodb?.SequenceNumber]),
    ...kafkas.map(({ topic, partition, offset }) => ({ partition: `${topic}-${partition}`, offset })),
  ].filter((identifier) => identifier)
}

describe.each(Object.entries(FUZZED))('%s', (_name, { source, event: original }) => {
  test('changed anyhow: no untyped crash, no unknown identifier, no claim without a key', async () => {
    const perRun = 10
    await fc.assert(
      fc.asyncProperty(fc.array(mutations, { minLength: perRun, maxLength: perRun }), async (rounds) => {
        const { deliver, ran, store } = consume(source)
        for (const changes of rounds) {
          const given = mutated(original, changes)
          const reported = await deliver(copyOf(given))
          if (reported === undefined) continue
          // Compared as JSON: this runs very often.
          const known = new Set(identifiersIn(given).map((id) => JSON.stringify(id)))
          const names = reported.map((identifier) => JSON.stringify(identifier))
          if (names.some((name) => !known.has(name) || name === '""')) throw new Error(`Not of the event: ${names}`)
          if (new Set(names).size < names.length) throw new Error(`Reported twice: ${names}`)
        }
        expect(ran.filter(({ key }) => key.trim() === '')).toEqual([])
        expect(store.records().length).toBeLessThanOrEqual(ran.length)
      }),
      { numRuns: Math.ceil(FUZZ_EVENTS / perRun) },
    )
  })

  test.each([['under one key for all'], ['under its own key']])('a changed copy %s is no repetition', async (how) => {
    const key = how === 'under its own key' ? undefined : () => 'k'
    const records = source.records(original) as readonly object[]
    await fc.assert(
      fc.asyncProperty(
        fc.nat(records.length - 1),
        fc.array(mutations, { minLength: 5, maxLength: 5 }),
        async (index, rounds) => {
          const record = source.records(original)[index]!
          const opened = source.open(record)
          if (opened.kind === 'refused' || opened.contents.length !== 1) return
          const { deliver, ran, failedRecords } = consume(source, key)
          await deliver(one(original, index))
          expect(ran).toHaveLength(1)
          // Two copies may be changed into the same.
          const said = [meaning(source, record)]
          for (const changes of rounds) {
            const given = mutated(one(original, index), changes)
            if ((await deliver(copyOf(given))) === undefined || failedRecords().length > 0) continue
            // It was let go without a run of its own: then it said the same as one before it, or nothing.
            const says = source.records(given).map((other) => meaning(source, other))
            for (const what of ran.length === 1 ? says : []) {
              expect(what === undefined || said.some((before) => isDeepStrictEqual(what, before))).toBe(true)
            }
            said.push(...says)
            ran.length = 1
          }
        },
      ),
      { numRuns: Math.ceil(FUZZ_EVENTS / 10) },
    )
  })

  test('with the keys of its objects in another order it is a repetition', async () => {
    const { deliver, ran } = consume(source)
    expect(await deliver(copyOf(original))).toEqual([])
    const runs = ran.length
    expect(await deliver(reordered(copyOf(original)))).toEqual([])
    expect(ran).toHaveLength(runs)
  })

  test('changed anyhow, and then with its keys in another order, it is a repetition', async () => {
    const perRun = 5
    await fc.assert(
      fc.asyncProperty(fc.array(mutations, { minLength: perRun, maxLength: perRun }), async (rounds) => {
        for (const changes of rounds) {
          const { deliver, ran } = consume(source)
          const given = mutated(original, changes)
          const reported = await deliver(copyOf(given))
          const runs = ran.length
          // Failures come in the order of the records, and that of Kafka's partitions is the order of an object's keys.
          expect(inOrder(await deliver(reordered(copyOf(given))))).toEqual(inOrder(reported))
          expect(ran).toHaveLength(runs)
        }
      }),
      { numRuns: Math.ceil(FUZZ_EVENTS / perRun / 10) },
    )
  })
})

/** `undefined`: the whole event was refused. */
function inOrder(reported: readonly unknown[] | undefined): readonly string[] | undefined {
  return reported?.map((identifier) => JSON.stringify(identifier)).sort()
}

/** The event with only this one of its records. */
function one(given: unknown, index: number): unknown {
  const { Records, records } = copyOf(given) as { Records?: unknown[]; records?: Record<string, unknown[]> }
  if (Records !== undefined) return { Records: [Records[index]] }
  const [partition, place] = index < 2 ? ['orders-0', index] : ['orders-1', 0]
  return { ...(copyOf(given) as object), records: { [partition]: [records?.[partition]?.[place]] } }
}

/** What a record says, read without the toolkit; `undefined`: there is nothing in it. */
function meaning({ name, queue: isQueue }: Source<never>, record: object): unknown {
  const { body, kinesis: data, dynamodb, eventName, value } = record as Record<string, Record<string, unknown>>
  if (name === 'Kinesis') return data?.data
  if (name === 'Kafka') return value ?? null
  if (!isQueue)
    return [eventName, dynamodb?.Keys, dynamodb?.NewImage, dynamodb?.OldImage].map((item) => item ?? undefined)
  return innermost(String(body))
}

function innermost(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  if (typeof value !== 'object' || value === null) return text
  const fields = value as Record<string, unknown>
  if (fields.Event === 's3:TestEvent') return undefined
  if (typeof fields.Message === 'string' && fields.TopicArn && fields.MessageId && fields.Type === 'Notification') {
    return innermost(fields.Message)
  }
  if (typeof fields.detail === 'object' && 'detail-type' in fields)
    return [fields.source, fields['detail-type'], fields.detail]
  const [first] = Array.isArray(fields.Records) ? fields.Records : []
  const { s3, eventName } = Object(first)
  if (s3) return [eventName, s3.bucket?.name, s3.object]
  return text
}
