import { describe, expect, test } from 'vitest'
import { BATCH_DEFAULTS } from '../../lib/batch/index.ts'
import { DEFAULTS, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { gate, setUp } from '../batch/set-up.ts'
import { event, invocation, message, QUEUE_ARN, redelivered } from '../batch/sqs-event.ts'

const boom = () => Promise.reject(new Error('boom'))
const three = () => event(message('1'), message('2'), message('3'))

describe('Queues, batches and redeliveries', () => {
  test('A catch block logged and answered with an empty list, and the queue deleted the batch: an outage fails every record', async () => {
    const down = () => Promise.reject(new StoreError('down', { retryable: false }))
    const { deliver } = setUp({ core: { store: { ...memoryStore(), put: down, get: down } } })
    expect(await deliver(three())).toEqual(['1', '2', '3'])
  })

  test('One wrong identifier failed the whole batch: a record without one fails the invocation, and the others’ results are kept', async () => {
    const { deliver, ran, statuses } = setUp()
    const nameless = { ...message('2'), messageId: '' }
    await expect(deliver(event(message('1'), nameless, message('3')))).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    expect(ran).toEqual(['1', '3'])
    expect(statuses()).toEqual(['COMPLETED', 'COMPLETED'])
  })

  test('One body that is no JSON failed its neighbours on every delivery: it fails alone, without a claim, or is let go', async () => {
    const batch = event(message('1'), message('2', { body: '{"broken' }), message('3', { body: '' }), message('4'))
    const failing = setUp()
    expect(await failing.deliver(batch)).toEqual(['2', '3'])
    expect(failing.statuses()).toEqual(['COMPLETED', 'COMPLETED'])
    const letting = setUp({ options: { poison: 'ack' } })
    expect(await letting.deliver(batch)).toEqual([])
  })

  test('A promise was taken for success, and its rejection came when the message was gone: every result is awaited', async () => {
    const late = Object.fromEntries([
      ['then', (_: unknown, reject: (error: Error) => void) => setImmediate(reject, new Error('boom'))],
    ])
    const { deliver } = setUp({ work: () => late })
    expect(await deliver(event(message('1')))).toEqual(['1'])
  })

  test('An event of another shape gave an empty list, which means success: it is refused', async () => {
    const { handler } = setUp()
    await expect(handler({} as never, invocation())).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    expect(await handler({ Records: [] }, invocation())).toEqual({ batchItemFailures: [] })
    const all = setUp({ work: boom })
    expect(await all.deliver(three())).toEqual(['1', '2', '3'])
  })

  test('A batch ran out of time, came back whole, and ran three times as often: what is done is not run again, and nothing is begun near the end', async () => {
    const { deliver, ran, statuses } = setUp({ options: { concurrency: 1, deadlineMarginSeconds: 0.1 } })
    const batch = event(...Array.from({ length: 10 }, (_, n) => message(String(n))))
    const failed = await deliver(
      batch,
      invocation(() => 450 - 120 * ran.length),
    )
    expect(failed).toEqual(['3', '4', '5', '6', '7', '8', '9'])
    expect(statuses()).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED'])
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(ran).toHaveLength(10)
  })

  test.each<[string, () => unknown, string[]]>([
    ['done', () => undefined, []],
    ['failed', boom, ['1']],
  ])(
    'SQS delivered one message twice in one batch: it runs once, and is reported at most once (%s)',
    async (_name, work, failures) => {
      const { deliver, ran } = setUp({ work })
      expect(await deliver(event(message('1'), message('1')))).toEqual(failures)
      expect(ran).toEqual(['1'])
    },
  )

  test('The duplicate of a running message was deleted, and the original crashed: an unfinished one is always failed', async () => {
    const running = gate()
    const { deliver, ran, statuses, clock } = setUp({ work: () => (ran.length === 1 ? running.opened : undefined) })
    const first = deliver(event(message('1')))
    await new Promise(setImmediate)
    expect(await deliver(redelivered(event(message('1'))))).toEqual(['1'])
    expect(statuses()).toEqual(['IN_PROGRESS'])
    clock.advance(60_000)
    expect(await deliver(redelivered(event(message('1'))))).toEqual([])
    expect(ran).toHaveLength(2)
    running.open()
    await first
  })

  test('FIFO: only the failed message was reported, and those behind it, never started, were deleted: its group is failed, or the batch', async () => {
    const interleaved = () =>
      event(...['A1', 'B1', 'A2', 'B2', 'A3'].map((id) => message(id, { group: id.slice(0, 1) })))
    const work = (id: string) => (id === 'A2' ? boom() : undefined)
    const byGroup = setUp({ work, options: { concurrency: 1 } })
    expect(await byGroup.deliver(interleaved())).toEqual(['A2', 'A3'])
    expect(byGroup.ran.toSorted()).toEqual(['A1', 'A2', 'B1', 'B2'])
    const byBatch = setUp({ work, options: { fifo: 'batch' } })
    expect(await byBatch.deliver(interleaved())).toEqual(['A2', 'B2', 'A3'])
    expect(byBatch.ran).toEqual(['A1', 'B1', 'A2'])
    expect(byBatch.memory.records()).toHaveLength(3)
  })

  test('FIFO: records ran in parallel and out of order: within a group one ends before the next begins', async () => {
    const log: string[] = []
    const { deliver } = setUp({
      work: async (id) => {
        log.push(`${id} begins`)
        await new Promise(setImmediate)
        log.push(`${id} ends`)
      },
    })
    await deliver(event(message('1', { group: 'A' }), message('2', { group: 'A' })))
    expect(log).toEqual(['1 begins', '1 ends', '2 begins', '2 ends'])
  })

  test('FIFO: a record that was done came back with its failed group and ran twice: it is let go', async () => {
    let isBroken = true
    const { deliver, ran } = setUp({ work: (id) => (id === '2' && isBroken ? boom() : undefined) })
    const group = event(...['1', '2', '3'].map((id) => message(id, { group: 'A' })))
    expect(await deliver(group)).toEqual(['2', '3'])
    isBroken = false
    expect(await deliver(redelivered(group))).toEqual([])
    expect(ran).toEqual(['1', '2', '2', '3'])
  })

  test('A redelivery has another receipt and a higher count under the same id: it is the same message', async () => {
    const { deliver, ran } = setUp()
    await deliver(event(message('1')))
    expect(await deliver(redelivered(event(message('1'))))).toEqual([])
    expect(ran).toEqual(['1'])
  })

  test('Visibility ended while the message was processed, and a second consumer charged too: the claim stops it', async () => {
    const running = gate()
    const { deliver, ran } = setUp({ work: () => running.opened })
    const first = deliver(event(message('1')))
    await new Promise(setImmediate)
    expect(await deliver(event(message('1')))).toEqual(['1'])
    running.open()
    expect(await first).toEqual([])
    expect(ran).toEqual(['1'])
  })

  test('A redrive from the dead-letter queue is a new message: only a business key recognises it', async () => {
    const byMessage = setUp()
    const byOrder = setUp({ options: { key: ({ body }) => body.id } })
    for (const { deliver } of [byMessage, byOrder]) {
      await deliver(event(message('m1', { body: { id: 'o-1' } })))
      await deliver(event(message('m2', { body: { id: 'o-1' } })))
    }
    expect([byMessage.ran.length, byOrder.ran.length]).toEqual([2, 1])
  })

  test('Deduplication of FIFO queues lasts five minutes, and was trusted for longer: records are kept for a day', async () => {
    const { deliver, ran, clock } = setUp({ options: { key: ({ attributes }) => attributes.MessageDeduplicationId } })
    const sent = (id: string) =>
      event(message(id, { group: 'A', attributes: { MessageDeduplicationId: 'd-1' }, body: { id: 'o-1' } }))
    await deliver(sent('m1'))
    clock.advance(301_000)
    expect(await deliver(sent('m2'))).toEqual([])
    expect(ran).toHaveLength(1)
    expect(DEFAULTS.retentionSeconds).toBe(86_400)
  })

  test('One part was processed under hundreds of request ids: a key made of one is refused', async () => {
    const { deliver } = setUp({ options: { key: (_record, { awsRequestId }) => awsRequestId } })
    await expect(deliver(event(message('1')))).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    const { deliver: byDefault, ran } = setUp()
    for (const _ of [1, 2]) await byDefault(event(message('1')))
    expect(ran).toHaveLength(1)
  })

  test('A job that had succeeded lay in the dead-letter queue, as its deletion had failed: its consumer sees that it is done', async () => {
    const { deliver, ran } = setUp()
    await deliver(event(message('1')))
    const dead = message('1', {
      eventSourceARN: 'arn:aws:sqs:eu-central-1:111122223333:payments-dead',
      attributes: { DeadLetterQueueSourceArn: QUEUE_ARN },
    })
    expect(await deliver(event(dead))).toEqual([])
    expect(ran).toEqual(['1'])
  })

  test('The answer is a list under the exact name that Lambda reads', async () => {
    const { handler } = setUp({ work: boom })
    expect(await handler(event(message('1')), invocation())).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] })
    expect(BATCH_DEFAULTS.poison).toBe('fail')
  })
})
