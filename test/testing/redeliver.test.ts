import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { fakeClock, redeliver, sqsEvent } from '../../lib/testing/index.ts'
import { failedOf } from '../../lib/testing/queue/verdict.ts'

const TWO = sqsEvent({ messageId: 'one', body: 1 }, { messageId: 'two', body: 2 })
const failing = (...ids: string[]): SQSBatchResponse => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
})

describe('what an invocation means to the queue', () => {
  const ids = (answer: unknown) => failedOf(TWO.Records, { kind: 'answered', answer }).map(({ messageId }) => messageId)

  test.each([[undefined], [null], [''], [{}], [{ batchItemFailures: [] }], [{ batchItemFailures: null }]])(
    '%j: all is done',
    (answer) => {
      expect(ids(answer)).toEqual([])
    },
  )

  test.each([
    ['done'],
    [[]],
    [{ batchItemFailures: 'one' }],
    [failing('unknown')],
    [failing('one', '')],
    [{ batchItemFailures: [null] }],
    [{ batchItemFailures: [{ itemidentifier: 'one' }] }],
  ])('%j: nothing is done', (answer) => {
    expect(ids(answer)).toEqual(['one', 'two'])
  })

  test('the named ones have failed', () => {
    expect(ids(failing('two', 'two'))).toEqual(['two'])
  })

  test('of one that threw all have', () => {
    expect(failedOf(TWO.Records, { kind: 'threw', error: new Error('no') })).toHaveLength(2)
  })
})

describe('redeliver', () => {
  test('brings what failed again, with another receipt and a higher count', async () => {
    const answers = [failing('two'), failing()]
    const { deliveries, deadLetters } = await redeliver(() => answers.shift(), TWO)
    const brought = deliveries.map(({ event }) =>
      event.Records.map(({ messageId, attributes }) => `${messageId} ${attributes.ApproximateReceiveCount}`),
    )
    expect(brought).toEqual([['one 1', 'two 1'], ['two 2']])
    expect(deliveries[1]?.event.Records[0]?.receiptHandle).not.toBe(TWO.Records[1]?.receiptHandle)
    expect(deadLetters).toEqual([])
  })

  test('makes a dead letter of what is received too often, and keeps its id', async () => {
    const { deliveries, deadLetters } = await redeliver(() => failing('one'), TWO, { maxReceiveCount: 3 })
    expect(deliveries).toHaveLength(3)
    expect(deadLetters.map(({ messageId, attributes }) => [messageId, attributes.ApproximateReceiveCount])).toEqual([
      ['one', '3'],
    ])
  })

  test('tells what each invocation came to, and brings all again after one that threw', async () => {
    const error = new Error('out of memory')
    let calls = 0
    const { deliveries } = await redeliver(() => {
      if (calls++ === 0) throw error
    }, TWO)
    expect(deliveries).toMatchObject([
      { kind: 'threw', error },
      { kind: 'answered', answer: undefined },
    ])
    expect(deliveries[1]?.event.Records).toHaveLength(2)
  })

  test('moves the clock by the visibility timeout, and gives a context that runs by it', async () => {
    const clock = fakeClock(0)
    const seen: number[][] = []
    await redeliver(
      (_event, context) => {
        seen.push([clock.now(), context.getRemainingTimeInMillis()])
        return seen.length < 3 ? failing('one') : undefined
      },
      TWO,
      { clock, visibilityTimeoutSeconds: 60 },
    )
    expect(seen).toEqual([
      [0, 30_000],
      [60_000, 30_000],
      [120_000, 30_000],
    ])
  })

  test('gives each delivery an event of its own, and leaves the given one alone', async () => {
    const before = structuredClone(TWO)
    let calls = 0
    const spoiling = (event: SQSEvent) => {
      event.Records.length = 0
      return calls++ === 0 ? failing('one') : undefined
    }
    const { deliveries } = await redeliver(spoiling, TWO)
    expect(deliveries[1]?.event.Records).toHaveLength(1)
    expect(TWO).toEqual(before)
  })

  test('refuses what cannot be delivered', async () => {
    await expect(redeliver('handler' as never, TWO)).rejects.toThrow('handler must be a function; got "handler".')
    await expect(redeliver(() => undefined, {} as never)).rejects.toThrow('event must be one of sqsEvent(…)')
    await expect(redeliver(() => undefined, TWO, { maxReceiveCount: 0 })).rejects.toThrow('maxReceiveCount must be')
  })
})
