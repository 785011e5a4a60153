import type { SQSRecord } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { type Operation, RetryLater } from '../../lib/index.ts'
import { codeOf } from '../core/harness.ts'
import { event, FIFO_ARN, message, QUEUE_ARN } from './sqs-event.ts'
import { QUEUE_URL, suspendingQueue } from './suspending-queue.ts'

const text = (stringValue: string) => ({ stringValue, dataType: 'String' as const })
const attributesOf = (record: SQSRecord | undefined) =>
  Object.fromEntries(
    Object.entries(record?.messageAttributes ?? {}).map(([name, { stringValue }]) => [name, stringValue]),
  )
const untilSignalled = async ({ signals, wait }: Operation) => {
  const seen = await signals()
  return seen.length === 0 ? wait() : seen
}

describe('a flow that waits 20 times on a queue of three receives', () => {
  test('ends completed, every delivery a success, and its steps have run once', async () => {
    const charges: number[] = []
    const q = suspendingQueue({
      work: async ({ step, delay, attempt }) => {
        for (let n = 1; n <= 20; n++) {
          await step(`part ${n}`, () => charges.push(n))
          const since = n === attempt
          if (since) return delay({ seconds: 60 })
        }
        return 'done'
      },
    })
    q.send(message('m-1'))
    expect(await q.drain()).toEqual([])
    expect(q.dead).toEqual([])
    expect(q.record()).toMatchObject({ status: 'COMPLETED', attempt: 21 })
    expect(charges).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    expect(q.queue).toEqual([])
  })

  test('for hours each time, in hops of a quarter of an hour, does as well', async () => {
    const q = suspendingQueue({
      work: ({ delay, attempt }) => (attempt <= 3 ? delay({ seconds: 5 * 3600 + 7 }) : 'done'),
    })
    const startMs = q.clock.now()
    q.send(message('m-1'))
    expect(await q.drain()).toEqual([])
    expect(q.record()).toMatchObject({ status: 'COMPLETED', attempt: 4 })
    expect(q.ran).toHaveLength(4)
    expect(q.clock.now() - startMs).toBe(3 * (5 * 3600 + 7) * 1000)
    expect(await q.outbox()).toHaveLength(3 * 21)
  })

  test('and throws in between spends receives only for what was thrown', async () => {
    const q = suspendingQueue({
      work: async ({ delay, attempt }) => {
        if (attempt % 2 === 0) throw new RetryLater()
        return attempt < 9 ? delay({ seconds: 60 }) : 'done'
      },
    })
    q.send(message('m-1'))
    expect(await q.drain()).toHaveLength(4)
    expect(q.dead).toEqual([])
    expect(q.record()?.status).toBe('COMPLETED')
  })
})

