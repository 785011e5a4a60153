import type { SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { createIdempotency, isLambdaOnceError, type OperationEvent } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { gate, identifiers, setUp } from './set-up.ts'
import { event, invocation, message, redelivered } from './sqs-event.ts'

describe('an event that is none of a queue', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'Records'],
    ['without Records', {}],
    ['with null Records', { Records: null }],
    ['with an object of Records', { Records: {} }],
    ['with a record that is none', { Records: [message('1'), null] }],
    ['of Kinesis', { Records: [{ ...message('1'), eventSource: 'aws:kinesis' }] }],
    ['of SNS', { Records: [{ EventSource: 'aws:sns', Sns: {} }] }],
    ['that names no queue', { Records: [{ ...message('1'), eventSourceARN: undefined }] }],
    ['whose body somebody has parsed', { Records: [{ ...message('1'), body: { id: '1' } }] }],
  ])('is refused before anything starts: %s', async (_name, given) => {
    const { handler, ran } = setUp()
    await expect(handler(given as SQSEvent, invocation())).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    expect(ran).toEqual([])
  })

  test('but an empty one has no failures', async () => {
    expect(await setUp().handler({ Records: [] }, invocation())).toEqual({ batchItemFailures: [] })
  })

  test('but one without attributes is read', async () => {
    const { attributes: _, messageAttributes: __, ...bare } = message('1')
    const { deliver, ran } = setUp()
    expect(await deliver({ Records: [bare, { ...message('2'), messageAttributes: null }] } as never)).toEqual([])
    expect(ran).toEqual(['1', '2'])
  })
})

describe('a record without messageId', () => {
  test.each([undefined, null, '', 7])('fails the invocation, once the others have run: %s', async (messageId) => {
    const { deliver, ran, statuses } = setUp({
      work: (id) => {
        if (id === '3') throw new Error('boom')
      },
    })
    const batch = event(message('1'), { ...message('2'), messageId } as never, message('3'), message('4'))
    await expect(deliver(batch)).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      message: expect.stringContaining('Records[1]'),
    })
    expect(ran).toEqual(['1', '3', '4'])
    expect(statuses()).toEqual(['COMPLETED', 'RETRYABLE', 'COMPLETED'])
  })
})

describe('failures', () => {
  test('come in the order of the event, whatever ends first', async () => {
    const { deliver } = setUp({
      work: async (id) => {
        for (let turn = Number(id); turn < 30; turn += 5) await undefined
        throw new Error('boom')
      },
    })
    const ids = ['1', '2', '10', '20', '3']
    expect(await deliver(event(...ids.map((id) => message(id))))).toEqual(ids)
  })

  test('that are all there are make an answer, not an error', async () => {
    const { handler } = setUp({ work: () => Promise.reject(new Error('boom')) })
    expect(await handler(event(message('1'), message('2')), invocation())).toEqual({
      batchItemFailures: [{ itemIdentifier: '1' }, { itemIdentifier: '2' }],
    })
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('a bug')
      },
    ],
    ['rejects with later', () => Promise.reject(new Error('a bug'))],
  ])('are seen by onFailure, and what it %s is dropped and reported', async (_name, onFailure) => {
    const { deliver, events } = setUp({ options: { onFailure }, work: () => Promise.reject(new Error('boom')) })
    expect(await deliver(event(message('1')))).toEqual(['1'])
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'hook-failed', hook: 'onFailure', error: new Error('a bug') }),
    )
  })

  test('are waited for when onFailure is async: nothing of it goes on in the next invocation', async () => {
    const told = gate()
    const { handler } = setUp({ options: { onFailure: () => told.opened }, work: () => Promise.reject('boom') })
    let answered = false
    const answer = handler(event(message('1')), invocation()).finally(() => {
      answered = true
    })
    await new Promise(setImmediate)
    expect(answered).toBe(false)
    told.open()
    expect(await answer).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] })
  })

  describe('without onFailure', () => {
    afterEach(() => {
      vi.restoreAllMocks()
    })

    test('are written with console.error when there is an error, without the body', async () => {
      const written = vi.spyOn(console, 'error').mockImplementation(() => undefined)
      const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })
      const boom = new Error('boom')
      const handler = batchHandler({ idempotency }, () => Promise.reject(boom))
      await handler(event(message('1'), message('2', { body: 'secret {' })), invocation())
      expect(written).toHaveBeenCalledTimes(2)
      expect(written).toHaveBeenCalledWith(expect.any(String), boom)
      expect(written.mock.calls.flat().map(String).join()).not.toContain('secret')
    })
  })
})

