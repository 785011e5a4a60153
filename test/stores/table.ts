import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { INDEX_ATTRIBUTES, INDEX_NAME, INDEX_PARTITION_KEY, INDEX_SORT_KEY } from '../../lib/dynamodb/table-shape.ts'

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
        { AttributeName: INDEX_PARTITION_KEY, AttributeType: 'S' },
        { AttributeName: INDEX_SORT_KEY, AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: INDEX_NAME,
          KeySchema: [
            { AttributeName: INDEX_PARTITION_KEY, KeyType: 'HASH' },
            { AttributeName: INDEX_SORT_KEY, KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [...INDEX_ATTRIBUTES] },
        },
      ],
    }),
  )
  return TableName
}
