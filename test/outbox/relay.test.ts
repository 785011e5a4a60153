import { describe, expect, test } from 'vitest'
import { StoreError } from '../../lib/index.ts'
import type { SendResult } from '../../lib/outbox/index.ts'
import { encodeValue } from '../../lib/outcome/codec.ts'
import { invocation } from '../batch/sqs-event.ts'
import { FIFO_QUEUE, itemOf, QUEUE, setUp, streamEvent } from './set-up.ts'

const FAILED: SendResult = { kind: 'failed', error: new Error('down') }
const REFUSED: SendResult = { kind: 'refused', reason: 'QueueDoesNotExist' }

describe('a new message', () => {
  test('is sent with its ids, and its item says so, leaves the index and will expire', async () => {
    const { put, deliver, calls, stateOf, clock } = setUp()
    const item = await itemOf({ text: '{"orderId":1}', attributes: { attributes: { tenant: 'a' } } })

    expect(await deliver(await put(item))).toEqual([])

    expect(calls).toEqual([
      [
        {
          messageId: 'payments#1/t1/0',
          operationId: 'payments#1',
          to: QUEUE,
          text: '{"orderId":1}',
          attributes: { tenant: 'a' },
        },
      ],
    ])
    const { dueShard: _shard, dueAtMs: _due, ...kept } = item.attributes
    expect(await stateOf(item)).toEqual({
      ...kept,
      state: 'dispatched',
      dispatchedAtMs: clock.now(),
      expiresAt: clock.now() / 1000 + 604_800,
    })
  })

  test('is kept as long as asked once it is sent', async () => {
    const { put, deliver, stateOf, clock } = setUp({ options: { dispatchedRetentionSeconds: 60 } })
    const item = await itemOf()
    await deliver(await put(item))
    expect(await stateOf(item)).toMatchObject({ expiresAt: clock.now() / 1000 + 60 })
  })

  test('brings its group and the time it is held back until', async () => {
    const { put, deliver, calls } = setUp()
    await deliver(await put(await itemOf({ attributes: { to: FIFO_QUEUE, groupId: 'g', notBeforeMs: 5 } })))
    expect(calls.flat()).toMatchObject([{ to: FIFO_QUEUE, groupId: 'g', notBeforeMs: 5 }])
  })

  test('is sent whole when its body is compressed, or lies in parts', async () => {
    const { memory, put, deliver, calls } = setUp()
    const text = JSON.stringify(Array.from({ length: 500 }, (_, index) => index))
    const encoded = await encodeValue(text)
    if (encoded.kind !== 'brotli') throw new Error('not compressed')
    const { createHash } = await import('node:crypto')
    const sha256 = createHash('sha256').update(encoded.bytes).digest('base64url')
    await memory.putParts({ partsId: 'p1', parts: [encoded.bytes], expiresAt: undefined })
    const body = { kind: 'parts', partsId: 'p1', count: 1, length: encoded.bytes.length, sha256 } as const

    const event = await put(await itemOf({ body: encoded }), await itemOf({ position: 1, body }))
    expect(await deliver(event)).toEqual([])

    expect(calls.flat().map((message) => message.text)).toEqual([text, text])
  })
})

describe('a crash between sending and marking', () => {
  for (const fault of ['not-applied', 'answer-lost'] as const) {
    test(`sends it again with the same id (the mark was ${fault})`, async () => {
      const { put, deliver, sent, stateOf, types } = setUp({ faults: { updateBeside: [fault] } })
      const item = await itemOf()
      const event = await put(item)

      expect(await deliver(event)).toEqual([event.Records[0]!.dynamodb!.SequenceNumber])
      expect(await deliver(event)).toEqual([])

      expect(sent()).toEqual(['payments#1/t1/0', 'payments#1/t1/0'])
      expect(await stateOf(item)).toMatchObject({ state: 'dispatched' })
      expect(types()).toEqual(['failed', fault === 'not-applied' ? 'dispatched' : 'overtaken'])
    })
  }

  test('changes nothing of an item that a reconciler has marked meanwhile', async () => {
    const { put, deliver, stateOf, types, memory } = setUp()
    const item = await itemOf()
    const event = await put(item)
    const dispatched = { state: 'dispatched', dispatchedAtMs: 1, expiresAt: 2 }
    await memory.updateBeside(item.id, item.sk, dispatched, { attribute: 'state', value: 'pending' })

    expect(await deliver(event)).toEqual([])
    expect(await stateOf(item)).toMatchObject(dispatched)
    expect(types()).toEqual(['overtaken'])
  })
})

