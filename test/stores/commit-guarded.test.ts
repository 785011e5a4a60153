import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import type { CommitWrite } from '../../lib/index.ts'
import { applyIfNewer, type Write } from '../../lib/order/index.ts'
import { completing, createLedger, held, type Ledger, newAccount, newToken } from './ledger.ts'
import { startLostAnswerProxy } from './lost-answer-proxy.ts'
import { localClient } from './table.ts'
import { watchedClient } from './wire.ts'

let client: DynamoDBClient
let ledger: Ledger

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  ledger = await createLedger(client)
})
afterAll(() => client.destroy())

const at = (value: number | string) => ({ attribute: 'version', value })
const putOf = (account: string, balance: number): Write => ({
  Put: { TableName: ledger.accounts, Item: { account, balance } },
})
const updateOf = (account: string, balance: number, condition?: string): Write => ({
  Update: {
    TableName: ledger.accounts,
    Key: { account },
    UpdateExpression: 'SET balance = :b',
    ExpressionAttributeValues: { ':b': balance },
    ...(condition !== undefined && { ConditionExpression: condition }),
  },
})
const deleteOf = (account: string): Write => ({ Delete: { TableName: ledger.accounts, Key: { account } } })
const newer = (write: Write, version: number | string, onStale?: 'skip' | 'fail'): CommitWrite => ({
  write,
  ifNewer: at(version),
  ...(onStale && { onStale }),
})

/** Commits through a client whose requests are counted. */
async function committed(writes: readonly CommitWrite[]) {
  const wire = watchedClient(inject('dynamoDbEndpoint'))
  const through = dynamoStore({ tableName: ledger.operations, client: wire.client })
  const record = await ledger.heldRecord()
  try {
    const answer = await ledger.commit(record, writes, through)
    return { answer, record: await ledger.store.get(record.id), requests: wire.sent.length }
  } finally {
    wire.client.destroy()
  }
}

describe('a guarded write that is newer', () => {
  test.each([
    ['put', putOf],
    ['update', updateOf],
  ])('%s: is applied in the one transaction, with its version', async (_kind, write) => {
    const account = newAccount()
    await applyIfNewer(client, putOf(account, 1), at(1))
    const { answer, requests } = await committed([newer(write(account, 2), 2)])
    expect([answer, requests]).toEqual([{ kind: 'applied', skipped: [] }, 1])
    expect(await ledger.get(account)).toEqual({ account, balance: 2, version: 2 })
  })

  test('delete: leaves a tombstone, so that a late put is stale', async () => {
    const account = newAccount()
    await applyIfNewer(client, putOf(account, 1), at(1))
    expect((await committed([newer(deleteOf(account), 3)])).answer).toEqual({ kind: 'applied', skipped: [] })
    expect(await ledger.get(account)).toEqual({ account, version: 3, tombstone: true })
    expect((await committed([newer(putOf(account, 2), 2)])).answer).toEqual({ kind: 'applied', skipped: [0] })
    expect(await ledger.get(account)).toEqual({ account, version: 3, tombstone: true })
  })
})

