import { describe, expect, test } from 'vitest'
import { IdempotencyTable, OutboxRelay } from '../../infra/constructs/index.ts'
import { dynamoStream, kinesis, sqs } from '../../lib/batch/index.ts'
import { event, message } from '../batch/sqs-event.ts'
import { ENTRY, newStack, only } from '../infra/constructs/set-up.ts'
import { itemOf, setUp as relay } from '../outbox/set-up.ts'
import { kinesisRecord, streamRecord, ttlRemoval } from '../sources/events.ts'
import { consumer } from '../sources/set-up.ts'

describe('Streams and the outbox', () => {
  test('Removals by TTL were taken for what a user had deleted: they are a kind of their own, and can be passed over', async () => {
    const removal = streamRecord('2', { eventName: 'REMOVE', newImage: null })
    const { deliver, bodies } = consumer(dynamoStream())
    await deliver({ Records: [ttlRemoval('1'), removal] })
    expect(bodies.map(({ kind }) => kind)).toEqual(['EXPIRE', 'REMOVE'])
    const skipping = consumer(dynamoStream({ ttlRemovals: 'skip' }))
    expect(await skipping.deliver({ Records: [ttlRemoval('1'), removal] })).toEqual([])
    expect(skipping.bodies.map(({ kind }) => kind)).toEqual(['REMOVE'])
  })

  test('The outbox relay met removals by TTL of its own table: it leaves them alone', async () => {
    const { deliver, sent } = relay()
    expect(
      await deliver({
        Records: [ttlRemoval('1')].map((record) => ({
          ...record,
          dynamodb: { ...record.dynamodb, Keys: { pk: { S: 'a' }, sk: { S: 'outbox#1' } } },
        })),
      }),
    ).toEqual([])
    expect(sent()).toEqual([])
  })

  test('One bad record blocked the shard for days: the relay’s retries are finite, the batch is cut, and what fails is kept', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table', { stream: true })
    new OutboxRelay(stack, 'Relay', { table, entry: ENTRY, acknowledgeNoReconciler: true })
    const { properties } = only(stack, 'AWS::Lambda::EventSourceMapping')
    expect(properties.MaximumRetryAttempts).toBeGreaterThan(0)
    expect(properties.BisectBatchOnFunctionError).toBe(true)
    expect(properties.DestinationConfig.OnFailure.Destination).toBeDefined()
  })

  test('Retries brought records of a stream again: they run once, by their eventID', async () => {
    const { deliver, bodies } = consumer(dynamoStream())
    for (const _ of [1, 2]) expect(await deliver({ Records: [streamRecord('1')] })).toEqual([])
    expect(bodies).toHaveLength(1)
  })

  test('The producer’s library had put several records into one, which was parsed as one that is broken: it is named, and takes no claim', async () => {
    const { deliver, failures, store } = consumer(kinesis())
    const aggregate = new Uint8Array([0xf3, 0x89, 0x9a, 0xc2, 1])
    expect(await deliver({ Records: [kinesisRecord('1', aggregate)] })).toEqual(['1'])
    expect(String(failures[0]?.error)).toContain('Kinesis Producer Library')
    expect(store.records()).toEqual([])
  })

  test('A message was marked as sent before it was, and lost; or after, and sent twice: it is sent first, and its second copy recognised', async () => {
    const { put, deliver, calls, stateOf } = relay({ faults: { updateBeside: ['refused'] } })
    const item = await itemOf()
    const inserted = await put(item)
    await deliver(inserted)
    expect(await stateOf(item)).toMatchObject({ state: 'pending' })
    await deliver(inserted)
    expect(await stateOf(item)).toMatchObject({ state: 'dispatched' })
    const [first, second] = calls.flat()
    expect(second?.messageId).toBe(first?.messageId)

    const { deliver: consume, bodies } = consumer(sqs())
    for (const id of ['m1', 'm2'])
      await consume(event(message(id, { body: { id: 'x' }, key: String(first?.messageId) })))
    expect(bodies).toHaveLength(1)
  })
})
