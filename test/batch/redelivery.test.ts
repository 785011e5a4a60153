import type { SQSBatchResponse, SQSRecord } from 'aws-lambda'
import { describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../lib/base/clock.ts'
import { batchHandler, type RecordFailure } from '../../lib/batch/index.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, NoEffectError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import type { Condition } from '../../lib/record/store.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { APPLIED, answeringClient, type GivenAnswer } from '../stores/answering-client.ts'
import { turn } from '../stores/grouped-set-up.ts'
import { startLostAnswerProxy } from '../stores/lost-answer-proxy.ts'
import { endpoint, ids, messages, setUp, TOGETHER, tableName, times } from './real-queue.ts'
import { event, invocation, message, redelivered } from './sqs-event.ts'
import { suspendingQueue } from './suspending-queue.ts'

const again = (...records: SQSRecord[]) => redelivered(event(...records))

describe('a batch that is delivered again', () => {
  test('takes one read and no write where all of it is done', async () => {
    const { deliver, ran } = setUp()
    const batch = event(...messages(10))
    await deliver(batch)
    expect(await deliver(redelivered(batch))).toEqual({ failed: [], requests: ['BatchGetItem'] })
    expect(ran.toSorted()).toEqual(ids(10))
  })

  test('is run where none of it was ever claimed: one look, and then as ever', async () => {
    const { deliver, ran, batches } = setUp()
    const batch = again(...messages(10))
    expect(await deliver(batch)).toEqual({ failed: [], requests: ['BatchGetItem', ...times(4, TOGETHER)] })
    expect(batches.map(([first]) => first?.Statement?.split(' ')[0])).toEqual(['INSERT', 'INSERT', 'UPDATE', 'UPDATE'])
    expect(ran.toSorted()).toEqual(ids(10))
    expect(await deliver(batch)).toEqual({ failed: [], requests: ['BatchGetItem'] })
  })

  test('runs those of its records that are not done', async () => {
    const { deliver, ran, batches } = setUp()
    const all = messages(10)
    await deliver(event(...all.slice(0, 6)))
    batches.length = 0
    expect(await deliver(again(...all))).toEqual({ failed: [], requests: ['BatchGetItem', TOGETHER, TOGETHER] })
    expect(batches.map(({ length }) => length)).toEqual([4, 4])
    expect(ran.toSorted()).toEqual(ids(10))
  })

  test('among others that are new shares its look, and they share their claims', async () => {
    const { deliver, ran } = setUp()
    const all = messages(8)
    await deliver(event(...all.slice(0, 4)))
    const mixed = event(...again(...all.slice(0, 4)).Records, ...all.slice(4))
    const { failed, requests } = await deliver(mixed)
    expect(failed).toEqual([])
    expect(requests.toSorted()).toEqual([TOGETHER, TOGETHER, 'BatchGetItem'].toSorted())
    expect(ran.toSorted()).toEqual(ids(8))
  })

  test('reads a hundred records in a request: two for 120 that are done', async () => {
    const { deliver, ran } = setUp({ options: { concurrency: 200 } })
    const batch = event(...messages(120))
    expect((await deliver(batch)).failed).toEqual([])
    expect(await deliver(redelivered(batch))).toEqual({ failed: [], requests: ['BatchGetItem', 'BatchGetItem'] })
    expect(ran.toSorted()).toEqual(ids(120).toSorted())
  })

  test('and was never claimed is run whole, however many records it has', async () => {
    const { deliver, ran, batches } = setUp({ options: { concurrency: 200 } })
    const { failed, requests } = await deliver(again(...messages(120)))
    expect(failed).toEqual([])
    expect(requests.slice(0, 2)).toEqual(['BatchGetItem', 'BatchGetItem'])
    expect(batches.slice(0, 5).map(({ length }) => length)).toEqual(times(5, '24').map(Number))
    expect(ran.toSorted()).toEqual(ids(120).toSorted())
  })

  test('with one message twice runs it once', async () => {
    const { deliver, ran } = setUp({ options: { key: ({ body }) => body.id } })
    const [first, second] = messages(2) as [SQSRecord, SQSRecord]
    const twice = { ...first, messageId: 'other' }
    const { failed } = await deliver(again(first, twice, second))
    // Whichever of the two comes second finds the first at work, or done.
    expect(failed.filter((id) => id === 'm1')).toEqual([])
    expect((await deliver(again(first, twice, second))).failed).toEqual([])
    expect(ran.toSorted()).toEqual(ids(2))
  })

  test('and was released or has expired is put record by record, after one look', async () => {
    const namespace = `n${crypto.randomUUID()}`
    const clock = { ...systemClock, now: () => Date.now() - 86_400_000 }
    const all = messages(4)
    await setUp({ core: { namespace, clock, retentionSeconds: 60 } }).deliver(event(...all.slice(0, 2)))
    const releasing = setUp({ core: { namespace }, work: () => Promise.reject(new NoEffectError('nothing was done')) })
    expect((await releasing.deliver(event(...all.slice(2)))).failed).toEqual(['m2', 'm3'])
    const later = setUp({ core: { namespace } })
    const { failed, requests } = await later.deliver(again(...all))
    expect(failed).toEqual([])
    expect(requests.slice(0, 5)).toEqual(['BatchGetItem', ...times(4, 'PutItem')])
    expect(requests.filter((request) => request === 'PutItem')).toHaveLength(4)
    expect(later.ran.toSorted()).toEqual(ids(4))
  })

  test('is looked for record by record without group commit', async () => {
    const { deliver, ran } = setUp({ options: { groupCommit: false } })
    const all = messages(4)
    await deliver(event(...all.slice(0, 3)))
    const { failed, requests } = await deliver(again(...all))
    expect(failed).toEqual([])
    expect(requests.toSorted()).toEqual([...times(4, 'GetItem'), 'PutItem', 'UpdateItem'])
    expect(ran.toSorted()).toEqual(ids(4))
  })

  test('of one record takes one read where it is done, and one more than ever where it is not', async () => {
    const { deliver, ran } = setUp()
    expect((await deliver(again(message('m0')))).requests).toEqual(['GetItem', 'PutItem', 'UpdateItem'])
    expect((await deliver(again(message('m0')))).requests).toEqual(['GetItem'])
    expect(ran).toEqual(['m0'])
  })

  test('keeps the order of its FIFO groups, and looks for the head of each at once', async () => {
    const { deliver, ran } = setUp()
    const batch = event(...['A1', 'B1', 'A2', 'B2'].map((id) => message(id, { group: id.slice(0, 1) })))
    await deliver(batch)
    expect(await deliver(redelivered(batch))).toEqual({ failed: [], requests: times(2, 'BatchGetItem') })
    expect(ran.toSorted()).toEqual(['A1', 'A2', 'B1', 'B2'])
  })
})

describe('an answer that is lost on the way to a batch that is delivered again', () => {
  async function losing(count: number, part: string, run: (at: string) => Promise<void>): Promise<void> {
    const proxy = await startLostAnswerProxy(endpoint)
    try {
      proxy.drop(count, part)
      await run(proxy.endpoint)
      expect(proxy.dropped).toBe(count)
    } finally {
      await proxy.stop()
    }
  }

  test.each([
    ['which the SDK repeats', 1, times(2, 'BatchGetItem')],
    ['until the SDK gives up', 3, [...times(3, 'BatchGetItem'), ...times(6, 'GetItem')]],
  ])('of the look at what is done, %s: nothing runs again', async (_name, count, requests) => {
    const core = { namespace: `n${crypto.randomUUID()}` }
    await setUp({ core }).deliver(event(...messages(6)))
    await losing(count, 'BatchGetItem', async (at) => {
      const { deliver, ran } = setUp({ core, at })
      expect(await deliver(again(...messages(6)))).toEqual({ failed: [], requests })
      expect(ran).toEqual([])
    })
  })

  test.each([
    ['of the look, which the SDK repeats', 'BatchGetItem', 1],
    ['of the look, until the SDK gives up', 'BatchGetItem', 3],
    ['of the inserts after the look, which the SDK repeats', 'INSERT INTO', 1],
    ['of the inserts after the look, until the SDK gives up', 'INSERT INTO', 3],
  ])('%s, where nothing was claimed: each record runs once', async (_name, part, count) => {
    await losing(count, part, async (at) => {
      const { deliver, ran } = setUp({ at })
      expect((await deliver(again(...messages(6)))).failed).toEqual([])
      expect(ran.toSorted()).toEqual(ids(6))
      expect(await deliver(again(...messages(6)))).toEqual({ failed: [], requests: ['BatchGetItem'] })
      expect(ran).toHaveLength(6)
    })
  })

  test('to each of several consumers: each record runs once between them', async () => {
    const core = { namespace: `n${crypto.randomUUID()}` }
    await losing(5, 'BatchGetItem', async (at) => {
      const consumers = Array.from({ length: 4 }, () => setUp({ core, at }))
      const batch = again(...messages(10))
      await Promise.all(consumers.map(({ deliver }) => deliver(batch)))
      for (const { deliver } of consumers) expect((await deliver(batch)).failed).toEqual([])
      expect(consumers.flatMap(({ ran }) => ran).toSorted()).toEqual(ids(10))
    })
  })
})

test('a look that comes when its record has been reported is followed by no claim: it would keep all others out', async () => {
  const clock = fakeClock()
  const endMs = clock.now() + 1_400
  const look = Promise.withResolvers<GivenAnswer>()
  const { client, sent } = answeringClient([look.promise])
  const actions = () => new Set(sent.map(({ headers }) => headers['x-amz-target']?.split('.')[1]))
  const idempotency = createIdempotency({ store: dynamoStore({ tableName, client }), namespace: 'n', clock })
  const work = vi.fn()
  const failures: RecordFailure[] = []
  const handler = batchHandler({ idempotency, onFailure: (failure) => failures.push(failure) }, work)
  let answer: SQSBatchResponse | undefined
  void handler(
    again(message('m0')),
    invocation(() => endMs - clock.now()),
  ).then((reported) => {
    answer = reported
  })
  await vi.waitFor(() => expect(sent).toHaveLength(1))
  while (answer === undefined) {
    clock.advance(100)
    await turn()
  }
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] })
  expect(failures).toMatchObject([{ error: { code: 'STORE_UNAVAILABLE' } }])
  look.resolve(APPLIED)
  for (let later = 0; later < 20; later++) await turn()
  expect(actions()).toEqual(new Set(['GetItem']))
  expect(work).not.toHaveBeenCalled()
})

