import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryStore } from '../../lib/memory/index.ts'
import { createSender, outboxRelay } from '../../lib/outbox/index.ts'
import { invocation } from '../batch/sqs-event.ts'
import { type Item, inserted, itemOf, setUp, streamEvent } from './set-up.ts'

afterEach(() => void vi.restoreAllMocks())

describe('records that are none of the outbox’s', () => {
  test('are passed over: changes, deletions by TTL and by hand, other items, messages that are not pending', async () => {
    const { deliver, sent, events, store } = setUp()
    const item = await itemOf()
    const insert = inserted(item)
    const old = { OldImage: insert.dynamodb?.NewImage }
    const byTtl = { userIdentity: { principalId: 'dynamodb.amazonaws.com', type: 'Service' } }
    const event = streamEvent(
      { ...insert, eventName: 'MODIFY' },
      { ...insert, eventName: 'REMOVE', dynamodb: { ...insert.dynamodb, ...old } },
      { ...insert, eventName: 'REMOVE', dynamodb: { Keys: insert.dynamodb?.Keys, ...old }, ...byTtl } as never,
      inserted({ ...item, sk: 'op' }),
      inserted({ ...item, sk: 'receipt#t1' }),
      inserted({ ...item, attributes: { ...item.attributes, state: 'dispatched' } }),
      inserted({ ...item, attributes: { ...item.attributes, state: 'stuck' } }),
    )

    expect(await deliver(event)).toEqual([])
    expect({ sent: sent(), events, calls: store.calls }).toEqual({ sent: [], events: [], calls: [] })
  })
})

test('an item that is in the event twice is sent once, and reported by its first record', async () => {
  let isDown = true
  const { deliver, sent } = setUp({
    answer: () => (isDown ? { kind: 'failed', error: new Error('down') } : { kind: 'sent' }),
  })
  const item = await itemOf()
  const event = streamEvent(inserted(item, '7'), inserted(item, '8'))
  expect(await deliver(event)).toEqual(['7'])
  isDown = false
  expect(await deliver(event)).toEqual([])
  expect(sent()).toEqual(['payments#1/t1/0', 'payments#1/t1/0'])
})

describe('an event of something else', () => {
  test.each([
    ['nothing', undefined, 'no list of Records'],
    ['an HTTP request', { version: '2.0' }, 'no list of Records'],
    ['no list', { Records: {} }, 'no list of Records'],
    ['a queue', { Records: [{ eventSource: 'aws:sqs', body: '' }] }, '"aws:dynamodb"; got "aws:sqs"'],
  ])('is refused: %s', async (_name, event, message) => {
    await expect(setUp().relay(event as never, invocation())).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      message: expect.stringContaining(message),
    })
  })

  test.each(['KEYS_ONLY', 'OLD_IMAGE'])(
    'is refused: a stream of %s, which leaves out what is to be sent',
    async (view) => {
      const { NewImage: _left, ...dynamodb } = inserted(await itemOf()).dynamodb!
      const record = { ...inserted(await itemOf()), dynamodb: { ...dynamodb, StreamViewType: view } }
      await expect(setUp().relay(streamEvent(record as never), invocation())).rejects.toMatchObject({
        code: 'INVALID_EVENT',
        message: expect.stringContaining(`it is "${view}"`),
      })
    },
  )
})

