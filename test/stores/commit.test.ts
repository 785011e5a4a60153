import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { type CommitWrite, isLambdaOnceError } from '../../lib/index.ts'
import { completing, createLedger, held, type Ledger, newAccount, newToken } from './ledger.ts'
import { localClient } from './table.ts'
import { watchedClient } from './wire.ts'

let client: DynamoDBClient
let ledger: Ledger

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  ledger = await createLedger(client)
})
afterAll(() => client.destroy())

const put = (account: string, attributes: object = {}, condition?: string): CommitWrite => ({
  Put: {
    TableName: ledger.accounts,
    Item: { account, ...attributes },
    ...(condition !== undefined && { ConditionExpression: condition }),
  },
})
const remove = (account: string): CommitWrite => ({
  Delete: { TableName: ledger.accounts, Key: { account }, ConditionExpression: 'attribute_exists(account)' },
})
const check = (account: string): CommitWrite => ({
  ConditionCheck: { TableName: ledger.accounts, Key: { account }, ConditionExpression: 'attribute_exists(account)' },
})

describe('a commit with writes of every kind', () => {
  test('is one request, and writes all of them with the completion', async () => {
    const { store } = ledger
    const [from, to, closed, watched] = [newAccount(), newAccount(), newAccount(), newAccount()]
    for (const account of [from, closed, watched]) await ledger.put({ account, balance: 10 })
    const record = await ledger.heldRecord()
    const wire = watchedClient(inject('dynamoDbEndpoint'))
    const through = dynamoStore({ tableName: ledger.operations, client: wire.client })
    const writes = [ledger.add(from, -3), put(to, { balance: 3 }), remove(closed), check(watched)]
    const message = { sk: 'outbox#1', attributes: { state: 'pending' } }
    const prepared = await through.prepare(record.id, writes, [message])
    expect(wire.sent).toEqual([])
    expect(await prepared.commit(completing, held, newToken())).toEqual({ kind: 'applied', skipped: [] })
    expect(wire.sent).toEqual(['TransactWriteItems'])
    wire.client.destroy()
    expect(await ledger.get(from)).toEqual({ account: from, balance: 7 })
    expect(await ledger.get(to)).toEqual({ account: to, balance: 3 })
    expect(await ledger.get(closed)).toBeUndefined()
    expect(await store.get(record.id)).toMatchObject({ status: 'COMPLETED', commitId: 'commit-a', rev: 2 })
    expect(await store.listBeside(record.id, 'outbox#')).toEqual([message])
  })

  test('sends what was prepared, whatever becomes of the objects it was given', async () => {
    const account = newAccount()
    const Item = { account, tags: ['first'], at: { x: 1 } }
    const record = await ledger.heldRecord()
    const attributes = { state: 'pending', deep: { x: 1 } }
    const writes: CommitWrite[] = [{ Put: { TableName: ledger.accounts, Item } }]
    const prepared = await ledger.store.prepare(record.id, writes, [{ sk: 'outbox#1', attributes }])
    Item.tags.push('second')
    Item.at.x = 2
    Item.account = 'another'
    attributes.deep.x = 2
    writes.pop()
    await prepared.commit(completing, held, newToken())
    expect(await ledger.get(account)).toEqual({ account, tags: ['first'], at: { x: 1 } })
    const [item] = await ledger.store.listBeside(record.id, 'outbox#')
    expect(item?.attributes).toEqual({ state: 'pending', deep: { x: 1 } })
  })

  test('goes through a document client that was given, marshalled in the store’s own way', async () => {
    const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { convertEmptyValues: true } })
    const through = dynamoStore({ tableName: ledger.operations, client: documents as unknown as DynamoDBClient })
    const account = newAccount()
    const writes = [put(account, { note: '', nothing: undefined })]
    expect(await ledger.commit(await ledger.heldRecord(), writes, through)).toMatchObject({ kind: 'applied' })
    expect(await ledger.get(account)).toEqual({ account, note: '' })
  })
})

describe('a commit whose record is not held any more', () => {
  test('writes nothing, and tells so before any conflict of the writes', async () => {
    const [free, taken] = [newAccount(), newAccount()]
    await ledger.put({ account: taken })
    const record = await ledger.heldRecord()
    const takeover = { ...completing, status: 'IN_PROGRESS', token: 'token-b', attempt: 2 } as const
    await ledger.store.update(record.id, takeover, { kind: 'seen', token: 'token-a', rev: 1 })
    const answer = await ledger.commit(record, [put(free), put(taken, {}, 'attribute_not_exists(account)')])
    expect(answer).toMatchObject({ kind: 'refused', existing: { token: 'token-b', rev: 2 } })
    expect(await ledger.get(free)).toBeUndefined()
  })
})

describe('a commit with a condition that does not hold', () => {
  test('answers which writes, with the items that stood against them, and writes nothing', async () => {
    const [free, taken, missing] = [newAccount(), newAccount(), newAccount()]
    await ledger.put({ account: taken, balance: 5, tags: new Set(['a']) })
    const record = await ledger.heldRecord()
    const message = { sk: 'outbox#1', attributes: {} }
    const writes = [put(free), put(taken, {}, 'attribute_not_exists(account)'), ledger.add(missing, 1)]
    const prepared = await ledger.store.prepare(record.id, writes, [message])
    expect(await prepared.commit(completing, held, newToken())).toEqual({
      kind: 'conflict',
      conflicts: [
        { index: 1, item: { account: taken, balance: 5, tags: new Set(['a']) }, isStale: false },
        { index: 2, isStale: false },
      ],
    })
    expect(await ledger.get(free)).toBeUndefined()
    expect(await ledger.store.get(record.id)).toEqual(record)
    expect(await ledger.store.listBeside(record.id, 'outbox#')).toEqual([])
  })

  test('leaves the operation open for another one', async () => {
    const missing = newAccount()
    const record = await ledger.heldRecord()
    expect((await ledger.commit(record, [ledger.add(missing, 1)])).kind).toBe('conflict')
    expect((await ledger.commit(record, [put(missing, { balance: 1 })])).kind).toBe('applied')
    expect(await ledger.get(missing)).toEqual({ account: missing, balance: 1 })
  })
})

test('50 parallel operations on one item: each is committed once, and the sum is right', async () => {
  const account = newAccount()
  await ledger.put({ account, balance: 0 })
  const records = await Promise.all(Array.from({ length: 50 }, () => ledger.heldRecord()))
  const committed = async (record: (typeof records)[number]) => {
    const prepared = await ledger.store.prepare(record.id, [ledger.add(account, 1)], [])
    const token = newToken()
    for (;;) {
      try {
        return await prepared.commit(completing, held, token)
      } catch (error) {
        if (!isLambdaOnceError(error, 'STORE') || !error.retryable) throw error
      }
    }
  }
  const answers = await Promise.all(records.map(committed))
  expect(answers.map(({ kind }) => kind)).toEqual(records.map(() => 'applied'))
  expect(await ledger.get(account)).toEqual({ account, balance: 50 })
})

test('two copies of one operation commit once: the other one is told so, and the item is changed once', async () => {
  const account = newAccount()
  await ledger.put({ account, balance: 0 })
  for (let round = 1; round <= 20; round++) {
    const record = await ledger.heldRecord()
    const answers = await Promise.all([1, 2, 3].map(() => ledger.commit(record, [ledger.add(account, 1)])))
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['applied', 'refused', 'refused'])
    expect(await ledger.get(account)).toEqual({ account, balance: round })
  }
})
