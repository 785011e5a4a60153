import { beforeEach, describe, expect, test } from 'vitest'
import { createMemoryTables, type MemoryTables } from '../../infra/local/platform/memory-tables.ts'
import type { LocalTable } from '../../infra/local/template/model.ts'
import type { CommitWrite } from '../../lib/index.ts'

const tableOf = (name: string, ...keys: string[]) =>
  ({ name, creation: { KeySchema: keys.map((AttributeName) => ({ AttributeName })) } }) as unknown as LocalTable

let tables: MemoryTables
beforeEach(() => {
  tables = createMemoryTables()
  tables.create([
    tableOf('orders', 'orderId'),
    tableOf('ledger', 'account', 'sequence'),
    tableOf('balances', 'account'),
  ])
})

const entry = (sequence: number): CommitWrite => ({
  Put: { TableName: 'ledger', Item: { account: 'a', sequence }, ConditionExpression: 'attribute_not_exists(account)' },
})
const paid: CommitWrite = {
  Update: {
    TableName: 'orders',
    Key: { orderId: 'o' },
    UpdateExpression: 'SET …',
    ExpressionAttributeValues: { ':pending': 'pending', ':paid': 'paid', ':chargeId': 'ch' },
  },
}
const balance = (sequence: number): CommitWrite => ({
  write: { Put: { TableName: 'balances', Item: { account: 'a', balanceCents: sequence * 100 } } },
  ifNewer: { attribute: 'sequence', value: sequence },
})

describe('the writes of a commit', () => {
  test('are applied together', () => {
    tables.put('orders', { orderId: 'o', status: 'pending', total: 1 })
    expect(tables.transact([entry(1), paid])).toBeUndefined()
    expect(tables.items('ledger')).toEqual([{ account: 'a', sequence: 1 }])
    expect(tables.items('orders')).toEqual([{ orderId: 'o', status: 'paid', chargeId: 'ch', total: 1 }])
  })

  test('are not applied when a place is taken, or an order is not pending', () => {
    tables.transact([entry(1)])
    expect(tables.transact([entry(1), entry(2), paid])).toEqual([
      { index: 0, item: { account: 'a', sequence: 1 }, isStale: false },
      { index: 2, isStale: false },
    ])
    expect(tables.items('ledger')).toHaveLength(1)
  })

  test('that are not newer are stale', () => {
    expect(tables.transact([balance(2)])).toBeUndefined()
    for (const late of [1, 2]) expect(tables.transact([balance(late)])).toMatchObject([{ index: 0, isStale: true }])
    expect(tables.transact([balance(3)])).toBeUndefined()
    expect(tables.items('balances')).toEqual([{ account: 'a', balanceCents: 300, sequence: 3 }])
  })

  test('of another kind are refused, and nothing is made of them', () => {
    const unknown: CommitWrite = { Delete: { TableName: 'orders', Key: { orderId: 'o' } } }
    expect(() => tables.transact([unknown])).toThrow('do not know')
  })
})
