import { describe, expect, test } from 'vitest'
import { kinesis, s3Notification, snsNotification } from '../../lib/batch/index.ts'
import { kinesisEvent, kinesisRecord, notification, s3Record } from './events.ts'
import { consumer } from './set-up.ts'

describe('records of Kinesis', () => {
  test('are decoded and parsed, and named by their eventID', async () => {
    const { deliver, bodies, keys } = consumer(kinesis())
    expect(await deliver(kinesisEvent(kinesisRecord('7', { id: 'ä' })))).toEqual([])
    expect(bodies).toEqual([{ id: 'ä' }])
    expect(keys).toEqual(['shardId-000000000000:7'])
  })

  test('run once, whatever the number of deliveries', async () => {
    const { deliver, bodies } = consumer(kinesis())
    const event = kinesisEvent(kinesisRecord('7'), kinesisRecord('8'))
    await deliver(event)
    expect(await deliver(event)).toEqual([])
    expect(bodies).toEqual([{ id: '7' }, { id: '8' }])
  })

  test('run one after another; after a failure none of the shard is started, and only the lowest is reported', async () => {
    const { deliver, bodies, reasons, statuses } = consumer<never, { id: string }>(kinesis() as never, {
      work: ({ id }) => {
        if (id === '9') throw new Error('boom')
      },
    })
    const records = ['8', '9', '10', '11'].map((number) => kinesisRecord(number))
    expect(await deliver(kinesisEvent(...records))).toEqual(['9'])
    expect(bodies).toEqual([{ id: '8' }, { id: '9' }])
    expect(reasons()).toEqual(['threw', 'order', 'order'])
    expect(statuses()).toEqual(['COMPLETED', 'RETRYABLE'])
  })

  test('compare their sequence numbers as numbers, not as texts', async () => {
    const { deliver } = consumer(kinesis(), { work: () => Promise.reject(new Error('boom')) })
    const two = kinesisEvent(
      kinesisRecord('49590338271490256608559692538361571095921575989136588898'),
      kinesisRecord('9'),
    )
    expect(await deliver(two)).toEqual(['9'])
  })

  test('of two shards are stopped and reported apart', async () => {
    const { deliver, bodies } = consumer<never, { id: string }>(kinesis() as never, {
      work: ({ id }) => {
        if (id === '1') throw new Error('boom')
      },
    })
    const event = kinesisEvent(
      kinesisRecord('1'),
      kinesisRecord('2', { id: 'other' }, { shard: 'shardId-000000000001' }),
    )
    expect(await deliver(event)).toEqual(['1'])
    expect(bodies).toContainEqual({ id: 'other' })
  })

  test('whose bytes are no text are poison, unless they are parsed out of the record', async () => {
    const bytes = kinesisEvent(kinesisRecord('7', new Uint8Array([0xf3, 0x89, 0x9a, 0xc2])))
    const { deliver, reasons } = consumer(kinesis())
    expect(await deliver(bytes)).toEqual(['7'])
    expect(reasons()).toEqual(['poison'])

    const parse = (_text: string, record: { kinesis: { data: string } }) => [
      ...Buffer.from(record.kinesis.data, 'base64'),
    ]
    const parsing = consumer(kinesis(), { options: { parse } })
    expect(await parsing.deliver(bytes)).toEqual([])
    expect(parsing.bodies).toEqual([[0xf3, 0x89, 0x9a, 0xc2]])
  })

  test('that are several in one, put together by the producer’s library, say so', async () => {
    const aggregate = kinesisRecord('7', new Uint8Array([0xf3, 0x89, 0x9a, 0xc2, 0x0a, 0x01, 0x61]))
    const { deliver, failures } = consumer(kinesis())
    expect(await deliver(kinesisEvent(aggregate))).toEqual(['7'])
    expect(failures[0]?.error).toMatchObject({
      code: 'INVALID_EVENT',
      message: expect.stringMatching(/aggregate of the Kinesis Producer Library.*AggregationEnabled/),
    })
    const other = consumer(kinesis())
    await other.deliver(kinesisEvent(kinesisRecord('8', new Uint8Array([0xff, 0x89]))))
    expect(other.failures[0]?.error).toMatchObject({ message: expect.stringMatching(/no text.*record\.kinesis\.data/) })
  })

  test('whose parser quotes them do not get into a log by its error', async () => {
    const { deliver, failures } = consumer(kinesis())
    await deliver(kinesisEvent(kinesisRecord('7', '{"card":"4242')))
    expect(String(failures[0]?.error)).toMatch(/cannot be parsed/)
    expect(String(failures[0]?.error)).not.toContain('4242')
  })

  test('that cannot be read may be passed over, so that they do not block the shard', async () => {
    const { deliver, bodies } = consumer(kinesis(), { options: { poison: 'ack' } })
    expect(await deliver(kinesisEvent(kinesisRecord('7', '{'), kinesisRecord('8')))).toEqual([])
    expect(bodies).toEqual([{ id: '8' }])
  })

  test.each([undefined, null, '', 7, 'x7'])(
    'without a sequence number fail the invocation, and nothing behind them starts: %s',
    async (sequenceNumber) => {
      const { deliver, bodies } = consumer(kinesis())
      const bad = kinesisRecord('8')
      const event = kinesisEvent(
        kinesisRecord('7'),
        { ...bad, kinesis: { ...bad.kinesis, sequenceNumber } } as never,
        kinesisRecord('9'),
      )
      await expect(deliver(event)).rejects.toMatchObject({ code: 'INVALID_EVENT' })
      expect(bodies).toEqual([{ id: '7' }])
    },
  )

  test('may carry what others have wrapped', async () => {
    const { deliver, bodies } = consumer(kinesis({ unwrap: snsNotification(s3Notification()) }))
    expect(await deliver(kinesisEvent(kinesisRecord('7', notification({ Records: [s3Record('a.txt')] }))))).toEqual([])
    expect(bodies.map(({ s3 }) => s3.object.key)).toEqual(['a.txt'])
  })

  test('cannot wait for a signal: later ones would overtake them', async () => {
    const { deliver, failures } = consumer(kinesis(), { work: (_body, operation) => operation.wait('a signal') })
    expect(await deliver(kinesisEvent(kinesisRecord('7')))).toEqual(['7'])
    expect(String(failures[0]?.error)).toContain('delivered in order')
  })

  test('of a tumbling window are refused', async () => {
    const { deliver } = consumer(kinesis())
    const window = { ...kinesisEvent(kinesisRecord('7')), window: { start: 's', end: 'e' }, state: {} }
    await expect(deliver(window)).rejects.toThrow(/tumbling window/)
  })
})
