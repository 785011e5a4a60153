import { describe, expect, test } from 'vitest'
import { type Envelope, eventBridgeEvent, s3Notification, snsNotification, sqs } from '../../lib/batch/index.ts'
import { event, FIFO_ARN, message, redelivered } from '../batch/sqs-event.ts'
import { busEvent, notification, s3Record } from './events.ts'
import { consumer } from './set-up.ts'

const queue = <T>(unwrap: Envelope<T>, given?: Parameters<typeof consumer<never, T>>[1]) =>
  consumer<never, T>(sqs({ unwrap }) as never, given)

describe('SNS in a queue', () => {
  test('is what the body is, unless it is asked to be taken off', async () => {
    const { deliver, bodies, keys } = consumer(sqs())
    const body = notification({ id: 'o-1' })
    expect(await deliver(event(message('m1', { body })))).toEqual([])
    expect(bodies).toEqual([body])
    expect(keys).toEqual(['m1'])
  })

  test('gives the message, named by the id that a second delivery of SNS and a redrive keep', async () => {
    const { deliver, bodies, keys } = queue(snsNotification())
    const body = notification({ id: 'o-1' }, { id: 'sns-1' })
    expect(await deliver(event(message('m1', { body })))).toEqual([])
    const again = { ...body, Timestamp: 'later', Signature: 'other', UnsubscribeURL: 'other' }
    expect(await deliver(event(message('m2', { body: again })))).toEqual([])
    expect(bodies).toEqual([{ id: 'o-1' }])
    expect(keys).toEqual(['sns-1'])
  })

  test('prefers the key that the publisher gave, and refuses one that is none', async () => {
    const { deliver, keys, reasons } = queue(snsNotification())
    expect(await deliver(event(message('m1', { body: notification({ id: '1' }, { key: 'k-1' }) })))).toEqual([])
    expect(keys).toEqual(['k-1'])
    const MessageAttributes = { 'idempotency-key': { Type: 'Binary', Value: 'aw==' } }
    expect(await deliver(event(message('m2', { body: notification({}, { MessageAttributes }) })))).toEqual(['m2'])
    expect(reasons()).toEqual(['key'])
  })

  test('is read with raw message delivery, too, where attributes are those of the queue’s message', async () => {
    const { deliver, bodies, keys } = queue(snsNotification())
    expect(await deliver(event(message('m1'), message('m2', { key: 'k-2' })))).toEqual([])
    expect(bodies).toEqual([{ id: 'm1' }, { id: 'm2' }])
    expect(keys).toEqual(['m1', 'k-2'])
  })

  test.each<[string, object]>([
    ['without a topic', { TopicArn: undefined }],
    ['without an id', { MessageId: undefined }],
    ['whose message is no text', { Message: { id: 1 } }],
    ['of another type', { Type: 'SubscriptionConfirmation' }],
  ])('leaves a body of the user’s own alone that looks like it, %s', async (_name, over) => {
    const { deliver, bodies } = queue(snsNotification())
    const body = JSON.parse(JSON.stringify({ ...notification('x'), ...over }))
    expect(await deliver(event(message('m1', { body })))).toEqual([])
    expect(bodies).toEqual([body])
  })

  test('keeps its order on a FIFO queue, by group', async () => {
    const { deliver, bodies } = queue(snsNotification<{ id: string }>(), {
      work: ({ id }) => {
        if (id === 'A1') throw new Error('boom')
      },
    })
    const fifo = (id: string) =>
      message(`m-${id}`, { body: notification({ id }), group: id.slice(0, 1), eventSourceARN: FIFO_ARN })
    expect(await deliver(event(fifo('A1'), fifo('B1'), fifo('A2')))).toEqual(['m-A1', 'm-A2'])
    expect(bodies.map(({ id }) => id)).toEqual(['A1', 'B1'])
  })
})