describe('a record that cannot be read', () => {
  const without = (name: string) => async () => {
    const item = await itemOf()
    return { ...item, attributes: { ...item.attributes, [name]: undefined } }
  }
  const having = (attributes: Record<string, unknown>) => () => itemOf({ attributes })
  const cases: [string, () => Promise<Item>, string][] = [
    ['without an id', without('messageId'), 'InvalidInputError'],
    ['without a target', without('to'), 'InvalidInputError'],
    ['without a body', without('body'), 'InvalidInputError'],
    ['without a position', without('position'), 'InvalidInputError'],
    ['with half a target', having({ to: { eventBusName: 'b', source: 's' } }), 'InvalidInputError'],
    ['with attributes that are no text', having({ attributes: { n: 1 } }), 'InvalidInputError'],
    ['with a time that is no number', having({ notBeforeMs: 'soon' }), 'InvalidInputError'],
    ['with a body of a later version', having({ body: { kind: 'zstd', bytes: 'x' } }), 'InvalidInputError'],
    ['with a body that is no value', having({ body: { kind: 'text', text: '{' } }), 'OutcomeLostError'],
    ['with a body that is no text', having({ body: { kind: 'text', text: '[1]' } }), 'InvalidBody'],
    [
      'with a body whose parts are gone',
      having({ body: { kind: 'parts', partsId: 'p', count: 1, length: 1, sha256: 'x' } }),
      'OutcomeLostError',
    ],
  ]

  test.each(cases)('is stuck, and holds nobody up: one %s', async (_name, make, reason) => {
    const { put, deliver, sent, stateOf, events } = setUp()
    const item = await make()
    const other = await itemOf({ id: 'other' })

    expect(await deliver(await put(item, other))).toEqual([])

    expect(await stateOf(item)).toMatchObject({ state: 'stuck', stuckReason: reason })
    expect(sent()).toEqual(['other/t1/0'])
    expect(events).toMatchObject(
      reason === 'InvalidInputError'
        ? [{ type: 'stuck', reason, to: undefined }, { type: 'dispatched' }]
        : [{ type: 'stuck', reason }, { type: 'dispatched' }],
    )
  })

  test('is stuck too when its state is nothing known, or its image is gone', async () => {
    const { put, deliver, stateOf, types } = setUp()
    const odd = await itemOf({ id: 'odd', attributes: { state: 'paused' } })
    const gone = await itemOf({ id: 'gone' })
    const event = await put(odd, gone)
    delete event.Records[1]!.dynamodb!.NewImage

    expect(await deliver(event)).toEqual([])
    // Whoever wrote `paused` meant something by it: it is reported and left.
    expect(await stateOf(odd)).toMatchObject({ state: 'paused' })
    expect(await stateOf(gone)).toMatchObject({ state: 'stuck' })
    expect(types()).toEqual(['overtaken', 'stuck'])
  })

  test('is passed over when the store refuses to mark it', async () => {
    const { put, deliver, types } = setUp({ faults: { updateBeside: ['refused'] } })
    expect(await deliver(await put(await itemOf({ attributes: { to: 'x' } })))).toEqual([])
    expect(types()).toEqual(['failed'])
  })

  test('comes again when the store does not answer', async () => {
    const { put, deliver } = setUp({ faults: { updateBeside: ['not-applied'] } })
    const event = await put(await itemOf({ attributes: { to: 'x' } }))
    expect(await deliver(event)).toEqual([event.Records[0]!.dynamodb!.SequenceNumber])
  })

  test.each([
    ['nothing', null],
    ['text', 'x'],
    ['one without a change', { eventSource: 'aws:dynamodb', eventName: 'INSERT' }],
    ['one without keys', { eventSource: 'aws:dynamodb', eventName: 'INSERT', dynamodb: {} }],
    [
      'one of another table',
      { eventSource: 'aws:dynamodb', eventName: 'INSERT', dynamodb: { Keys: { id: { S: '1' } } } },
    ],
    ['one with odd keys', { eventSource: 'aws:dynamodb', dynamodb: { Keys: { pk: { N: '1' }, sk: 7 } } }],
  ])('is reported and passed over when not even its key can be read: %s', async (_name, record) => {
    const { deliver, sent, events } = setUp()
    const event = streamEvent(record as never, inserted(await itemOf()))
    expect(await deliver(event)).toEqual([])
    expect(sent()).toHaveLength(1)
    expect(events).toMatchObject([{ type: 'unreadable', error: { code: 'INVALID_EVENT' } }, { type: 'overtaken' }])
  })
})

test('without an observer, what went wrong is written down without any body', async () => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const { put, deliver } = setUp({
    options: { observer: undefined as never },
    answer: () => ({ kind: 'refused', reason: 'QueueDoesNotExist' }),
  })
  await deliver(await put(await itemOf({ text: 'secret' })))
  expect(written.mock.calls).toEqual([
    ['lambda-once: a message of payments#1 is stuck in the outbox (QueueDoesNotExist).'],
  ])
})

describe('wrong options', () => {
  const store = memoryStore()
  test.each([
    [undefined, 'outboxRelay expects an options object; got undefined.'],
    [{}, 'store must be a store such as dynamoStore(…); got undefined.'],
    [{ store: {} }, 'store must be a store such as dynamoStore(…); got an object.'],
    [{ store, sender: {} }, 'sender must be made by createSender(…); got an object.'],
    [{ store, observer: 1 }, 'observer must be a function; got 1.'],
    [{ store, retentionSeconds: 1 }, 'outboxRelay has no option "retentionSeconds".'],
    [{ store, deadlineMarginSeconds: -1 }, 'deadlineMarginSeconds must be a number of seconds, at least 0; got -1.'],
    [
      { store, dispatchedRetentionSeconds: 604_800_000 },
      'dispatchedRetentionSeconds is in seconds and must be at most a year',
    ],
  ])('are refused at once: %j', (options, message) => {
    expect(() => outboxRelay(options as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(message) }),
    )
  })

  test.each([
    [null, 'createSender expects an options object; got null.'],
    [{ sqs: {} }, 'sqs must be a client of @aws-sdk/client-sqs; got an object.'],
    [{ queue: {} }, 'createSender has no option "queue".'],
    [{ concurrency: 0 }, 'concurrency must be a whole number from 1 to 1000; got 0.'],
  ])('of a sender are refused at once: %j', (options, message) => {
    expect(() => createSender(options as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(message) }),
    )
  })
})