describe('a message that its target refuses', () => {
  test('is stuck, with the reason, in the index again in an hour and never expiring, and holds nobody up', async () => {
    const { put, deliver, sent, stateOf, types, clock } = setUp({
      answer: ({ operationId }) => (operationId === 'bad' ? REFUSED : { kind: 'sent' }),
    })
    const bad = await itemOf({ id: 'bad' })
    const next = await itemOf({ id: 'bad', position: 1 })
    const other = await itemOf({ id: 'good' })

    expect(await deliver(await put(bad, next, other))).toEqual([])

    expect(await stateOf(bad)).toEqual({
      ...bad.attributes,
      dueAtMs: clock.now() + 3_600_000,
      state: 'stuck',
      stuckAtMs: clock.now(),
      stuckReason: 'QueueDoesNotExist',
    })
    expect(sent()).toEqual(['bad/t1/0', 'good/t1/0', 'bad/t1/1'])
    expect(types()).toEqual(['stuck', 'dispatched', 'stuck'])
  })

  test('comes again when it cannot be marked', async () => {
    const { put, deliver } = setUp({ answer: () => REFUSED, faults: { updateBeside: ['not-applied'] } })
    const event = await put(await itemOf())
    expect(await deliver(event)).toEqual([event.Records[0]!.dynamodb!.SequenceNumber])
    expect(await deliver(event)).toEqual([])
  })
})

describe('a message that cannot be sent now', () => {
  test('is reported, and what comes before it in the event is still sent', async () => {
    const { put, deliver, sent, stateOf } = setUp({
      answer: ({ operationId }) => (operationId === 'b' ? FAILED : { kind: 'sent' }),
    })
    const items = [
      await itemOf({ id: 'a' }),
      await itemOf({ id: 'a', token: 't2' }),
      await itemOf({ id: 'b' }),
      await itemOf({ id: 'a', token: 't3' }),
      await itemOf({ id: 'b', token: 't2' }),
    ]
    const event = await put(...items)

    expect(await deliver(event)).toEqual([event.Records[2]!.dynamodb!.SequenceNumber])

    // Lambda brings again everything from the third record on, so the fourth would only be sent twice.
    expect(sent()).toEqual(['a/t1/0', 'b/t1/0', 'a/t2/0'])
    const states = await Promise.all(items.map(stateOf))
    expect(states.map((found) => found?.state)).toEqual(['dispatched', 'dispatched', 'pending', 'pending', 'pending'])
  })

  test('lets no later message of its operation overtake it, whatever the order of the event', async () => {
    const { put, deliver, sent } = setUp({
      answer: ({ messageId }) => (messageId === 'a/t1/0' ? FAILED : { kind: 'sent' }),
    })
    const event = await put(await itemOf({ id: 'a', position: 1 }), await itemOf({ id: 'a', position: 0 }))

    expect(await deliver(event)).toEqual([event.Records[0]!.dynamodb!.SequenceNumber])
    expect(sent()).toEqual(['a/t1/0'])
  })

  test('is found out by a hundred messages at most, however large the batch', async () => {
    const { put, deliver, calls } = setUp({ answer: () => FAILED })
    const items = await Promise.all(Array.from({ length: 250 }, (_, index) => itemOf({ id: `o${index}` })))
    const event = await put(...items)
    expect(await deliver(event)).toEqual([event.Records[0]!.dynamodb!.SequenceNumber])
    expect(calls.map((call) => call.length)).toEqual([100])
  })

  test('fails the batch as a whole when it has no sequence number', async () => {
    const { put, relay } = setUp({ answer: () => FAILED })
    const event = await put(await itemOf())
    delete event.Records[0]!.dynamodb!.SequenceNumber
    await expect(relay(event, invocation())).rejects.toMatchObject({ code: 'INVALID_EVENT' })
  })

  test('comes again when the store does not answer for its body', async () => {
    const { put, deliver, sent } = setUp({ faults: { getParts: ['not-applied'] } })
    const body = { kind: 'parts', partsId: 'p', count: 1, length: 1, sha256: 'x' } as const
    const event = await put(await itemOf({ body }))
    expect(await deliver(event)).toEqual([event.Records[0]!.dynamodb!.SequenceNumber])
    expect(sent()).toEqual([])
  })
})