describe('EventBridge in a queue', () => {
  test('gives the detail, named by the event’s id', async () => {
    const { deliver, bodies, keys } = queue(eventBridgeEvent())
    const body = busEvent({ orderId: 'o-1' }, { id: 'e-1' })
    await deliver(event(message('m1', { body })))
    await deliver(event(message('m2', { body })))
    expect(bodies).toEqual([{ orderId: 'o-1' }])
    expect(keys).toEqual(['e-1'])
  })

  test('under a business key counts what was said, not id and time of a second PutEvents', async () => {
    const { deliver, bodies, reasons } = queue(eventBridgeEvent<{ orderId: string; n?: number }>(), {
      options: { key: ({ body }: { body: { orderId: string } }) => body.orderId },
    })
    await deliver(event(message('m1', { body: busEvent({ orderId: 'o-1' }) })))
    expect(await deliver(event(message('m2', { body: busEvent({ orderId: 'o-1' }) })))).toEqual([])
    expect(bodies).toHaveLength(1)
    expect(await deliver(event(message('m3', { body: busEvent({ orderId: 'o-1', n: 2 }) })))).toEqual(['m3'])
    expect(
      await deliver(event(message('m4', { body: busEvent({ orderId: 'o-1' }, { 'detail-type': 'Cancelled' }) }))),
    ).toEqual(['m4'])
    expect(reasons()).toEqual(['mismatch', 'mismatch'])
  })

  test('recognises what an outbox relay sends twice', async () => {
    const { deliver, bodies, keys } = queue(eventBridgeEvent())
    const sent = () => busEvent({ orderId: 'o-1', metadata: { idempotencyKey: 'k-1', operationId: 'op' } })
    await deliver(event(message('m1', { body: sent() })))
    await deliver(event(message('m2', { body: sent() })))
    expect(keys).toEqual(['k-1'])
    expect(bodies).toHaveLength(1)
  })

  test('keeps digits beyond 2^53, in the text to parse and in what is told apart', async () => {
    const texts: string[] = []
    const parse = (text: string) => texts.push(text)
    const { deliver, reasons } = queue(eventBridgeEvent(), { options: { parse, key: () => 'k' } })
    const withSerial = (serial: string) =>
      JSON.stringify(busEvent({ serial: 0 })).replace('"serial":0', `"serial":${serial}`)
    expect(await deliver(event(message('m1', { body: withSerial('9007199254740993') })))).toEqual([])
    expect(texts).toEqual(['{"serial":9007199254740993}'])
    expect(await deliver(event(message('m2', { body: withSerial('9007199254740992') })))).toEqual(['m2'])
    expect(reasons()).toEqual(['mismatch'])
  })

  test.each(['{', '[]', '{"id":"1"}', 'null', '"text"'])('is poison when it is none: %s', async (body) => {
    const { deliver, reasons, store } = queue(eventBridgeEvent())
    expect(await deliver(event(message('m1', { body })))).toEqual(['m1'])
    expect(reasons()).toEqual(['poison'])
    expect(store.records()).toEqual([])
  })
})