describe('a delay', () => {
  test('is written with its continuation in one transaction, and the message is done', async () => {
    const q = suspendingQueue({ work: ({ delay }) => delay({ seconds: 300 }, 'settlement') })
    expect(await q.deliver(event(message('m-1', { key: 'order-7' })))).toEqual([])
    const [item] = await q.outbox()
    expect(item?.attributes).toMatchObject({ to: { queueUrl: QUEUE_URL }, state: 'pending' })
    expect(q.record()).toMatchObject({
      status: 'WAITING',
      waitingFor: 'settlement',
      resumeAtMs: q.clock.now() + 300_000,
      continuation: { id: item?.attributes.messageId, dueAtMs: q.clock.now() + 300_000 },
    })
    await q.relay()
    const [{ record, visibleAtMs } = { record: undefined, visibleAtMs: 0 }] = q.queue
    expect(visibleAtMs).toBe(q.clock.now() + 300_000)
    expect(record?.body).toBe('{"id":"m-1"}')
    expect(attributesOf(record)).toEqual({
      'Idempotency-Key': 'order-7',
      'Operation-Id': q.record()?.id,
      'Continuation-Id': item?.attributes.messageId,
    })
  })

  test.each([
    ['without redrive', { redrive: undefined }, {}],
    ['without relay', {}, { relay: false }],
  ])('%s and without a reconciler is refused', async (_name, options, core) => {
    const q = suspendingQueue({ work: ({ delay }) => delay({ seconds: 1 }), options: options as object, core })
    expect(await q.deliver(event(message('m-1')))).toEqual(['m-1'])
    expect(String(q.failures[0]?.error)).toMatch(/need somebody to continue/)
    expect(q.record()?.status).toBe('RETRYABLE')
  })

  test('that is far off is left to the reconciler where there is one, and sends no message', async () => {
    const q = suspendingQueue({ work: ({ delay }) => delay({ seconds: 3600 }), core: { reconcilerShards: 1 } })
    expect(await q.deliver(event(message('m-1')))).toEqual([])
    expect(await q.outbox()).toEqual([])
    expect(q.record()).toMatchObject({
      dueAtMs: q.clock.now() + 3_600_000,
      redrive: { target: { queueUrl: QUEUE_URL } },
    })
  })

  test('in the past continues with the next message', async () => {
    const q = suspendingQueue({
      work: ({ delay, attempt }) => (attempt === 1 ? delay({ until: new Date(0) }) : 'done'),
    })
    const startMs = q.clock.now()
    q.send(message('m-1'))
    expect(await q.drain()).toEqual([])
    expect(q.record()?.status).toBe('COMPLETED')
    expect(q.clock.now()).toBe(startMs)
  })

  test('whose transaction is lost fails the message, and its redelivery goes on', async () => {
    const q = suspendingQueue({ work: ({ delay, attempt }) => (attempt === 1 ? delay({ seconds: 60 }) : 'done') })
    q.faults.commit.push(...Array.from({ length: 500 }, () => 'not-applied' as const))
    q.send(message('m-1'))
    expect(await q.receive()).toEqual(['m-1'])
    expect(q.reasons()).toEqual(['not-recorded'])
    expect(q.record()?.status).toBe('IN_PROGRESS')
    q.faults.commit.length = 0
    await q.drain()
    expect(q.dead).toEqual([])
    expect(q.record()?.status).toBe('COMPLETED')
  })
})

