import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { inject } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, type IdempotencyOptions, type Operation } from '../../lib/index.ts'
import { type PowertoolsRecordsOptions, powertoolsRecords } from '../../lib/powertools/index.ts'
import { lambdaContext } from '../../lib/testing/index.ts'
import { createTable, localClient } from '../stores/table.ts'

export interface Order {
  readonly id: string
  readonly total: number
}

export const KEY_PREFIX = 'orders-function'
export const client: DynamoDBClient = localClient(inject('dynamoDbEndpoint'))
const documents = DynamoDBDocumentClient.from(client)

/** A table as Powertools documents it. */
export async function powertoolsTable(sortKey?: string): Promise<string> {
  const TableName = `idempotency-${crypto.randomUUID()}`
  const names = ['id', ...(sortKey === undefined ? [] : [sortKey])]
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      KeySchema: names.map((AttributeName, index) => ({ AttributeName, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
    }),
  )
  return TableName
}

export async function items(TableName: string): Promise<Record<string, unknown>[]> {
  const { Items = [] } = await documents.send(new ScanCommand({ TableName, ConsistentRead: true }))
  return Items
}

export interface SetUp {
  /** Of the old version's configuration and layer. */
  readonly config?: ConstructorParameters<typeof IdempotencyConfig>[0]
  readonly layer?: Readonly<Record<string, string>>
  /** Of the new version. */
  readonly records?: Partial<PowertoolsRecordsOptions<Order>>
  readonly core?: Partial<IdempotencyOptions>
  readonly sortKey?: string
}

/** One function in two versions, both of which run: the old one with the real Powertools, the new one with lambda-once. */
export async function twoVersions({ config, layer, records, core, sortKey }: SetUp = {}) {
  const tableName = await powertoolsTable(sortKey)
  const newTable = await createTable(client)
  const ran: string[] = []

  /** Each call is a sandbox of its own, with nothing in its memory. */
  function old(order: Order, work: () => unknown = () => undefined, remainingSeconds = 30) {
    const handler = makeIdempotent(
      async (_order: Order, _context: unknown) => {
        ran.push('old')
        return work() as never
      },
      {
        persistenceStore: new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client, ...layer }),
        config: new IdempotencyConfig({ eventKeyJmesPath: 'id', ...config }),
        keyPrefix: KEY_PREFIX,
      },
    )
    return handler(order, lambdaContext({ remainingSeconds }))
  }

  const previous = powertoolsRecords<Order>({
    tableName,
    client,
    keyPrefix: KEY_PREFIX,
    key: (order) => order.id,
    ...records,
  })
  const idempotency = createIdempotency({
    store: dynamoStore({ tableName: newTable, client }),
    namespace: 'orders',
    ...core,
  })

  function next(order: Order, work: (operation: Operation) => unknown = () => undefined) {
    return idempotency.run({ key: order.id, input: order }, (operation) =>
      previous.during(operation, order, () => {
        ran.push('new')
        return work(operation)
      }),
    )
  }

  return { tableName, newTable, old, next, ran, previous, idempotency, client }
}
