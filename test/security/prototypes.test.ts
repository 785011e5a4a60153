import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { batchHandler, dynamoStream, kafka, kinesis } from '../../lib/batch/index.ts'
import { eventHandler, sns } from '../../lib/event/index.ts'
import { idempotent } from '../../lib/http/index.ts'
import { createIdempotency } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { lambdaContext, sqsEvent } from '../../lib/testing/index.ts'
import { SOURCES } from '../http/events.ts'
import { kafkaEvent, kinesisEvent, kinesisRecord, notification, snsEvent, streamRecord } from '../sources/events.ts'

const POISON = { polluted: true, get: () => 1, statusCode: 200, kind: 'done', status: 'COMPLETED' }
/** Names by which an object reaches what all objects share. */
const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'constructor.prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
]

/** As JSON makes it: with a property of its own under each of these names. */
const poisonous = (name: string): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify({ id: 'order-1', deep: { list: [{}] } })
      .replace(/\{/g, `{${JSON.stringify(name)}:${JSON.stringify(POISON)},`)
      .replace(/,\}/g, '}'),
  )

const before = () => [
  Object.getOwnPropertyNames(Object.prototype).sort(),
  Object.getOwnPropertyNames(Array.prototype).sort(),
  Object.getOwnPropertyNames(Function.prototype).sort(),
]
const CLEAN = before()

afterEach(() => {
  expect(before()).toEqual(CLEAN)
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
})

/** Puts such a property into every object of an event. */
function poisoned<E>(event: E, name: string): E {
  if (Array.isArray(event)) return event.map((item) => poisoned(item, name)) as E
  if (typeof event !== 'object' || event === null) return event
  const copy = Object.fromEntries(Object.entries(event).map(([key, value]) => [key, poisoned(value, name)]))
  return Object.defineProperty(copy, name, { value: POISON, enumerable: true, configurable: true, writable: true }) as E
}

const setUp = () => createIdempotency({ store: memoryStore(), namespace: 'n' })
const quiet = async (run: () => unknown) => {
  try {
    return await run()
  } catch {
    return undefined
  }
}

describe.each(NAMES)('a property %s', (name) => {
  const body = JSON.stringify(poisonous(name))

  test.each(Object.entries(SOURCES))('in any object of a request of %s', async (_source, make) => {
    const handler = idempotent({ idempotency: setUp(), scope: () => 'all' }, () => ({ statusCode: 201, body }))
    for (let delivery = 0; delivery < 2; delivery++) {
      await quiet(() => handler(poisoned(make({ body }), name) as never, lambdaContext()))
      expect(await handler(make({ body, key: 'another' }) as never, lambdaContext())).toMatchObject({ statusCode: 201 })
    }
  })

  test('in any object of a batch', async () => {
    const options = {
      idempotency: setUp(),
      key: ({ body }: { body: { id: string } }) => body.id,
      onFailure: () => undefined,
    }
    const sqs = batchHandler<{ id: string }>(options, ({ body }) => body)
    const message = { body, attributes: { [name]: 'x' }, messageId: name }
    for (const event of [sqsEvent(message), poisoned(sqsEvent(message), name)])
      await quiet(() => sqs(event, lambdaContext()))
    const handle = () => undefined
    const { idempotency } = options
    const fromKinesis = batchHandler({ idempotency, source: kinesis(), onFailure: handle }, handle)
    await quiet(() => fromKinesis(poisoned(kinesisEvent(kinesisRecord('1', body)), name), lambdaContext()))
    const table = batchHandler({ idempotency, source: dynamoStream(), onFailure: handle }, handle)
    await quiet(() =>
      table(poisoned({ Records: [streamRecord('1', { newImage: { [name]: { S: 'x' } } })] }, name), lambdaContext()),
    )
    const fromKafka = batchHandler({ idempotency, source: kafka(), onFailure: handle }, handle)
    await quiet(() => fromKafka(poisoned(kafkaEvent({ [`${name}-0`]: [poisonous(name)] }), name), lambdaContext()))
  })

  test('in a single event', async () => {
    const handler = eventHandler({ idempotency: setUp(), source: sns() }, () => poisonous(name))
    await quiet(() => handler(poisoned(snsEvent(notification(poisonous(name))), name) as never, lambdaContext()))
  })

  test('in what is fingerprinted, and as the name of a step, a scope, a key or a note', async () => {
    const { run, acquire, receipts, signal } = setUp()
    const asked = { key: name, scope: [name], input: poisonous(name), metadata: { note: name } }
    const first = await quiet(() => run(asked, async ({ step }) => step(name, () => name)))
    if (first !== undefined) expect(await run(asked, () => 'another')).toMatchObject({ value: name, replayed: true })
    await quiet(() => signal({ key: name, scope: name }, poisonous(name), { id: name }))
    await quiet(() => acquire(name, { ttlSeconds: 10, metadata: { [name]: name } }))
    expect(await receipts({ key: `${name}, never used` })).toEqual([])
  })
})

test('any names at all, in any place of a body, are a repetition of themselves and of nothing else', async () => {
  const key = fc.oneof(fc.constantFrom(...NAMES), fc.string())
  await fc.assert(
    fc.asyncProperty(fc.dictionary(key, fc.jsonValue()), fc.dictionary(key, fc.jsonValue()), async (one, other) => {
      const handler = idempotent({ idempotency: setUp(), scope: () => 'all' }, () => ({ statusCode: 201 }))
      const ask = (body: object) =>
        handler(SOURCES['HTTP API']({ body: JSON.stringify(body) }) as never, lambdaContext()) as Promise<{
          statusCode: number
        }>
      expect((await ask(one)).statusCode).toBe(201)
      const isSame = JSON.stringify(canonical(one)) === JSON.stringify(canonical(other))
      expect((await ask(other)).statusCode).toBe(isSame ? 201 : 422)
    }),
    { numRuns: 200 },
  )
})

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => ['member', name, canonical(inner)])
}