describe('a continuation', () => {
  const hourLater = () =>
    suspendingQueue({ work: ({ delay, attempt }) => (attempt === 1 ? delay({ seconds: 3600 }) : 'done') })

  test('that comes early sends itself on once, and is done', async () => {
    const q = hourLater()
    q.send(message('m-1'))
    await q.receive()
    await q.relay()
    const first = q.record()?.continuation
    q.clock.advance(900_000)
    expect(await q.receive()).toEqual([])
    expect(q.record()).toMatchObject({ status: 'WAITING', attempt: 1 })
    expect(q.record()?.continuation?.id).not.toBe(first?.id)
    expect(q.record()?.continuation?.dueAtMs).toBe(q.clock.now() + 900_000)
    expect(await q.outbox()).toHaveLength(2)
  })

  test('of which a second copy comes is done without a second chain', async () => {
    const q = hourLater()
    q.send(message('m-1'))
    await q.receive()
    await q.relay()
    const copy = q.queue[0]?.record
    q.clock.advance(900_000)
    await q.receive()
    if (copy === undefined) throw new Error('No continuation was sent.')
    q.send(copy)
    expect(await q.receive()).toEqual([])
    expect(await q.outbox()).toHaveLength(2)
    q.send(message('m-1'))
    expect(await q.receive()).toEqual([])
    expect(await q.outbox()).toHaveLength(2)
    await q.relay()
    expect(await q.drain()).toEqual([])
    expect(q.record()?.status).toBe('COMPLETED')
    expect(q.ran).toHaveLength(2)
  })

  test('twice in one batch, or beside the message it came from, is looked at itself', async () => {
    const q = hourLater()
    const original = message('m-1')
    q.send(original)
    await q.receive()
    await q.relay()
    const continuation = q.queue.shift()?.record
    if (continuation === undefined) throw new Error('No continuation was sent.')
    q.clock.advance(900_000)
    expect(await q.deliver(event(original, continuation, { ...continuation, messageId: 'copy' }))).toEqual([])
    expect(await q.outbox()).toHaveLength(2)
    await q.relay()
    expect(await q.drain()).toEqual([])
    expect(q.record()?.status).toBe('COMPLETED')
  })

  test.each(['answer lost', 'not applied', 'gone'])(
    'whose next hop meets a store that is %s keeps the chain',
    async (fault) => {
      const q = hourLater()
      q.send(message('m-1'))
      await q.receive()
      await q.relay()
      q.clock.advance(900_000)
      const faults = Array.from({ length: fault === 'gone' ? 50 : 1 }, () =>
        fault === 'answer lost' ? ('answer-lost' as const) : ('not-applied' as const),
      )
      q.faults.commit.push(...faults)
      const failed = await q.receive()
      expect(failed).toHaveLength(fault === 'gone' ? 1 : 0)
      q.faults.commit.length = 0
      await q.relay()
      await q.drain()
      expect(q.dead).toEqual([])
      expect(q.record()?.status).toBe('COMPLETED')
      expect(q.ran).toHaveLength(2)
    },
  )

  test('that is lost keeps other deliveries of its message in the queue', async () => {
    const q = suspendingQueue({
      work: ({ delay, attempt }) => (attempt === 1 ? delay({ seconds: 10 * 3600 }) : 'done'),
    })
    const original = message('m-1')
    await q.deliver(event(original))
    q.clock.advance(900_000 + 3_600_000)
    expect(await q.deliver(event(original))).toEqual([])
    q.clock.advance(1)
    expect(await q.deliver(event(original))).toEqual(['m-1'])
    expect(q.reasons()).toEqual(['waiting'])
    q.clock.advance(10 * 3_600_000)
    expect(await q.deliver(event(original))).toEqual([])
    expect(q.record()?.status).toBe('COMPLETED')
  })

  test('finds its operation whatever the key was made of', async () => {
    const q = suspendingQueue({
      work: ({ delay, attempt }) => (attempt === 1 ? delay({ seconds: 1 }) : 'done'),
      options: { key: ({ messageId }) => ['by-message', messageId], scope: ({ eventSourceARN }) => eventSourceARN },
    })
    q.send(message('m-1'))
    expect(await q.drain()).toEqual([])
    expect(q.memory.records()).toHaveLength(1)
    expect(q.record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
  })

  test('carries the text attributes of its message, and through all hops', async () => {
    const seen: object[] = []
    const names = Array.from('abcdefg')
    const q = suspendingQueue({
      work: ({ delay, attempt }, record) => {
        seen.push(attributesOf(record as unknown as SQSRecord))
        return attempt < 3 ? delay({ seconds: 2000 }) : 'done'
      },
    })
    const own = Object.fromEntries(names.map((name) => [name, text(name)]))
    q.send(message('m-1', { messageAttributes: own }))
    expect(await q.drain()).toEqual([])
    expect(seen).toHaveLength(3)
    for (const attributes of seen)
      expect(attributes).toMatchObject(Object.fromEntries(names.map((name) => [name, name])))
  })

  test('goes back to where the message came from, a dead-letter queue’s consumer included', async () => {
    const q = suspendingQueue({ work: ({ delay, attempt }) => (attempt === 1 ? delay({ seconds: 1 }) : 'done') })
    q.send(message('m-1', { attributes: { DeadLetterQueueSourceArn: QUEUE_ARN }, eventSourceARN: `${QUEUE_ARN}-dead` }))
    expect(await q.drain()).toEqual([])
    expect(q.record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
  })

  test.each<[string, (id: string) => Record<string, string>]>([
    ['of another namespace', (id) => ({ 'Operation-Id': id.replace('payments#', 'refunds#') })],
    ['of a namespace that begins alike', (id) => ({ 'Operation-Id': `payments-2#${id}` })],
    ['without an operation', () => ({})],
  ])('%s is no continuation', async (_name, forged) => {
    const q = suspendingQueue({ work: () => 'done' })
    await q.deliver(event(message('m-1')))
    const id = q.record()?.id ?? ''
    const attributes = { 'Idempotency-Key': 'k', 'Continuation-Id': 'c', ...forged(id) }
    const messageAttributes = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, text(value)]))
    expect(await q.deliver(event(message('m-2', { messageAttributes })))).toEqual([])
    expect(q.memory.records()).toHaveLength(2)
  })

  test('with the request of another operation is a mismatch', async () => {
    const q = suspendingQueue({ work: () => 'done' })
    await q.deliver(event(message('m-1')))
    const attributes = { 'Idempotency-Key': 'm-1', 'Continuation-Id': 'c', 'Operation-Id': q.record()?.id ?? '' }
    const messageAttributes = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, text(value)]))
    expect(await q.deliver(event(message('m-2', { body: { id: 'other' }, messageAttributes })))).toEqual(['m-2'])
    expect(q.reasons()).toEqual(['mismatch'])
  })

  test('does not run without protection when the store is down', async () => {
    const q = suspendingQueue({
      work: ({ delay, attempt }) => (attempt === 1 ? delay({ seconds: 1 }) : 'done'),
      core: { onStoreError: 'open' },
    })
    q.send(message('m-1'))
    await q.receive()
    await q.relay()
    q.clock.advance(1_000)
    q.faults.put.push(...Array.from({ length: 50 }, () => 'not-applied' as const))
    q.faults.get.push(...Array.from({ length: 50 }, () => 'not-applied' as const))
    expect(await q.receive()).toHaveLength(1)
    expect(q.ran).toHaveLength(1)
  })
})

