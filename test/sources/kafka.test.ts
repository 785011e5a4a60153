import { describe, expect, test } from 'vitest'
import { kafka } from '../../lib/batch/index.ts'
import { kafkaEvent } from './events.ts'
import { consumer } from './set-up.ts'

describe('records of Kafka', () => {
  test('are decoded and parsed, that of a tombstone is null', async () => {
    const { deliver, bodies } = consumer(kafka())
    expect(await deliver(kafkaEvent({ 'orders-0': [{ id: 'ä' }, null] }))).toEqual([])
    expect(bodies).toEqual([{ id: 'ä' }, null])
  })

  test('run once per place in the topic, and another place is another record', async () => {
    const { deliver, bodies } = consumer(kafka())
    const event = kafkaEvent({ 'orders-0': ['1'], 'orders-1': ['1'] })
    await deliver(event)
    expect(await deliver(event)).toEqual([])
    expect(bodies).toEqual([1, 1])
  })

  test('of a topic that was made anew are new, although they are counted from 0 again', async () => {
    const { deliver, bodies } = consumer(kafka())
    const event = kafkaEvent({ 'orders-0': ['1'] })
    await deliver(event)
    const anew = kafkaEvent({ 'orders-0': ['1'] })
    anew.records['orders-0']![0]!.timestamp += 1
    expect(await deliver(anew)).toEqual([])
    expect(bodies).toHaveLength(2)
  })

  test('stop at the first failure of their partition, and are reported as Lambda wants Kafka’s to be', async () => {
    const { deliver, bodies } = consumer(kafka(), {
      work: (body) => {
        if (body === 'bad') throw new Error('boom')
      },
    })
    const event = kafkaEvent({ 'my-topic-0': ['"a"', '"bad"', '"b"'], 'my-topic-12': ['"bad"'], 'my-topic-3': ['"c"'] })
    expect(await deliver(event)).toEqual([
      { partition: 'my-topic-0', offset: 1 },
      { partition: 'my-topic-12', offset: 0 },
    ])
    expect(bodies.toSorted()).toEqual(['a', 'bad', 'bad', 'c'])
  })

  test('of a self-managed cluster have its addresses for a scope, in any order', async () => {
    const { deliver, bodies } = consumer(kafka())
    const own = { eventSource: 'SelfManagedKafka', eventSourceArn: undefined } as never
    await deliver(kafkaEvent({ 'orders-0': ['1'] }, own))
    await deliver({ ...kafkaEvent({ 'orders-0': ['1'] }, own), bootstrapServers: 'b-1.example:9098,b-2.example:9098' })
    expect(bodies).toHaveLength(1)
    await deliver({ ...kafkaEvent({ 'orders-0': ['1'] }, own), bootstrapServers: 'other:9098' })
    expect(bodies).toHaveLength(2)
  })

  test.each<[string, object]>([
    ['no offset', { offset: undefined }],
    ['an offset that is none', { offset: 0.5 }],
    ['no topic', { topic: '' }],
  ])('with %s fail the invocation', async (_name, over) => {
    const { deliver } = consumer(kafka())
    const event = kafkaEvent({ 'orders-0': ['1'] })
    Object.assign(event.records['orders-0']![0]!, over)
    await expect(deliver(event)).rejects.toMatchObject({ code: 'INVALID_EVENT' })
  })

  test('whose bytes are no text are poison', async () => {
    const { deliver, reasons } = consumer(kafka())
    const event = kafkaEvent({ 'orders-0': ['1'] })
    event.records['orders-0']![0]!.value = Buffer.from([0xff]).toString('base64')
    expect(await deliver(event)).toEqual([{ partition: 'orders-0', offset: 0 }])
    expect(reasons()).toEqual(['poison'])
  })

  test('have a topic’s name nearly as long as a key, and are named all the same', async () => {
    const { deliver, bodies } = consumer(kafka())
    expect(await deliver(kafkaEvent({ [`${'t'.repeat(249)}-0`]: ['1'] }))).toEqual([])
    expect(bodies).toHaveLength(1)
  })
})
