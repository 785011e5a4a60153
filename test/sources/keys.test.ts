import type { SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { batchHandler, kinesis } from '../../lib/batch/index.ts'
import {
  allOf,
  body,
  dedupId,
  eventId,
  firstOf,
  githubDeliveryId,
  header,
  type KeySelector,
  messageAttribute,
  messageId,
  s3Object,
  shopifyWebhookId,
  streamRecord,
  stripeEventId,
  telegramUpdateId,
} from '../../lib/keys/index.ts'
import { message } from '../batch/sqs-event.ts'
import { httpEvent, restEvent, SOURCES } from '../http/events.ts'
import { busEvent, kinesisRecord, notification, s3Record, snsEvent, streamRecord as tableRecord } from './events.ts'
import { world } from './set-up.ts'

describe('header', () => {
  test.each(Object.entries(SOURCES))('is found in any case, on %s', (_name, make) => {
    const select = header('x-order-id')
    expect(select(make({ headers: { 'X-Order-ID': ' o-1 ' } }) as never)).toBe('o-1')
    expect(select(make() as never)).toBeUndefined()
  })

  test('that comes twice with different values is no key', () => {
    const event = restEvent()
    event.multiValueHeaders = { 'X-Id': ['a', 'b'] }
    expect(() => header('x-id')(event)).toThrow(expect.objectContaining({ code: 'INVALID_KEY' }))
    event.multiValueHeaders = { 'X-Id': ['a', 'a'] }
    expect(header('x-id')(event)).toBe('a')
  })

  test('of an event without headers is none', () => {
    expect(header('x-id')({ headers: null, multiValueHeaders: null })).toBeUndefined()
    expect(header('x-id')({})).toBeUndefined()
  })

  test.each([undefined, '', 'x id', 7])('must have a name: %s', (name) => {
    expect(() => header(name as never)).toThrow(/^header\(name\) takes/)
  })
})

describe('body', () => {
  const orderId = body((order: { orderId: string }) => order.orderId)

  test('of a record is looked at as it was parsed', () => {
    expect(orderId({ ...message('1'), body: { orderId: 'o-1' } })).toBe('o-1')
  })

  test('of a request is decoded and parsed, and the request stays as it is', () => {
    const plain = httpEvent({ body: '{"orderId":"o-1"}' })
    const encoded = httpEvent({ body: Buffer.from('{"orderId":"o-1"}').toString('base64'), base64: true })
    const before = structuredClone([plain, encoded])
    expect([orderId(plain), orderId(encoded)]).toEqual(['o-1', 'o-1'])
    expect([plain, encoded]).toEqual(before)
  })

  test('keeps integers beyond 2^53 apart', () => {
    const id = body((order: { id: number }) => order.id)
    expect(id(httpEvent({ body: '{"id":9007199254740993}' }))).toBe(9007199254740993n)
    expect(id(httpEvent({ body: '{"id":42}' }))).toBe(42)
  })

  test.each([null, undefined, ''])('that is missing gives no key: %j', (given) => {
    expect(orderId({ body: given })).toBeUndefined()
  })

  test.each(['{', 'text', '%%%'])('that is no JSON is no key: %s', (given) => {
    expect(() => orderId({ body: given })).toThrow(expect.objectContaining({ code: 'INVALID_KEY' }))
  })

  test('of another form is no key, and other errors pass', () => {
    const deep = body((order: { order: { id: string } }) => order.order.id)
    expect(() => deep({ body: '{}' })).toThrow(expect.objectContaining({ code: 'INVALID_KEY' }))
    const boom = body(() => {
      throw new RangeError('boom')
    })
    expect(() => boom({ body: '{}' })).toThrow(RangeError)
  })

  test('may be described by a schema whose output is the key', () => {
    const select = body(
      v.pipe(
        v.object({ orderId: v.string() }),
        v.transform((order) => order.orderId),
      ),
    )
    expect(select(httpEvent({ body: '{"orderId":"o-1"}' }))).toBe('o-1')
    expect(() => select(httpEvent({ body: '{"orderId":1}' }))).toThrow('$.orderId')
    const slow = body(v.pipeAsync(v.string()) as never)
    expect(() => slow({ body: '"x"' })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(() => body(7 as never)).toThrow(/^body\(…\) takes/)
  })
})

describe('of a message', () => {
  test('an attribute of type String is a key, of SQS and of SNS', () => {
    const select = messageAttribute('order-id')
    const attribute = { 'Order-Id': { stringValue: 'o-1', dataType: 'String' as const } }
    expect(select(message('1', { messageAttributes: attribute }))).toBe('o-1')
    expect(select(message('1'))).toBeUndefined()
    const MessageAttributes = { 'order-id': { Type: 'String', Value: 'o-2' } }
    expect(select(snsEvent(notification('x', { MessageAttributes })))).toBe('o-2')
    expect(select(snsEvent(notification('x')))).toBeUndefined()
    const binary = { 'order-id': { binaryValue: 'aw==', dataType: 'Binary' as const } }
    expect(() => select(message('1', { messageAttributes: binary }))).toThrow(
      expect.objectContaining({ code: 'INVALID_KEY' }),
    )
    expect(() => messageAttribute('')).toThrow(/takes an attribute's name/)
  })

  test('its id is a key', () => {
    expect(messageId()(message('m-1'))).toBe('m-1')
    expect(messageId()(snsEvent(notification('x', { id: 'sns-1' })))).toBe('sns-1')
  })

  test('its deduplication id is one only when it is asked for', () => {
    expect(dedupId()(message('m-1', { group: 'A' }))).toBe('m-1')
    expect(dedupId()(message('m-1'))).toBeUndefined()
  })
})

describe('of an event', () => {
  test('its id is a key', () => {
    expect(eventId()(busEvent({}, { id: 'e-1' }))).toBe('e-1')
    expect(eventId()(kinesisRecord('7'))).toBe('shardId-000000000000:7')
    expect(eventId()(tableRecord('7'))).toBe('event-7')
  })

  test('the place in a stream is a key of its own per stream', () => {
    const select = streamRecord()
    const other = kinesisRecord('7', {}, { eventSourceARN: 'arn:aws:kinesis:eu-central-1:111122223333:stream/other' })
    const keys = [kinesisRecord('7'), kinesisRecord('8'), other, tableRecord('7')].map((record) =>
      select(record as never),
    )
    expect(new Set(keys).size).toBe(4)
    expect(select(kinesisRecord('7', 'another try'))).toBe(keys[0])
    expect(select({})).toBeUndefined()
  })

  test('a change of an object of S3 is a key, whatever brings it', () => {
    const select = s3Object()
    const key = select(s3Record('a'))
    expect(key).toBeTypeOf('string')
    expect(select({ Records: [s3Record('a')] })).toBe(key)
    expect(select({ Records: [s3Record('a'), s3Record('b')] })).toBeUndefined()
    const created = (sequencer: string) =>
      busEvent({ bucket: { name: 'invoices' }, object: { key: 'a', sequencer } }, { source: 'aws.s3' })
    expect(select(created('0A'))).toBe(select(created('0A')))
    expect(select(created('0A'))).not.toBe(select(created('0B')))
    expect(select(busEvent({}, { source: 'aws.s3' }))).toBeUndefined()
  })

  test('parts of an object’s name never run into each other', () => {
    const inBucket = (name: string, key: string) => {
      const record = s3Record(key)
      record.s3.bucket.name = name
      return s3Object()(record)
    }
    expect(inBucket('a', 'b/c')).not.toBe(inBucket('a/b', 'c'))
  })
})

describe('composed', () => {
  const record = message('m-1', { messageAttributes: { shop: { stringValue: 's', dataType: 'String' } } })

  test('the first that gives a key counts', () => {
    expect(firstOf(messageAttribute('order'), messageAttribute('shop'), messageId())(record)).toBe('s')
    expect(firstOf(messageAttribute('order'), () => ' ', messageId())(record)).toBe('m-1')
    expect(firstOf(messageAttribute('order'))(record)).toBeUndefined()
  })

  test('all parts make one key, and none is made when a part is missing', () => {
    expect(allOf(messageAttribute('shop'), messageId())(record)).toEqual(['s', 'm-1'])
    expect(allOf(messageAttribute('order'), messageId())(record)).toBeUndefined()
    const nested = [
      allOf(
        () => 'a',
        () => ['b', 'c'],
      ),
      allOf(
        () => ['a', 'b'],
        () => 'c',
      ),
    ]
    expect(nested[0]!(record)).not.toEqual(nested[1]!(record))
  })

  test('selectors have to be functions', () => {
    expect(() => firstOf()).toThrow(/^firstOf takes selectors/)
    expect(() => allOf(messageId(), 'x' as never)).toThrow(/^allOf takes selectors.*got "x"/)
  })
})

const NO_EVENTS: readonly unknown[] = [
  null,
  undefined,
  7,
  'text',
  [],
  {},
  { Records: null },
  { Records: [null] },
  { Records: [{ s3: null, Sns: 7 }] },
  { headers: 7, multiValueHeaders: 'x' },
  { body: 7 },
  { body: 'null' },
  { body: '[]' },
  { attributes: null, messageAttributes: null },
  { messageAttributes: { 'order-id': null } },
  { 'detail-type': 1, id: {} },
  { source: 'aws.s3', detail: null },
  { kinesis: null, dynamodb: 7, eventSourceARN: 'arn' },
]

test.each<[string, KeySelector<never>]>([
  ['header', header('x-id')],
  ['body', body((parsed: { id?: string }) => parsed.id)],
  ['messageAttribute', messageAttribute('order-id')],
  ['messageId', messageId()],
  ['dedupId', dedupId()],
  ['eventId', eventId()],
  ['s3Object', s3Object()],
  ['streamRecord', streamRecord()],
  ['stripeEventId', stripeEventId()],
  ['githubDeliveryId', githubDeliveryId()],
  ['shopifyWebhookId', shopifyWebhookId()],
  ['telegramUpdateId', telegramUpdateId()],
  ['firstOf', firstOf(messageId(), header('x-id'))],
  ['allOf', allOf(messageId(), eventId())],
])('%s finds nothing where nothing is, and never crashes', (_name, select) => {
  for (const given of NO_EVENTS) {
    let key: unknown
    try {
      key = select(given as never)
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_KEY' })
    }
    expect(key).toBeUndefined()
  }
})

test('selectors are typed by what they look at', () => {
  const { idempotency } = world()
  expectTypeOf(firstOf(messageAttribute('a'), dedupId())).toExtend<KeySelector<SQSRecord>>()
  batchHandler({ idempotency, key: firstOf(messageAttribute('a'), messageId()) }, () => 1)
  batchHandler({ idempotency, source: kinesis(), key: firstOf(eventId(), streamRecord()) }, () => 1)
  // @ts-expect-error a record of Kinesis has no attributes
  batchHandler({ idempotency, source: kinesis(), key: messageAttribute('a') }, () => 1)
  expect(idempotency).toBeDefined()
})