describe('the order of one operation', () => {
  test('is that of its commits, and within a commit that of its list', async () => {
    const { put, deliver, sent } = setUp()
    const event = await put(
      await itemOf({ id: 'a', token: 'zz', position: 2 }),
      await itemOf({ id: 'b', position: 0 }),
      await itemOf({ id: 'a', token: 'zz', position: 0 }),
      await itemOf({ id: 'a', token: 'aa', position: 0 }),
      await itemOf({ id: 'a', token: 'zz', position: 10 }),
      await itemOf({ id: 'a', token: 'zz', position: 1 }),
    )
    await deliver(event)
    expect(sent().filter((id) => id.startsWith('a'))).toEqual(['a/zz/0', 'a/zz/1', 'a/zz/2', 'a/zz/10', 'a/aa/0'])
  })

  test('does not keep others waiting: the next messages of all operations go together', async () => {
    const { put, deliver, calls } = setUp()
    const event = await put(
      await itemOf({ id: 'a' }),
      await itemOf({ id: 'a', position: 1 }),
      await itemOf({ id: 'b' }),
    )
    await deliver(event)
    expect(calls.map((call) => call.map(({ messageId }) => messageId))).toEqual([['a/t1/0', 'b/t1/0'], ['a/t1/1']])
  })
})

describe('the end of the invocation', () => {
  test('starts nothing more, and reports it', async () => {
    let leftMs = 10_000
    const { put, deliver, sent, types } = setUp({
      answer: () => {
        leftMs = 1_900
        return { kind: 'sent' }
      },
    })
    const event = await put(
      await itemOf({ id: 'a' }),
      await itemOf({ id: 'b' }),
      await itemOf({ id: 'a', position: 1 }),
    )

    const failed = await deliver(
      event,
      invocation(() => leftMs),
    )

    expect(failed).toEqual([event.Records[2]!.dynamodb!.SequenceNumber])
    expect(sent()).toEqual(['a/t1/0', 'b/t1/0'])
    expect(types()).toEqual(['dispatched', 'dispatched', 'not-started'])
  })

  test('gives up what is still on its way, and the next delivery sends it', async () => {
    let isHanging = true
    const { put, deliver, clock, stateOf } = setUp({
      options: {
        deadlineMarginSeconds: 3,
        sender: {
          async send(messages, signal) {
            if (!isHanging) return messages.map(() => ({ kind: 'sent' }))
            clock.advance(8_499)
            await Promise.resolve()
            expect(signal?.aborted).toBe(false)
            clock.advance(1)
            await new Promise((resolve) => signal?.addEventListener('abort', resolve))
            return messages.map(() => ({ kind: 'failed', error: signal?.reason }))
          },
        },
      },
    })
    const item = await itemOf()
    const event = await put(item)
    const tenSeconds = invocation(() => 10_000)

    expect(await deliver(event, tenSeconds)).toEqual([event.Records[0]!.dynamodb!.SequenceNumber])
    isHanging = false
    expect(await deliver(event, tenSeconds)).toEqual([])
    expect(await stateOf(item)).toMatchObject({ state: 'dispatched' })
  })

  test('is not known on every host', async () => {
    const { put, relay, sent } = setUp()
    await relay(await put(await itemOf()), undefined as never)
    expect(sent()).toHaveLength(1)
  })
})

describe('what is said to the observer', () => {
  test('names operation, item, message and target, and never a body', async () => {
    const { put, deliver, events, clock } = setUp()
    await deliver(await put(await itemOf({ text: 'secret' })))
    expect(events).toEqual([
      {
        type: 'dispatched',
        atMs: clock.now(),
        operationId: 'payments#1',
        sk: 'outbox#t1#000',
        messageId: 'payments#1/t1/0',
        to: QUEUE,
      },
    ])
  })

  test('changes nothing when the observer throws or rejects', async () => {
    for (const observer of [
      () => {
        throw new Error('mine')
      },
      () => Promise.reject(new Error('mine')),
    ]) {
      const { put, deliver, stateOf } = setUp({ options: { observer } })
      const item = await itemOf()
      expect(await deliver(await put(item))).toEqual([])
      expect(await stateOf(item)).toMatchObject({ state: 'dispatched' })
    }
  })
})

test('a store that refuses the mark for good is reported: an operator has to put it right', async () => {
  const { put, deliver, events } = setUp({ faults: { updateBeside: ['refused'] } })
  const event = await put(await itemOf())
  expect(await deliver(event)).toEqual([event.Records[0]!.dynamodb!.SequenceNumber])
  expect(events).toMatchObject([{ type: 'failed', error: expect.any(StoreError) }])
})

test('an event without records is done', async () => {
  expect(await setUp().deliver(streamEvent())).toEqual([])
})
