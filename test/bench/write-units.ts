import {
  type ConsumedCapacity,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  type TransactWriteItem,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb'
import { itemSize } from '../../lib/commit/item-size.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { INDEX_SORT_KEY } from '../../lib/dynamodb/table-shape.ts'
import { type CommitPlan, createIdempotency, type Operation } from '../../lib/index.ts'
import { createTable } from '../stores/table.ts'

/** What one request has consumed. */
export interface RequestUnits {
  readonly action: string
  /** Write units of all tables and indexes together; of a transaction by DynamoDB's rule, of others as it says itself. */
  readonly units: number
  /** Those of the index `due` alone. */
  readonly indexUnits: number
}

/** The requests of one kind of operation, in order. */
export interface WriteUnits {
  readonly operation: string
  /** Whether a reconciler is used, so that the record and its messages are in the index. */
  readonly isIndexed: boolean
  readonly requests: readonly RequestUnits[]
}

type Work = (operation: Operation) => unknown

/** Measures the write units of each kind of operation, with and without a reconciler. */
export async function writeUnits(endpoint: string): Promise<WriteUnits[]> {
  const client = new DynamoDBClient({ endpoint })
  let requests: RequestUnits[] = []
  reportCapacity(client, (request) => requests.push(request))
  const tableName = await createTable(client)
  const users = await createUsersTable(client)
  const store = dynamoStore({ tableName, client })
  const measured: WriteUnits[] = []
  for (const isIndexed of [false, true]) {
    const idempotency = createIdempotency({
      store,
      namespace: 'bench',
      relay: true,
      reconcilerShards: isIndexed ? 4 : 0,
    })
    for (const [operation, work] of Object.entries(operations(users))) {
      requests = []
      await idempotency.run({ key: crypto.randomUUID(), scope: ['tenant'], input: { amount: 100 } }, work)
      measured.push({ operation, isIndexed, requests })
    }
  }
  client.destroy()
  return measured
}

function operations(users: string): Readonly<Record<string, Work>> {
  const puts = (count: number): CommitPlan['writes'] =>
    Array.from({ length: count }, () => ({ Put: { TableName: users, Item: { id: crypto.randomUUID(), total: 100 } } }))
  const committing =
    (plan: CommitPlan): Work =>
    ({ commit }) =>
      commit('done', plan)
  const messages = [{ to: { queueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/q' }, body: { order: 1 } }]
  return {
    'claim, complete': () => 'done',
    'claim, complete with an outcome of 1 KB': () => 'x'.repeat(1_000),
    'claim, one step, complete': ({ step }) => step('charge', () => ({ charge: 'ch_1' })),
    'claim, one step with a start mark, complete': ({ step }) =>
      step('mail', () => ({ mail: 'm_1' }), { onUnknown: 'stop' }),
    'claim, commit without writes': committing({}),
    'claim, commit with 1 small write': committing({ writes: puts(1) }),
    'claim, commit with 3 small writes': committing({ writes: puts(3) }),
    'claim, commit with 1 small write and a message': committing({ writes: puts(1), messages }),
    'claim, commit with 1 small write and a receipt': committing({ writes: puts(1), receipt: { charge: 'ch_1' } }),
  }
}

function reportCapacity(client: DynamoDBClient, report: (request: RequestUnits) => void): void {
  client.middlewareStack.add(
    (next, { commandName = '?' }) =>
      async (args) => {
        const action = commandName.replace('Command', '')
        const members = (args.input as TransactWriteItemsCommandInput).TransactItems
        if (members) {
          const before = await sizesOf(client, members)
          const answer = await next(args)
          report({ action, ...transactionUnits(members, before, await sizesOf(client, members)) })
          return answer
        }
        const input = { ...args.input, ReturnConsumedCapacity: 'INDEXES' }
        const answer = await next({ ...args, input })
        const { ConsumedCapacity: consumed } = answer.output as { ConsumedCapacity?: ConsumedCapacity }
        if (action === 'PutItem' || action === 'UpdateItem') {
          const indexUnits = sum(Object.values(consumed?.GlobalSecondaryIndexes ?? {}))
          report({ action, units: sum([consumed ?? {}]), indexUnits })
        }
        return answer
      },
    { step: 'initialize', priority: 'low' },
  )
}

/**
 * DynamoDB Local says 4 units a table, however many items a transaction has in it. In DynamoDB each item costs two for
 * every KB of the larger of its sizes before and after; entries of an index are written as by ordinary writes.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-capacity-handling
 */
function transactionUnits(members: readonly TransactWriteItem[], before: readonly number[], after: readonly number[]) {
  const table = members.map((_, index) => 2 * Math.ceil(Math.max(before[index] ?? 0, after[index] ?? 0) / 1024))
  const indexed = members.filter(({ Put, Update }) => {
    return Put?.Item?.[INDEX_SORT_KEY] ?? Object.values(Update?.ExpressionAttributeNames ?? {}).includes(INDEX_SORT_KEY)
  })
  return { units: table.reduce((total, units) => total + units, 0) + indexed.length, indexUnits: indexed.length }
}

/** How large each item is now: that of a put as it is sent, that of an update as it lies there. */
function sizesOf(client: DynamoDBClient, members: readonly TransactWriteItem[]): Promise<number[]> {
  return Promise.all(
    members.map(async ({ Put, Update }) => {
      if (Put?.Item) return itemSize(Put.Item)
      const { Item = {} } = await client.send(new GetItemCommand({ TableName: Update?.TableName, Key: Update?.Key }))
      return itemSize(Item)
    }),
  )
}

function sum(capacities: readonly { readonly CapacityUnits?: number | undefined }[]): number {
  return capacities.reduce((total, { CapacityUnits = 0 }) => total + CapacityUnits, 0)
}

async function createUsersTable(client: DynamoDBClient): Promise<string> {
  const TableName = `users-${crypto.randomUUID()}`
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  )
  return TableName
}
