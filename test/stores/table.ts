import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createOperationsTable } from '../../infra/local/engines/operations-table.ts'

/** A client of the local engine. Region and credentials come from vitest.config.ts. */
export function localClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({ endpoint, maxAttempts: 3 })
}

/** Makes a table of the toolkit's shape under a name nobody else uses. */
export async function createTable(client: DynamoDBClient): Promise<string> {
  const name = `operations-${crypto.randomUUID()}`
  await createOperationsTable(client, name)
  return name
}
