import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** A client of the local engine. Region and credentials come from vitest.config.ts. */
export function localClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({ endpoint, maxAttempts: 3 })
}

/**
 * Makes a table of the toolkit's shape under a name nobody else uses. Its TTL is off: tests write records of the past,
 * which the engine would delete under them.
 */
export async function createTable(client: DynamoDBClient): Promise<string> {
  const TableName = `operations-${crypto.randomUUID()}`
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  )
  return TableName
}