describe('a poisoned message', () => {
  const Order = v.object({ id: v.string(), amount: v.number() })
  const good = message('good', { body: { id: 'good', amount: 1 } })
  const poisoned = [
    message('broken', { body: '{secret' }),
    message('empty', { body: '' }),
    { ...message('none'), body: null } as never,
    message('null', { body: 'null' }),
    message('invalid', { body: { id: 'invalid', amount: 'secret' } }),
  ]

  function consumer(options: { poison?: 'fail' | 'ack' }) {
    const store = memoryStore()
    const events: OperationEvent[] = []
    const failures: unknown[] = []
    const idempotency = createIdempotency({ store, namespace: 'payments', observer: (seen) => events.push(seen) })
    const handler = batchHandler(
      {
        idempotency,
        schema: Order,
        key: ({ body }) => body.id,
        onFailure: ({ error }) => failures.push(error),
        ...options,
      },
      ({ body }) => body.amount,
    )
    const deliver = async (batch: SQSEvent) => identifiers(await handler(batch, invocation()))
    return { store, events, failures, deliver }
  }

  test('is failed, without a claim; its neighbours are done', async () => {
    const { deliver, store } = consumer({})
    expect(await deliver(event(...poisoned, good))).toEqual(['broken', 'empty', 'none', 'null', 'invalid'])
    expect(store.records()).toHaveLength(1)
  })

  test('is deleted where the options say so', async () => {
    const { deliver, store, events } = consumer({ poison: 'ack' })
    expect(await deliver(event(...poisoned, good))).toEqual([])
    expect(store.records()).toHaveLength(1)
    expect(events.filter((seen) => seen.type === 'rejected' && seen.why === 'poison')).toHaveLength(5)
  })

  test('is reported under an id that its redelivery has, too, and without its contents', async () => {
    const { deliver, events, failures } = consumer({})
    await deliver(event(...poisoned))
    await deliver(redelivered(event(...poisoned)))
    expect(new Set(events.map(({ operationId }) => operationId)).size).toBe(5)
    expect(JSON.stringify([events, failures.map(String)])).not.toContain('secret')
    expect(failures.map(String)).toContainEqual(expect.stringContaining('$.amount'))
  })

  test.each<'fail' | 'ack'>(['fail', 'ack'])(
    'is none when the schema itself breaks: failed with poison: %s',
    async (poison) => {
      const broken = {
        '~standard': {
          version: 1 as const,
          vendor: 'test',
          validate: async (): Promise<never> => {
            throw new Error('a look-up timed out')
          },
        },
      }
      const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })
      const handler = batchHandler({ idempotency, schema: broken, poison, onFailure: () => undefined }, () => 1)
      expect(identifiers(await handler(event(good), invocation()))).toEqual(['good'])
    },
  )

  test('is one whose parser throws; a parser gets the text and the record', async () => {
    const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })
    const seen: unknown[] = []
    const handler = batchHandler(
      {
        idempotency,
        onFailure: () => undefined,
        parse: (text, { messageId }) => {
          if (messageId === '2') throw new Error('no')
          return text.toUpperCase()
        },
      },
      ({ body, rawBody }) => seen.push([body, rawBody]),
    )
    const batch = event(message('1', { body: 'plain text' }), message('2', { body: 'plain text' }))
    expect(identifiers(await handler(batch, invocation()))).toEqual(['2'])
    expect(seen).toEqual([['PLAIN TEXT', 'plain text']])
  })
})

describe('the key', () => {
  test('is the message attribute, whatever its case, before the messageId', async () => {
    const keys: string[] = []
    const { deliver } = setUp({ work: (_, { key }) => keys.push(key) })
    await deliver(
      event(
        message('1', { key: 'k-1' }),
        message('2', { messageAttributes: { 'idempotency-key': { stringValue: 'k-2', dataType: 'String' } } }),
        message('3', { messageAttributes: { other: { stringValue: 'k-3', dataType: 'String' } } }),
      ),
    )
    expect(keys).toEqual(['k-1', 'k-2', '3'])
  })

  test.each<[string, object]>([
    ['is blank', { 'Idempotency-Key': { stringValue: ' ', dataType: 'String' } }],
    ['is binary', { 'Idempotency-Key': { binaryValue: 'aGk=', dataType: 'Binary' } }],
    ['is null', { 'Idempotency-Key': null }],
    ['is too long', { 'Idempotency-Key': { stringValue: 'k'.repeat(256), dataType: 'String' } }],
    [
      'comes twice and differs',
      {
        'Idempotency-Key': { stringValue: 'a', dataType: 'String' },
        'idempotency-key': { stringValue: 'b', dataType: 'String' },
      },
    ],
  ])('attribute that %s fails the record, without a claim, with poison: ack too', async (_name, messageAttributes) => {
    const { deliver, memory, reasons, ran } = setUp({ options: { poison: 'ack' } })
    expect(await deliver(event(message('1', { messageAttributes } as never), message('2')))).toEqual(['1'])
    expect({ ran, reasons: reasons(), records: memory.records().length }).toEqual({
      ran: ['2'],
      reasons: ['key'],
      records: 1,
    })
  })

  test.each<[string, () => never | undefined | null | string | string[]]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['blank', () => '  '],
    ['an empty list', () => []],
    [
      'thrown for',
      () => {
        throw new TypeError('no such field')
      },
    ],
  ])('that is %s fails the record: no two of them share one', async (_name, key) => {
    const { deliver, ran, memory, events } = setUp({
      options: { key: (record) => (record.body.id === '3' ? '3' : key()) },
    })
    expect(await deliver(event(message('1'), message('2'), message('3')))).toEqual(['1', '2'])
    expect(ran).toEqual(['3'])
    expect(memory.records()).toHaveLength(1)
    expect(events.filter((seen) => seen.type === 'rejected' && seen.why === 'key')).toHaveLength(2)
  })

  test.each([
    ['alone', (requestId: string) => requestId],
    ['as a part', (requestId: string) => ['order', requestId]],
    ['inside a longer text', (requestId: string) => `order:${requestId}`],
  ])('must not be the invocation’s request id, %s', async (_name, key) => {
    const { deliver, ran, memory } = setUp({ options: { key: (_, { awsRequestId }) => key(awsRequestId) } })
    await expect(deliver(event(message('1')))).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('awsRequestId'),
    })
    expect({ ran, records: memory.records() }).toEqual({ ran: [], records: [] })
  })

  test('does not hold what differs between two deliveries', async () => {
    const { deliver, memory } = setUp()
    const batch = event(message('1'), message('A1', { group: 'A' }))
    await deliver(batch)
    await deliver(redelivered(batch))
    expect(memory.records()).toHaveLength(2)
  })

  test('is computed before the handler can change the record', async () => {
    const { deliver, ran } = setUp({
      options: { key: ({ body }) => body.id },
      work: (_, __, record) => {
        Object.assign(record.body, { id: 'changed' })
        Object.assign(record, { messageId: 'changed' })
        throw new Error('boom')
      },
    })
    expect(await deliver(event(message('1')))).toEqual(['1'])
    expect(ran).toEqual(['1'])
  })
})

