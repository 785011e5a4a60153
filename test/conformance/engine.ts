import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createTable, localClient } from '../stores/table.ts'

/** The engine whose behaviour is pinned: the local one, or a real table. */
export interface EngineUnderTest {
  readonly client: DynamoDBDocumentClient
  readonly TableName: string
  /** The key of an item that nobody else uses. */
  key(): { readonly pk: string; readonly sk: string }
}

/**
 * `CONFORMANCE_TABLE=my-table npm test -- test/conformance` pins a real table of the toolkit's shape, with the region
 * and credentials of the environment. What is written there expires after an hour.
 */
export async function engineUnderTest(localEndpoint: string): Promise<EngineUnderTest> {
  const named = process.env.CONFORMANCE_TABLE
  const base = named === undefined ? localClient(localEndpoint) : new DynamoDBClient({})
  return {
    client: DynamoDBDocumentClient.from(base),
    TableName: named ?? (await createTable(base)),
    key: () => ({ pk: `conformance#${crypto.randomUUID()}`, sk: 'op' }),
  }
}

/** TTL removes what a run leaves in a real table. */
export const expiresAt = Math.floor(Date.now() / 1000) + 3_600
