import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { AttributeType, StreamViewType, Table, type TableProps, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { describe, expect, test } from 'vitest'
import {
  IdempotencyTable,
  IdempotentFunction,
  IdempotentQueue,
  OutboxRelay,
  Reconciler,
} from '../../../infra/constructs/index.ts'
import { TTL_ATTRIBUTE } from '../../../lib/index.ts'
import { ENTRY, grantsOf, newStack, only, plainFunction, refusal, warnings } from './set-up.ts'

const TABLE = 'AWS::DynamoDB::GlobalTable'
const KEYS = {
  partitionKey: { name: 'pk', type: AttributeType.STRING },
  sortKey: { name: 'sk', type: AttributeType.STRING },
}

describe('a new table', () => {
  test('has the keys and the TTL attribute of the store, and no name, stream or index', () => {
    const stack = newStack()
    new IdempotencyTable(stack, 'Table')
    const { properties } = only(stack, TABLE)
    expect(properties).toMatchObject({
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      TimeToLiveSpecification: { AttributeName: TTL_ATTRIBUTE, Enabled: true },
      BillingMode: 'PAY_PER_REQUEST',
    })
    for (const name of ['TableName', 'StreamSpecification', 'GlobalSecondaryIndexes']) {
      expect(properties).not.toHaveProperty(name)
    }
    expect(warnings(stack)).toEqual([])
  })

  test('has a stream of new images when asked for', () => {
    const stack = newStack()
    new IdempotencyTable(stack, 'Table', { stream: true })
    expect(only(stack, TABLE).properties.StreamSpecification).toEqual({ StreamViewType: 'NEW_IMAGE' })
  })

  test('has the sparse index of the reconciler when asked for, with no more in it than it reads', () => {
    const stack = newStack()
    new IdempotencyTable(stack, 'Table', { reconcilerIndex: true })
    expect(only(stack, TABLE).properties.GlobalSecondaryIndexes).toEqual([
      {
        IndexName: 'due',
        KeySchema: [
          { AttributeName: 'dueShard', KeyType: 'HASH' },
          { AttributeName: 'dueAtMs', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['status'] },
      },
    ])
  })

  test('that can be lost is warned of, at the construct', () => {
    const stack = newStack()
    new IdempotencyTable(stack, 'Table', { removalPolicy: RemovalPolicy.DESTROY, deletionProtection: false })
    expect(warnings(stack)).toEqual(['/Stack/Table lambda-once:records-can-be-lost'])
  })

  test('with replicas is refused, unless each operation has one home region', () => {
    const replicas = [{ region: 'eu-west-1' }]
    const stack = newStack()
    new IdempotencyTable(stack, 'Table', { replicas })
    expect(refusal(stack)).toMatch(/\[Stack\/Table\] The table has 2 regions/)
    const acknowledged = newStack()
    new IdempotencyTable(acknowledged, 'Table', { replicas, acknowledgeHomeRegion: true })
    expect(refusal(acknowledged)).toBe('')
  })
})

describe('a table brought along', () => {
  test('of this app is checked: keys, TTL attribute and index', () => {
    const stack = newStack()
    const table = new TableV2(stack, 'Own', { partitionKey: { name: 'id', type: AttributeType.STRING } })
    const idempotencyTable = new IdempotencyTable(stack, 'Table', { table })
    new Reconciler(stack, 'Reconciler', { table: idempotencyTable, entry: ENTRY })
    const reasons = refusal(stack)
    expect(reasons).toContain('[Stack/Table] The table has 1 keys (id (S))')
    expect(reasons).toContain('expires by 0 attributes')
    expect(reasons).toContain('not the 1 it needs ("due")')
  })

  test('that fits is used as it is', () => {
    const stack = newStack()
    const table = new TableV2(stack, 'Own', { ...KEYS, timeToLiveAttribute: 'expiresAt', deletionProtection: true })
    expect(new IdempotencyTable(stack, 'Table', { table }).table).toBe(table)
    expect(refusal(stack)).toBe('')
  })

  test.each<[string, Partial<TableProps>, string[]]>([
    ['fits', {}, []],
    ['has another TTL attribute', { timeToLiveAttribute: 'ttl' }, ['other-ttl-attribute']],
    ['has a number for its sort key', { sortKey: { name: 'sk', type: AttributeType.NUMBER } }, ['other-keys']],
    ['carries only keys in its stream', { stream: StreamViewType.KEYS_ONLY }, ['no-stream']],
  ])('made by the older Table construct that %s is checked, too', (_, props, ids) => {
    const stack = newStack()
    const own = new Table(stack, 'Own', {
      ...KEYS,
      timeToLiveAttribute: 'expiresAt',
      stream: StreamViewType.NEW_IMAGE,
      deletionProtection: true,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      ...props,
    })
    const table = new IdempotencyTable(stack, 'Table', { table: own })
    new OutboxRelay(stack, 'Relay', { table, entry: ENTRY, acknowledgeNoReconciler: true })
    expect(refusal(stack).match(/lambda-once:[\w-]+/g) ?? []).toEqual(ids.map((id) => `lambda-once:${id}`))
    if (ids.length === 0) expect(warnings(stack)).toEqual([])
  })

  test('and imported is taken at its word', () => {
    const stack = newStack()
    const table = TableV2.fromTableName(stack, 'Imported', 'records')
    const { environment } = new IdempotencyTable(stack, 'Table', { table })
    plainFunction(stack, 'Plain', { environment })
    expect(refusal(stack)).toBe('')
    expect(stack.resolve(environment.IDEMPOTENCY_TABLE)).toBe('records')
  })

  test('cannot be changed here', () => {
    const stack = newStack()
    const table = TableV2.fromTableName(stack, 'Imported', 'records')
    expect(() => new IdempotencyTable(stack, 'Table', { table, stream: true, replicas: [] })).toThrow(
      '[Stack/Table] table is brought along, so stream, replicas cannot be set here',
    )
  })
})

describe('retention', () => {
  const DAY = 86_400
  const HOUR = 3_600
  const retentionOf = (stack: Stack, table: IdempotencyTable) => stack.resolve(table.retentionSeconds)

  test('is a day without a queue', () => {
    const stack = newStack()
    expect(retentionOf(stack, new IdempotencyTable(stack, 'Table'))).toBe(String(DAY))
  })

  test('outlives the longest redelivery of all queues by an hour, and reaches functions made before them', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    const consumer = new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table })
    new IdempotentQueue(stack, 'Short', { consumer, deadLetterRetentionPeriod: Duration.days(5) })
    new IdempotentQueue(stack, 'Long', { consumer, retentionPeriod: Duration.days(6) })
    const { properties } = only(stack, 'AWS::Lambda::Function', /^Worker/)
    expect(properties.Environment.Variables.RETENTION_SECONDS).toBe(String(20 * DAY + HOUR))
  })

  test('counts the time in a FIFO queue twice: the count starts anew in its dead letters', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    const consumer = new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table })
    new IdempotentQueue(stack, 'Queue', { consumer, fifo: true })
    expect(retentionOf(stack, table)).toBe(String(22 * DAY + HOUR))
  })

  test('that is given is held against the queues, and refused when a message can come again after it', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table', { retention: Duration.days(7) })
    const consumer = new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table })
    new IdempotentQueue(stack, 'Queue', { consumer })
    expect(refusal(stack)).toContain(
      `[Stack/Queue] A record protects for ${7 * DAY} s, but a message can come again for ${18 * DAY} s`,
    )
  })

  test('crosses stacks as a number, without an export', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    const service = new Stack(stack.node.root, 'Service', { env: { account: '123456789012', region: 'eu-central-1' } })
    const consumer = new IdempotentFunction(service, 'Worker', { entry: ENTRY, table })
    new IdempotentQueue(service, 'Queue', { consumer })
    const { properties } = only(service, 'AWS::Lambda::Function', /^Worker/)
    expect(properties.Environment.Variables.RETENTION_SECONDS).toBe(String(18 * DAY + HOUR))
  })
})

