import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../lib/base/clock.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { startLostAnswerProxy } from '../stores/lost-answer-proxy.ts'
import type { BatchFault } from '../stores/statement-faults.ts'
import { createTable, localClient } from '../stores/table.ts'
import { endpoint, ids, messages, setUp, TOGETHER, tableName, times } from './real-queue.ts'
import { event, message, redelivered } from './sqs-event.ts'

describe('the requests of a batch', () => {
  test('are two for nine new records', async () => {
    const { deliver, ran } = setUp()
    expect(await deliver(event(...messages(9)))).toEqual({ failed: [], requests: [TOGETHER, TOGETHER] })
    expect(ran).toEqual(ids(9))
  })

  test('are four for ten new records: two at a time', async () => {
    const { deliver, ran, batches } = setUp()
    expect(await deliver(event(...messages(10)))).toEqual({ failed: [], requests: times(4, TOGETHER) })
    expect(batches.map(({ length }) => length)).toEqual([5, 5, 5, 5])
    expect(ran.toSorted()).toEqual(ids(10))
  })

  test('are one more for each look at what was done before, though not delivered again', async () => {
    const { deliver, ran } = setUp()
    const all = messages(8)
    await deliver(event(...all.slice(0, 4)))
    expect(await deliver(event(...all))).toEqual({ failed: [], requests: [TOGETHER, 'BatchGetItem', TOGETHER] })
    expect(ran).toEqual(ids(8))
  })

  test('are eight for a hundred records at once', async () => {
    const { deliver, ran, batches } = setUp({ options: { concurrency: 100 } })
    expect(await deliver(event(...messages(100)))).toEqual({ failed: [], requests: times(8, TOGETHER) })
    expect(batches.map(({ length }) => length)).toEqual(Array.from({ length: 8 }, () => 25))
    expect(ran.toSorted()).toEqual(ids(100).toSorted())
  })

  test('carry no more records than may run at the same time', async () => {
    const { deliver, ran, batches } = setUp({ options: { concurrency: 3 } })
    const { failed, requests } = await deliver(event(...messages(10)))
    expect(failed).toEqual([])
    expect(batches.map(({ length }) => length)).toEqual([3, 3, 3, 3, 3, 3])
    expect(requests).toEqual([...times(6, TOGETHER), 'PutItem', 'UpdateItem'])
    expect(ran).toEqual(ids(10))
  })

  test('carry the head of each FIFO group, and no record behind it', async () => {
    const order: string[] = []
    const { deliver, batches } = setUp({ work: (id) => order.push(id) })
    const batch = event(...['A1', 'A2', 'B1', 'C1', 'B2', 'A3'].map((id) => message(id, { group: id.slice(0, 1) })))
    expect((await deliver(batch)).failed).toEqual([])
    expect(batches.map(({ length }) => length)).toEqual([3, 3, 2, 2])
    expect(order.filter((id) => id.startsWith('A'))).toEqual(['A1', 'A2', 'A3'])
  })

  test('are three for nine records that are resumed: one look for all, one takeover, one completion', async () => {
    let isDown = true
    const { deliver, reasons, ran } = setUp({
      work: (_id, { attempt }) => {
        if (isDown) throw new Error('down')
        return attempt
      },
    })
    const batch = event(...messages(9))
    expect(await deliver(batch)).toEqual({ failed: ids(9), requests: [TOGETHER, TOGETHER] })
    expect(reasons()).toEqual(times(9, 'threw'))
    isDown = false
    expect(await deliver(redelivered(batch))).toEqual({ failed: [], requests: ['BatchGetItem', TOGETHER, TOGETHER] })
    expect(ran).toHaveLength(18)
  })

  test('are those of a single operation for a batch of one, and for every record without group commit', async () => {
    const { deliver } = setUp()
    expect((await deliver(event(...messages(1)))).requests).toEqual(['PutItem', 'UpdateItem'])
    const plain = setUp({ options: { groupCommit: false } })
    const { requests } = await plain.deliver(event(...messages(10)))
    expect(requests.toSorted()).toEqual([...times(10, 'PutItem'), ...times(10, 'UpdateItem')])
  })

  test('replace released and expired records one by one', async () => {
    const clock = { ...systemClock, now: () => Date.now() - 86_400_000 }
    const namespace = `n${crypto.randomUUID()}`
    const batch = event(...messages(4))
    await setUp({ core: { namespace, clock, retentionSeconds: 60 } }).deliver(batch)
    const later = setUp({ core: { namespace } })
    const { failed, requests } = await later.deliver(batch)
    expect(failed).toEqual([])
    expect(requests.slice(0, 6)).toEqual([TOGETHER, 'BatchGetItem', ...times(4, 'PutItem')])
    expect(later.ran.toSorted()).toEqual(ids(4))
  })

  test('leave steps and renewals to themselves', async () => {
    const { deliver } = setUp({
      work: async (id, { step }) => {
        if (id === 'm0') await step('charge', async () => 'charged')
      },
    })
    const { failed, requests } = await deliver(event(...messages(3)))
    expect(failed).toEqual([])
    expect(requests.filter((request) => request === 'UpdateItem')).toHaveLength(2)
  })
})

