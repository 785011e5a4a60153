import { describe, expect, test } from 'vitest'
import { INDEX_NAME } from '../../lib/dynamodb/table-shape.ts'
import { TTL_ATTRIBUTE } from '../../lib/index.ts'
import { onlyResource, resourcesOf, synthesize } from './templates.ts'

const { data } = synthesize()
const TABLE = 'AWS::DynamoDB::GlobalTable'

describe('the idempotency table', () => {
  const [, { Properties: table }] = onlyResource(data, TABLE, 'IdempotencyTable')

  test('has the keys under which the store writes', () => {
    expect(table.KeySchema).toEqual([
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ])
    expect(table.AttributeDefinitions).toEqual(
      expect.arrayContaining([
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ]),
    )
  })

  test("expires by the runtime's own attribute", () => {
    expect(table.TimeToLiveSpecification).toEqual({ AttributeName: TTL_ATTRIBUTE, Enabled: true })
  })
})

describe('the idempotency table, beyond its records', () => {
  const [, { Properties: table }] = onlyResource(data, TABLE, 'IdempotencyTable')

  test('shows what is written to whoever sends the messages of commits', () => {
    expect(table.StreamSpecification).toEqual({ StreamViewType: 'NEW_IMAGE' })
  })

  test('has the index in which the reconciler looks', () => {
    expect(table.GlobalSecondaryIndexes).toMatchObject([{ IndexName: INDEX_NAME }])
  })
})

test.each([
  ['LedgerTable', ['account', 'sequence']],
  ['BalancesTable', ['account']],
])('%s is keyed by %j, and forgets nothing', (id, keys) => {
  const [, { Properties: table }] = onlyResource(data, TABLE, id)
  expect(table.KeySchema.map(({ AttributeName }: { AttributeName: string }) => AttributeName)).toEqual(keys)
  expect(table).not.toHaveProperty('TimeToLiveSpecification')
})

describe('the orders table', () => {
  const [, { Properties: table }] = onlyResource(data, TABLE, 'OrdersTable')

  test('is keyed by the order', () => {
    expect(table.KeySchema).toEqual([{ AttributeName: 'orderId', KeyType: 'HASH' }])
  })

  test('never expires an order', () => {
    expect(table).not.toHaveProperty('TimeToLiveSpecification')
  })
})

describe.each(resourcesOf(data, TABLE))('%s', (_, { Properties: table, ...policies }) => {
  test('survives its stack and an accidental deletion', () => {
    expect(policies).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' })
    expect(table.Replicas).toEqual([expect.objectContaining({ DeletionProtectionEnabled: true })])
  })

  test('can be restored to any point in time', () => {
    expect(table.Replicas[0].PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true })
  })

  test('is paid by request', () => {
    expect(table.BillingMode).toBe('PAY_PER_REQUEST')
  })

  test('lives in one region: two regions could both win a claim', () => {
    expect(table.Replicas).toHaveLength(1)
  })
})