describe('grants', () => {
  const STORE = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem']
  const PARTIQL = ['dynamodb:PartiQLInsert', 'dynamodb:PartiQLUpdate']

  test.each([
    [{}, { Table: STORE }],
    [{ groupCommit: true }, { Table: [...STORE, ...PARTIQL].sort() }],
    [{ receipts: true }, { Table: [...STORE, 'dynamodb:Query'].sort() }],
    [{ reconciler: true }, { Table: [...STORE, 'dynamodb:Query'].sort(), 'Table/index/due': ['dynamodb:Query'] }],
  ])('of %j are exactly what that code path does', (options, expected) => {
    const stack = newStack()
    const fn = plainFunction(stack)
    new IdempotencyTable(stack, 'Table', { reconcilerIndex: true }).grantIdempotency(fn, options)
    expect(grantsOf(stack, 'Plain')).toEqual(expected)
  })

  test('of a person are to read, and to act as well when that is said', () => {
    const stack = newStack()
    const encryptionKey = new Key(stack, 'Key')
    const table = new IdempotencyTable(stack, 'Table', { encryptionKey })
    const assumedBy = new AccountRootPrincipal()
    table.grantInspect(new Role(stack, 'Reader', { assumedBy }))
    table.grantOperate(new Role(stack, 'Operator', { assumedBy }))
    const reading = grantsOf(stack, 'Reader')
    expect(reading.Table).toEqual([
      'dynamodb:BatchGetItem',
      'dynamodb:DescribeContinuousBackups',
      'dynamodb:DescribeTable',
      'dynamodb:DescribeTimeToLive',
      'dynamodb:GetItem',
      'dynamodb:Query',
      'dynamodb:Scan',
    ])
    expect(reading['Table/index/due']).toEqual(['dynamodb:Query', 'dynamodb:Scan'])
    expect(reading.Key).toEqual(['kms:Decrypt', 'kms:DescribeKey'])
    expect(grantsOf(stack, 'Operator').Table).toEqual(
      [...(reading.Table ?? []), 'dynamodb:PutItem', 'dynamodb:UpdateItem'].sort(),
    )
  })

  test('are shared requests for what a queue feeds, unless its application has them off', () => {
    const feed = (groupCommit?: boolean) => {
      const stack = newStack()
      const table = new IdempotencyTable(stack, 'Table')
      const props = { entry: ENTRY, table, ...(groupCommit !== undefined && { groupCommit }) }
      new IdempotentQueue(stack, 'Queue', { consumer: new IdempotentFunction(stack, 'Worker', props) })
      return grantsOf(stack, 'WorkerRole').Table
    }
    expect(feed()).toEqual([...STORE, 'dynamodb:PartiQLInsert', 'dynamodb:PartiQLUpdate'].sort())
    expect(feed(true)).toEqual([...STORE, 'dynamodb:PartiQLInsert', 'dynamodb:PartiQLUpdate'].sort())
    expect(feed(false)).toEqual(STORE)
  })

  test('include the key of a table that has one, and no other', () => {
    const stack = newStack()
    const encryptionKey = new Key(stack, 'Key')
    const fn = plainFunction(stack)
    new IdempotencyTable(stack, 'Table', { encryptionKey }).grantIdempotency(fn)
    expect(grantsOf(stack, 'Plain')).toEqual({
      Table: STORE,
      Key: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
    })
    expect(only(stack, TABLE).properties.Replicas[0].SSESpecification).toEqual({
      KMSMasterKeyId: { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] },
    })
  })
})