describe('a suspension is refused', () => {
  test.each<[string, SQSRecord, RegExp]>([
    ['on a FIFO queue', message('m-1', { group: 'g' }), /FIFO/],
    [
      'with more attributes than a continuation can carry',
      message('m-1', {
        messageAttributes: Object.fromEntries(Array.from('abcdefgh').map((name) => [name, text(name)])),
      }),
      /8 attributes/,
    ],
    [
      'with an attribute that is no text',
      message('m-1', { messageAttributes: { blob: { binaryValue: 'AA==', dataType: 'Binary' } } }),
      /binary/,
    ],
  ])('%s', async (_name, record, why) => {
    const q = suspendingQueue({ work: ({ delay }) => delay({ seconds: 1 }) })
    expect(await q.deliver(event(record))).toEqual(['m-1'])
    expect(String(q.failures[0]?.error)).toMatch(why)
    expect(await q.outbox()).toEqual([])
  })

  test('on a FIFO queue that only a reconciler continues', async () => {
    const q = suspendingQueue({
      work: ({ wait }) => wait(),
      options: { redrive: undefined } as object,
      core: { reconcilerShards: 1 },
    })
    expect(await q.deliver(event(message('m-1', { group: 'g' })))).toEqual(['m-1'])
    expect(String(q.failures[0]?.error)).toMatch(/FIFO/)
  })

  test('on a FIFO queue not, when it is allowed', async () => {
    const q = suspendingQueue({
      work: ({ delay }) => delay({ seconds: 1 }),
      options: { redrive: { queueUrl: `${QUEUE_URL}.fifo`, allowReorder: true } },
      core: { reconcilerShards: 1 },
    })
    expect(await q.deliver(event(message('m-1', { group: 'g', eventSourceARN: FIFO_ARN })))).toEqual([])
    expect(q.record()?.status).toBe('WAITING')
  })

  test.each([
    ['no URL', { queueUrl: 'payments' }],
    ['an ARN', { queueUrl: QUEUE_ARN }],
    ['an unknown option', { queueUrl: QUEUE_URL, reorder: true }],
    ['no boolean', { queueUrl: QUEUE_URL, allowReorder: 'yes' }],
    ['a text', QUEUE_URL],
  ])('at set-up with %s for redrive', (_name, redrive) => {
    expect(() => suspendingQueue({ work: () => 1, options: { redrive } as object })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})

describe('a wait for a signal', () => {
  test('is continued by a message that the signal sends in its own transaction', async () => {
    const q = suspendingQueue({ work: untilSignalled })
    q.send(message('m-1', { key: 'order-7' }))
    expect(await q.drain()).toEqual([])
    expect(q.record()?.status).toBe('WAITING')
    expect(await q.outbox()).toEqual([])
    const name = { key: 'order-7', scope: QUEUE_ARN }
    expect(await q.idempotency.signal(name, { paid: true })).toBe('delivered')
    expect(q.record()?.continuation?.id).toBe((await q.outbox())[0]?.attributes.messageId)
    await q.relay()
    expect(await q.drain()).toEqual([])
    expect(q.record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
    expect(await q.idempotency.signal(name)).toBe('finished')
  })

  test('that was signalled before it waits goes on at once', async () => {
    const q = suspendingQueue({
      work: async (operation) => {
        const answer = await untilSignalled(operation)
        if (operation.attempt === 1) await q.idempotency.signal({ key: 'order-7', scope: QUEUE_ARN }, 'early')
        return answer
      },
    })
    q.send(message('m-1', { key: 'order-7' }))
    expect(await q.receive()).toEqual([])
    expect(q.record()).toMatchObject({ status: 'WAITING', resumeAtMs: q.clock.now() })
    await q.relay()
    expect(await q.drain()).toEqual([])
    expect(q.record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
  })

  test('is left alone by another delivery of its message, and that is done', async () => {
    const q = suspendingQueue({ work: untilSignalled })
    expect(await q.deliver(event(message('m-1')))).toEqual([])
    expect(await q.deliver(event(message('m-1')))).toEqual([])
    expect(q.ran).toHaveLength(1)
  })

  test('gets a second signal into the same attempt, when it comes before the message', async () => {
    const q = suspendingQueue({ work: untilSignalled })
    q.send(message('m-1', { key: 'order-7' }))
    await q.drain()
    for (const payload of [1, 2]) await q.idempotency.signal({ key: 'order-7', scope: QUEUE_ARN }, payload)
    await q.relay()
    expect(await q.drain()).toEqual([])
    expect(q.record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
    expect(await codeOf(q.idempotency.run({ key: 'x', input: 1 }, () => 1))).toBe('no error')
  })
})

describe('a message too large to be sent again with what its continuation adds', () => {
  test('is not suspended: it would never be continued', async () => {
    const failures: unknown[] = []
    const q = suspendingQueue({
      work: ({ delay }) => {
        try {
          return delay({ seconds: 60 })
        } catch (error) {
          failures.push(error)
          throw error
        }
      },
    })
    q.send(message('m-1', { body: JSON.stringify('x'.repeat(1_048_000)) }))
    await q.drain()
    expect(String(failures[0])).toMatch(/cannot be suspended: its request has 10480\d\d bytes, and what continues it/)
    expect(q.queue).toEqual([])
  })
})

test('an operator who lets a waiting operation run again sends it on its way', async () => {
  const q = suspendingQueue({ work: ({ attempt, wait }) => (attempt === 1 ? wait('approval') : 'done') })
  q.send(message('m-1'))
  expect(await q.drain()).toEqual([])
  expect(q.record()).toMatchObject({ status: 'WAITING' })
  expect(await q.idempotency.settle({ key: 'm-1', scope: QUEUE_ARN }, { rerun: true })).toBe('settled')
  await q.relay()
  expect(await q.drain()).toEqual([])
  expect(q.record()).toMatchObject({ status: 'COMPLETED', attempt: 2 })
})