test('what lies in the table is what single writes leave there', async () => {
  const items = async (groupCommit: boolean) => {
    const table = await createTable(localClient(endpoint))
    let made = 0
    const clock = { ...systemClock, now: () => 1_700_000_000_000 }
    const { deliver } = setUp({
      table,
      options: { groupCommit, concurrency: 1_000 },
      core: { namespace: 'n', clock, reconcilerShards: 2, newId: () => `id${made++}` },
      work: (id) => {
        if (id === 'm1') throw new Error('down')
        return { id, bytes: Uint8Array.of(0, 255), none: undefined, "it's": '"quoted"', long: 'x'.repeat(3_000) }
      },
    })
    await deliver(event(...messages(8)))
    const { Items = [] } = await localClient(endpoint).send(new ScanCommand({ TableName: table }))
    const sorted = Items.toSorted((one, other) => (String(one.pk?.S) < String(other.pk?.S) ? -1 : 1))
    // Tokens are handed out in the order of the claims, so that they have to be the same, too.
    return sorted.map((item): [string, AttributeValue][] => Object.entries(item).toSorted())
  }
  const together = await items(true)
  expect(together).toHaveLength(8)
  expect(together).toEqual(await items(false))
})

test('another request under a known key fails alone, and its neighbours are done', async () => {
  const { deliver, reasons, ran } = setUp({ options: { key: ({ messageId }) => messageId } })
  await deliver(event(...messages(2)))
  const other = [message('m0', { body: { id: 'changed' } }), ...messages(5).slice(1)]
  expect(await deliver(event(...other))).toEqual({ failed: ['m0'], requests: [TOGETHER, 'BatchGetItem', TOGETHER] })
  expect(reasons()).toEqual(['mismatch'])
  expect(ran).toEqual(ids(5))
})

test('a foreign item under the key of a record fails that record alone', async () => {
  const namespace = `n${crypto.randomUUID()}`
  const seen = new Map<string, string>()
  const { deliver } = setUp({ core: { namespace }, work: (id, operation) => seen.set(id, operation.id) })
  await deliver(event(message('m1')))
  const Item = { pk: { S: seen.get('m1') ?? '' }, sk: { S: 'op' }, cart: { S: 'x' } }
  await localClient(endpoint).send(new PutItemCommand({ TableName: tableName, Item }))
  const again = setUp({ core: { namespace } })
  expect((await again.deliver(event(...messages(3)))).failed).toEqual(['m1'])
  expect(again.reasons()).toEqual(['store-unavailable'])
  expect(again.ran).toEqual(['m0', 'm2'])
})

test('many invocations that race for the same records have one run of each between them', async () => {
  const namespace = `n${crypto.randomUUID()}`
  const batch = event(...messages(20))
  const consumers = Array.from({ length: 6 }, () => setUp({ core: { namespace }, options: { concurrency: 20 } }))
  const answers = await Promise.all(consumers.map(({ deliver }) => deliver(redelivered(batch))))
  for (const id of ids(20)) expect(answers.some(({ failed }) => !failed.includes(id))).toBe(true)
  for (const { deliver } of consumers) expect((await deliver(redelivered(batch))).failed).toEqual([])
  expect(consumers.flatMap(({ ran }) => ran).toSorted()).toEqual(ids(20).toSorted())
})