describe('the store is told that a record is likely to be there', () => {
  async function conditionOf(ApproximateReceiveCount: unknown): Promise<Condition | undefined> {
    const memory = memoryStore()
    const conditions: Condition[] = []
    const store: typeof memory = {
      ...memory,
      put: (record, condition) => {
        conditions.push(condition)
        return memory.put(record, condition)
      },
    }
    const handler = batchHandler({ idempotency: createIdempotency({ store, namespace: 'n' }) }, () => 'done')
    const record = message('m0', { attributes: { ApproximateReceiveCount } })
    expect(await handler(event(record), invocation())).toEqual({ batchItemFailures: [] })
    return conditions[0]
  }

  test.each(['2', '3', '1000', 2])('when it was received %j times', async (count) => {
    expect(await conditionOf(count)).toMatchObject({ kind: 'absent', isLikelyTaken: true })
  })

  test.each(['1', '0', '', 'often', undefined, null, 1])('but not when it was received %j times', async (count) => {
    const condition = await conditionOf(count)
    expect(condition).toMatchObject({ kind: 'absent' })
    expect(condition).not.toHaveProperty('isLikelyTaken')
  })

  test('by the message that continues what waited, and not by the first one', async () => {
    const q = suspendingQueue({ work: ({ delay, attempt }) => (attempt <= 2 ? delay({ seconds: 60 }) : 'done') })
    q.send(message('m-1'))
    expect(await q.drain()).toEqual([])
    expect(q.record()).toMatchObject({ status: 'COMPLETED', attempt: 3 })
    const [first, ...continued] = q.conditions
    expect(first).not.toHaveProperty('isLikelyTaken')
    expect(continued).toMatchObject([{ isLikelyTaken: true }, { isLikelyTaken: true }])
  })
})