describe('S3 in a queue', () => {
  const put = (...records: ReturnType<typeof s3Record>[]) => ({ Records: records })

  test('gives the record, named by the change of the object', async () => {
    const { deliver, bodies } = queue(s3Notification())
    await deliver(event(message('m1', { body: put(s3Record('a.txt')) })))
    await deliver(event(message('m2', { body: put(s3Record('a.txt')) })))
    expect(bodies.map(({ s3 }) => s3.object.key)).toEqual(['a.txt'])
    await deliver(event(message('m3', { body: put(s3Record('a.txt', { sequencer: '0A1B2C3D4E5F678902' })) })))
    await deliver(event(message('m4', { body: put(s3Record('a.txt', { eventName: 'ObjectRemoved:Delete' })) })))
    await deliver(event(message('m5', { body: put(s3Record('b.txt')) })))
    expect(bodies).toHaveLength(4)
  })

  test('with several records makes an operation of each, and reports the message once', async () => {
    const { deliver, bodies, statuses } = queue(s3Notification(), {
      work: ({ s3 }) => {
        if (s3.object.key === 'bad.txt' || s3.object.key === 'worse.txt') throw new Error('boom')
      },
    })
    const body = put(s3Record('a.txt'), s3Record('bad.txt'), s3Record('worse.txt'))
    const batch = event(message('m1', { body }), message('m2', { body: put(s3Record('b.txt')) }))
    expect(await deliver(batch)).toEqual(['m1'])
    expect(await deliver(redelivered(batch))).toEqual(['m1'])
    expect(bodies.map(({ s3 }) => s3.object.key)).toEqual([
      'a.txt',
      'bad.txt',
      'worse.txt',
      'b.txt',
      'bad.txt',
      'worse.txt',
    ])
    expect(statuses().toSorted()).toEqual(['COMPLETED', 'COMPLETED', 'RETRYABLE', 'RETRYABLE'])
  })

  test('falls back to the message’s id and place where nothing tells changes apart', async () => {
    const { deliver, keys } = queue(s3Notification())
    const nameless = { ...s3Record('a.txt', { sequencer: null }), responseElements: {} } as never
    await deliver(event(message('m1', { body: put(nameless) }), message('m2', { body: put(nameless, nameless) })))
    expect(keys).toEqual(['m1', '["m2","0"]', '["m2","1"]'])
  })

  test('names changes without a sequencer by the request that made them', async () => {
    const { deliver, bodies } = queue(s3Notification())
    const tagged = s3Record('a.txt', { sequencer: null, eventName: 'ObjectTagging:Put' })
    await deliver(event(message('m1', { body: put(tagged) })))
    await deliver(event(message('m2', { body: put(tagged) })))
    const later = { ...tagged, responseElements: { 'x-amz-request-id': 'OTHER', 'x-amz-id-2': '' } }
    await deliver(event(message('m3', { body: put(later) })))
    expect(bodies).toHaveLength(2)
  })

  test('takes names longer than a key', async () => {
    const { deliver, bodies } = queue(s3Notification())
    expect(await deliver(event(message('m1', { body: put(s3Record('ä'.repeat(512))) })))).toEqual([])
    expect(bodies).toHaveLength(1)
  })

  test('has nothing to do in the message by which S3 tries a configuration', async () => {
    const { deliver, bodies, store } = queue(s3Notification())
    const body = { Service: 'Amazon S3', Event: 's3:TestEvent', Time: 'now', Bucket: 'invoices' }
    expect(await deliver(event(message('m1', { body })))).toEqual([])
    expect(bodies).toEqual([])
    expect(store.records()).toEqual([])
  })

  test.each<[string, unknown]>([
    ['no records', { Records: [] }],
    ['a record of another source', { Records: [s3Record(), { eventSource: 'aws:sns' }] }],
    ['a record without an object', { Records: [{ eventSource: 'aws:s3', s3: { bucket: { name: 'b' } } }] }],
    ['something else', { orderId: 'o-1' }],
  ])('is poison with %s', async (_name, body) => {
    const { deliver, reasons } = queue(s3Notification())
    expect(await deliver(event(message('m1', { body })))).toEqual(['m1'])
    expect(reasons()).toEqual(['poison'])
  })

  test('comes out of SNS, too, raw and enveloped, under one name', async () => {
    const { deliver, bodies } = queue(snsNotification(s3Notification()))
    await deliver(event(message('m1', { body: notification(put(s3Record('a.txt'))) })))
    await deliver(event(message('m2', { body: put(s3Record('a.txt')) })))
    expect(bodies.map(({ s3 }) => s3.object.key)).toEqual(['a.txt'])
  })

  test('with several records cannot be continued by a message, which would bring all of them again', async () => {
    const { deliver, failures } = queue(s3Notification(), {
      work: (_body, operation) => operation.wait(),
      options: { redrive: { queueUrl: 'https://sqs.example/queue' } },
    })
    expect(await deliver(event(message('m1', { body: put(s3Record('a'), s3Record('b')) })))).toEqual(['m1'])
    expect(String(failures[0]?.error)).toContain('several records')
  })
})
