import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import type { CommitWrite, OperationRecord, RecordChange, StandingCondition, Store } from '../../lib/index.ts'
import { createTable } from './table.ts'

type Item = Record<string, unknown>

/** A store, and a user's own table beside it: accounts by their name. */
export interface Ledger {
  readonly store: Store
  /** The store's table. */
  readonly operations: string
  /** The user's table, with the partition key `account` and nothing else. */
  readonly accounts: string
  put(item: Item): Promise<void>
  get(account: string): Promise<Item | undefined>
  /** A write that adds to an account which has to be there. */
  add(account: string, amount: number): CommitWrite
  /** A record that is held, in the store. */
  heldRecord(): Promise<OperationRecord>
  /** Commits writes under a record, held by default. */
  commit(record: OperationRecord, writes: readonly CommitWrite[], through?: Store): ReturnType<Commit>
}
type Commit = Awaited<ReturnType<Store['prepare']>>['commit']

/** What the holder of `heldRecord` says of it. */
export const held: StandingCondition = { kind: 'held', token: 'token-a' }
export const completing: RecordChange = {
  status: 'COMPLETED',
  leaseUntil: undefined,
  expiresAt: 2_000_000_000,
  updatedAtMs: 1_700_000_000_000,
  outcome: { kind: 'value', value: { kind: 'text', text: '[1]' } },
  commitId: 'commit-a',
}

export const newToken = (): string => crypto.randomUUID()
export const newAccount = (): string => `account-${crypto.randomUUID()}`

export async function createLedger(client: DynamoDBClient): Promise<Ledger> {
  const documents = DynamoDBDocumentClient.from(client)
  const operations = await createTable(client)
  const accounts = `accounts-${crypto.randomUUID()}`
  await client.send(
    new CreateTableCommand({
      TableName: accounts,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'account', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'account', KeyType: 'HASH' }],
    }),
  )
  const store = dynamoStore({ tableName: operations, client })
  return {
    store,
    operations,
    accounts,
    async put(Item) {
      await documents.send(new PutCommand({ TableName: accounts, Item }))
    },
    async get(account) {
      const answer = await documents.send(
        new GetCommand({ TableName: accounts, Key: { account }, ConsistentRead: true }),
      )
      return answer.Item
    },
    add: (account, amount) => ({
      Update: {
        TableName: accounts,
        Key: { account },
        UpdateExpression: 'ADD balance :amount',
        ConditionExpression: 'attribute_exists(account)',
        ExpressionAttributeValues: { ':amount': amount },
      },
    }),
    async heldRecord() {
      const nowMs = Date.now()
      const record: OperationRecord = {
        id: `ledger#${crypto.randomUUID()}`,
        status: 'IN_PROGRESS',
        attempt: 1,
        token: 'token-a',
        rev: 1,
        leaseUntil: nowMs + 60_000,
        takeover: 'auto',
        expiresAt: 2_000_000_000,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
        fingerprint: 'v1:f',
        steps: {},
        schema: 1,
      }
      await store.put(record, { kind: 'absent', moment: { nowMs, clockSkewMs: 0 } })
      return record
    },
    commit: async ({ id }, writes, through = store) =>
      (await through.prepare(id, writes, [])).commit(completing, held, newToken()),
  }
}