describe('an option that is async by mistake fails the batch before anything is claimed:', () => {
  const later = (text: string) => (() => Promise.resolve(text)) as never
  const fails = (() => Promise.reject(new Error('No such tenant.'))) as never

  test.each<[string, Parameters<typeof setUp>[0]]>([
    ['key', { options: { key: later('order-1') } }],
    ['key', { options: { key: fails } }],
    ['key', { options: { key: (() => ['order', Promise.reject(new Error('No such tenant.'))]) as never } }],
    ['scope', { options: { scope: later('tenant-1') } }],
    ['scope', { options: { scope: fails } }],
    ['scope', { options: { scope: (() => ['tenant', Promise.resolve('1')]) as never } }],
    ['fingerprint', { options: { fingerprint: later('body') } }],
    ['fingerprint', { options: { fingerprint: fails } }],
    ['parse', { options: { parse: later('body') } }],
    ['parse', { options: { parse: fails, poison: 'ack' } }],
  ])('%s', async (name, given) => {
    const { deliver, ran, memory } = setUp(given)
    await expect(deliver(event(message('1'), message('2')))).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(`${name} must be known at once; got a promise`),
    })
    expect({ ran, records: memory.records() }).toEqual({ ran: [], records: [] })
  })
})

describe('the scope', () => {
  const elsewhere = { eventSourceARN: 'arn:aws:sqs:eu-central-1:111122223333:refunds' }

  test('is the queue: the same key in another queue is another operation', async () => {
    const { deliver, ran } = setUp()
    await deliver(event(message('1', { key: 'k' })))
    await deliver(event(message('1', { key: 'k', ...elsewhere })))
    expect(ran).toEqual(['1', '1'])
  })

  test.each([
    ['a text', 'orders'],
    ['a list', ['eu', 'orders']],
    ['a function', () => 'orders'],
  ])('may be %s that several queues share', async (_name, scope) => {
    const { deliver, ran } = setUp({ options: { scope } })
    await deliver(event(message('1', { key: 'k' })))
    await deliver(event(message('1', { key: 'k', ...elsewhere })))
    expect(ran).toEqual(['1'])
  })

  test('must not be made of the invocation’s request id', async () => {
    const { deliver, memory } = setUp({ options: { scope: (_, { awsRequestId }) => ['orders', awsRequestId] } })
    await expect(deliver(event(message('1')))).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/^scope .* awsRequestId/),
    })
    expect(memory.records()).toEqual([])
  })

  test.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['a number', 7],
  ])('that a function gives as %s fails that record alone', async (_name, given) => {
    const { deliver, reasons } = setUp({
      options: { scope: ({ body }) => (body.id === '1' ? (given as never) : 'orders') },
    })
    expect(await deliver(event(message('1'), message('2')))).toEqual(['1'])
    expect(reasons()).toEqual(['scope'])
  })
})

test('a fingerprint that cannot be made fails that record alone', async () => {
  const { deliver, failures } = setUp({
    options: { fingerprint: ({ body }) => (body.id === '1' ? Symbol('no') : body) },
  })
  expect(await deliver(event(message('1'), message('2')))).toEqual(['1'])
  expect(failures.map(({ why }) => why)).toEqual(['fingerprint'])
  expect(isLambdaOnceError(failures[0]?.error, 'INVALID_INPUT')).toBe(true)
})
