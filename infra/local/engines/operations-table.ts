import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { INDEX_ATTRIBUTES, INDEX_NAME, INDEX_PARTITION_KEY, INDEX_SORT_KEY } from '../../../lib/dynamodb/table-shape.ts'

/**
 * Makes a table of the toolkit's shape, with the reconciler's index. Its TTL is off: what runs on a clock of its own
 * writes records of the past, which the engine would delete under it.
 */
export async function createOperationsTable(client: DynamoDBClient, name: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
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
}
