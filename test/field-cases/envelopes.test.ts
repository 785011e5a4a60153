import { describe, expect, test } from 'vitest'
import { eventBridgeEvent, s3Notification, snsNotification, sqs } from '../../lib/batch/index.ts'
import { asyncInvoke, eventBridge, eventHandler, s3 } from '../../lib/event/index.ts'
import { event, message } from '../batch/sqs-event.ts'
import { codeOf, ORDER, setUp } from '../core/harness.ts'
import { busEvent, notification, s3Record } from '../sources/events.ts'
import { consumer, invocation, world } from '../sources/set-up.ts'

describe('Envelopes and other sources', () => {
  test('SNS in SQS was parsed as the message itself, and a raw message as SNS: the envelope is told by all that SNS sends', async () => {
    const { deliver, bodies, keys } = consumer(sqs({ unwrap: snsNotification() }))
    const own = { Type: 'Notification', text: 'of our own' }
    const batch = event(
      message('m1', { body: notification({ id: 1 }, { id: 'sns-1' }) }),
      message('m2', { body: { id: 2 } }),
      message('m3', { body: own }),
    )
    expect(await deliver(batch)).toEqual([])
    expect(bodies).toEqual([{ id: 1 }, { id: 2 }, own])
    expect(keys).toEqual(['sns-1', 'm2', 'm3'])
  })

  test('S3 in SNS in SQS: all three are taken off, and the change of the object is the key', async () => {
    const { deliver, bodies } = consumer(sqs({ unwrap: snsNotification(s3Notification()) }))
    for (const id of ['m1', 'm2']) {
      await deliver(event(message(id, { body: notification({ Records: [s3Record('a.pdf')] }) })))
    }
    expect(bodies.map(({ s3 }) => s3.object.key)).toEqual(['a.pdf'])
  })

  test('S3 tried a new configuration, and its test event failed until it lay in the dead-letter queue: there is nothing to do in it', async () => {
    const trial = { Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: 'invoices' }
    const { deliver, bodies } = consumer(sqs({ unwrap: snsNotification(s3Notification()) }))
    expect(await deliver(event(message('m1', { body: trial }), message('m2', { body: notification(trial) })))).toEqual(
      [],
    )
    expect(bodies).toEqual([])
    const { idempotency, store } = world()
    expect(await eventHandler({ idempotency, source: s3() }, () => 'ran')(trial as never, invocation())).toBeUndefined()
    expect(store.records()).toEqual([])
  })

  test('A pipe of EventBridge hands over a list, which looked like a batch without records: it is refused by name, and served when it is wrapped', async () => {
    const { deliver, bodies } = consumer(sqs())
    const { Records } = event(message('m1'))
    await expect(deliver(Records)).rejects.toThrow(/EventBridge pipe.*\{ Records: event \}/)
    expect(await deliver({ Records })).toEqual([])
    expect(bodies).toHaveLength(1)
  })

  test('One event of EventBridge was delivered three times: its id is the key; a producer’s second PutEvents needs a business key', async () => {
    const runs = async (options: object) => {
      let calls = 0
      const handler = eventHandler(
        { idempotency: world().idempotency, source: eventBridge<{ orderId: string }>(), ...options },
        () => ++calls,
      )
      const first = busEvent({ orderId: 'o-1' })
      for (const given of [first, first, busEvent({ orderId: 'o-1' })]) await handler(given, invocation())
      return calls
    }
    expect(await runs({})).toBe(2)
    expect(await runs({ key: ({ detail }: { detail: { orderId: string } }) => detail.orderId })).toBe(1)
  })

  test('Lambda keeps the request id over retries of an asynchronous invocation, and over nothing else: it is a key only there', async () => {
    let calls = 0
    const handler = eventHandler({ idempotency: world().idempotency, source: asyncInvoke() }, () => {
      calls += 1
      if (calls === 1) throw new Error('boom')
      return 'done'
    })
    const requestId = crypto.randomUUID()
    await expect(handler({ n: 1 }, invocation(requestId))).rejects.toThrow('boom')
    expect(await handler({ n: 1 }, invocation(requestId))).toBe('done')
    expect(await handler({ n: 1 }, invocation(requestId))).toBe('done')
    expect(calls).toBe(2)
    const { idempotency } = setUp()
    const context = { awsRequestId: requestId, getRemainingTimeInMillis: () => 1_000 }
    expect(await codeOf(idempotency.run({ ...ORDER, key: requestId, context }, () => 1))).toBe('INVALID_OPTION')
  })

  test('A rule of EventBridge writes whole events into a queue: unwrapped, the event’s id is the key', async () => {
    const { deliver, bodies, keys } = consumer(sqs({ unwrap: eventBridgeEvent() }))
    await deliver(event(message('m1', { body: busEvent({ orderId: 'o-1' }, { id: 'e-1' }) })))
    expect([bodies, keys]).toEqual([[{ orderId: 'o-1' }], ['e-1']])
  })
})