describe('a statement that is refused', () => {
  const refusedFor = (...codes: string[]): BatchFault => ({
    statements: Object.fromEntries(codes.map((code, index) => [index, { code }])),
  })

  test.each([
    'ThrottlingError',
    'ProvisionedThroughputExceeded',
    'RequestLimitExceeded',
    'TransactionConflict',
    'InternalServerError',
  ])('for now (%s) is sent again under the same token, and nothing else is', async (code) => {
    const { deliver, batches, ran } = setUp({ faults: [refusedFor(code, code)] })
    expect((await deliver(event(...messages(4)))).failed).toEqual([])
    const sent = batches.flat().filter(({ Statement }) => Statement?.startsWith('INSERT'))
    expect(sent).toEqual([...batches[0]!, ...batches[0]!.slice(0, 2)])
    expect(ran.toSorted()).toEqual(ids(4))
  })

  test('after it was carried out is known again as its own write: each runs once', async () => {
    const error = { code: 'InternalServerError', isApplied: true }
    const { deliver, ran } = setUp({
      faults: [{ statements: { 0: error, 2: error } }, { statements: {} }, { statements: { 1: error } }],
    })
    const batch = event(...messages(4))
    expect((await deliver(batch)).failed).toEqual([])
    expect((await deliver(redelivered(batch))).failed).toEqual([])
    expect(ran.toSorted()).toEqual(ids(4))
  })

  test('for a reason of its own is written by itself', async () => {
    const { deliver, ran } = setUp({
      faults: [refusedFor('ValidationError', 'ItemCollectionSizeLimitExceeded', 'New')],
    })
    const { failed, requests } = await deliver(event(...messages(5)))
    expect(failed).toEqual([])
    expect(requests).toEqual([TOGETHER, ...times(3, 'PutItem'), ...requests.slice(4)])
    expect(ran.toSorted()).toEqual(ids(5))
  })

  test.each([
    ['carried out', true],
    ['not carried out', false],
  ])('or left out of the answer, and %s: each runs once', async (_name, isApplied) => {
    const leftOut = { isLeftOut: true, isApplied }
    const { deliver, ran } = setUp({ faults: [{ statements: { 1: leftOut, 2: leftOut, 3: leftOut } }] })
    const batch = event(...messages(4))
    expect((await deliver(batch)).failed).toEqual([])
    expect((await deliver(redelivered(batch))).failed).toEqual([])
    expect(ran.toSorted()).toEqual(ids(4))
  })
})

test('an answer that skips a statement is believed for none: what was not written does not run as if it were', async () => {
  const { deliver, ran } = setUp({ faults: [{ statements: { 1: { isSkipped: true } } }] })
  const batch = event(...messages(4))
  expect((await deliver(batch)).failed).toEqual([])
  expect((await deliver(redelivered(batch))).failed).toEqual([])
  expect(ran.toSorted()).toEqual(ids(4))
})

describe('a role that may not write batches of statements', () => {
  test.each<[string, BatchFault]>([
    ['as a whole', { error: { name: 'AccessDeniedException', status: 400 } }],
    ['one by one', { statements: Object.fromEntries([0, 1, 2].map((index) => [index, { code: 'AccessDenied' }])) }],
    ['by a service that has none', { error: { name: 'UnknownOperationException', status: 400 } }],
  ])('refused %s: records are written by themselves from then on, and it is said once', async (_name, fault) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const { deliver, batches, ran } = setUp({ faults: [fault] })
    expect((await deliver(event(...messages(3)))).failed).toEqual([])
    expect((await deliver(event(message('m3'), message('m4')))).failed).toEqual([])
    expect(batches).toHaveLength(1)
    expect(ran.toSorted()).toEqual(ids(5))
    expect(warn).toHaveBeenCalledTimes(1)
    expect(warn.mock.calls[0]?.[0]).toMatch(/Grant it dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate on the table/)
  })

  test('is not taken for one that is throttled', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const { deliver, batches } = setUp({ faults: [{ error: { name: 'ThrottlingException', status: 400 } }] })
    expect((await deliver(event(...messages(3)))).failed).toEqual([])
    await deliver(event(...messages(5).slice(3)))
    expect(batches.length).toBeGreaterThan(2)
    expect(warn).not.toHaveBeenCalled()
  })
})

describe('an answer lost after the statements were carried out', () => {
  test.each([
    ['of the claims, which the SDK repeats', 'INSERT INTO', 9, 1],
    ['of the claims, until the SDK gives up', 'INSERT INTO', 9, 3],
    ['of the claims in both requests, which the SDK repeats', 'INSERT INTO', 10, 2],
    ['of the claims in both requests, until the SDK gives up', 'INSERT INTO', 10, 6],
    ['of the completions, which the SDK repeats', 'UPDATE ', 9, 1],
    ['of the completions, until the SDK gives up', 'UPDATE ', 9, 3],
    ['of the completions in both requests, which the SDK repeats', 'UPDATE ', 10, 2],
    ['of the completions in both requests, until the SDK gives up', 'UPDATE ', 10, 6],
  ])('%s: each record runs once, and is done', async (_name, part, records, count) => {
    const proxy = await startLostAnswerProxy(endpoint)
    try {
      const { deliver, ran } = setUp({ at: proxy.endpoint })
      const batch = event(...messages(records))
      proxy.drop(count, part)
      expect((await deliver(batch)).failed).toEqual([])
      expect(proxy.dropped).toBe(count)
      expect(await deliver(redelivered(batch))).toEqual({ failed: [], requests: ['BatchGetItem'] })
      expect(ran.toSorted()).toEqual(ids(records))
    } finally {
      await proxy.stop()
    }
  })
})

test('a table named by its ARN, by which no statement knows it, is written to record by record', () => {
  expect(
    dynamoStore({ tableName: 'arn:aws:dynamodb:eu-central-1:111122223333:table/operations' }).grouped,
  ).toBeUndefined()
})