describe('a guarded write that is stale', () => {
  test.each([
    ['put', (account: string) => putOf(account, 9)],
    ['update', (account: string) => updateOf(account, 9)],
    ['delete', deleteOf],
  ])('%s: is left out, and all others are written, in a second transaction', async (_kind, write) => {
    const [late, free, other] = [newAccount(), newAccount(), newAccount()]
    await applyIfNewer(client, putOf(late, 5), at(5))
    await ledger.put({ account: other, balance: 0 })
    const { answer, record, requests } = await committed([
      newer(putOf(free, 1), 1),
      newer(write(late), 5),
      ledger.add(other, 1),
    ])
    expect([answer, requests]).toEqual([{ kind: 'applied', skipped: [1] }, 2])
    expect(record?.status).toBe('COMPLETED')
    expect(await ledger.get(late)).toEqual({ account: late, balance: 5, version: 5 })
    expect(await ledger.get(free)).toEqual({ account: free, balance: 1, version: 1 })
    expect(await ledger.get(other)).toEqual({ account: other, balance: 1 })
  })

  test('several are left out at once, and a commit of nothing but stale writes completes the operation', async () => {
    const accounts = [newAccount(), newAccount(), newAccount()]
    for (const account of accounts) await applyIfNewer(client, putOf(account, 5), at(5))
    const { answer, record, requests } = await committed(accounts.map((account) => newer(putOf(account, 1), 1)))
    expect([answer, requests, record?.status]).toEqual([{ kind: 'applied', skipped: [0, 1, 2] }, 2, 'COMPLETED'])
  })

  test('refuses the commit with onStale: fail, and nothing is written', async () => {
    const [late, free] = [newAccount(), newAccount()]
    await applyIfNewer(client, putOf(late, 5), at(5))
    const { answer, record, requests } = await committed([newer(putOf(free, 1), 1), newer(putOf(late, 4), 4, 'fail')])
    const item = { account: late, balance: 5, version: 5 }
    expect([answer, requests]).toEqual([{ kind: 'conflict', conflicts: [{ index: 1, item, isStale: true }] }, 1])
    expect([record?.status, await ledger.get(free)]).toEqual(['IN_PROGRESS', undefined])
  })

  test('does not hide another write whose condition failed', async () => {
    const [late, missing] = [newAccount(), newAccount()]
    await applyIfNewer(client, putOf(late, 5), at(5))
    const { answer } = await committed([newer(putOf(late, 4), 4), ledger.add(missing, 1)])
    expect(answer).toEqual({ kind: 'conflict', conflicts: [{ index: 1, isStale: false }] })
  })

  test('is left out again when the answer of the second transaction was lost', async () => {
    const [late, other] = [newAccount(), newAccount()]
    await applyIfNewer(client, putOf(late, 5), at(5))
    await ledger.put({ account: other, balance: 0 })
    const proxy = await startLostAnswerProxy(inject('dynamoDbEndpoint'))
    const lossy = localClient(proxy.endpoint)
    let requests = 0
    lossy.middlewareStack.add(
      (next) => (args) => {
        requests++
        // The first transaction is refused; the answers of the second one are lost until the SDK gives up.
        if (requests === 2) proxy.drop(3, 'TransactWriteItems')
        return next(args)
      },
      { step: 'deserialize', priority: 'low' },
    )
    const record = await ledger.heldRecord()
    const through = dynamoStore({ tableName: ledger.operations, client: lossy })
    const prepared = await through.prepare(record.id, [newer(putOf(late, 1), 1), ledger.add(other, 1)], [])
    const token = newToken()
    await expect(prepared.commit(completing, held, token)).rejects.toMatchObject({ code: 'STORE', retryable: true })
    expect(proxy.dropped).toBe(3)
    expect(await prepared.commit(completing, held, token)).toEqual({ kind: 'applied', skipped: [0] })
    expect(await ledger.get(other)).toEqual({ account: other, balance: 1 })
    lossy.destroy()
    await proxy.stop()
  })
})

describe('a guarded write whose own condition fails', () => {
  test('is a conflict, and not a stale one', async () => {
    const account = newAccount()
    await applyIfNewer(client, putOf(account, 1), at(1))
    const { answer } = await committed([newer(updateOf(account, 2, 'attribute_exists(closed)'), 2)])
    const item = { account, balance: 1, version: 1 }
    expect(answer).toEqual({ kind: 'conflict', conflicts: [{ index: 0, item, isStale: false }] })
  })

  test('against versions of another type, says which types', async () => {
    const account = newAccount()
    await applyIfNewer(client, putOf(account, 1), at('2024-01-01'))
    await expect(committed([newer(putOf(account, 2), 2)])).rejects.toThrow(
      /"version" is a string, the guard's value is a number.*Nothing was written/,
    )
  })
})

describe('a guarded update of a deleted item', () => {
  test('is applied over the older tombstone, and clears it away', async () => {
    const account = newAccount()
    await applyIfNewer(client, deleteOf(account), { ...at(3), tombstoneSeconds: 60 })
    const { answer, requests } = await committed([newer(updateOf(account, 4), 4)])
    expect([answer, requests]).toEqual([{ kind: 'applied', skipped: [] }, 2])
    expect(await ledger.get(account)).toEqual({ account, balance: 4, version: 4 })
  })

  test('is stale against a newer tombstone', async () => {
    const account = newAccount()
    await applyIfNewer(client, deleteOf(account), at(5))
    const { answer } = await committed([newer(updateOf(account, 4), 4)])
    expect(answer).toEqual({ kind: 'applied', skipped: [0] })
  })

  test('sends what was prepared in the second transaction, too, digit by digit', async () => {
    const account = newAccount()
    await applyIfNewer(client, deleteOf(account), at(3))
    const record = await ledger.heldRecord()
    const values: Record<string, unknown> = { ':b': 12345678901234567890n }
    const names = { '#b': 'balance' }
    const Update = {
      TableName: ledger.accounts,
      Key: { account },
      UpdateExpression: 'SET #b = :b',
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    }
    const prepared = await ledger.store.prepare(record.id, [newer({ Update }, 4)], [])
    values[':b'] = 0
    names['#b'] = 'another'
    Update.Key.account = 'another'
    Update.UpdateExpression = ''
    expect(await prepared.commit(completing, held, newToken())).toEqual({ kind: 'applied', skipped: [] })
    const wrong = await ledger.commit(await ledger.heldRecord(), [newer(putOf(account, 1), 4, 'fail')])
    expect(wrong).toMatchObject({ conflicts: [{ item: { account, balance: 12345678901234567890n, version: 4 } }] })
  })
})
