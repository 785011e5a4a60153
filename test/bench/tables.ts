import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** Makes an on-demand table under a name nobody else uses, with string keys. */
export async function createTable(client: DynamoDBClient, keys: readonly [string, string?]): Promise<string> {
  const TableName = `bench-${crypto.randomUUID()}`
  const names = keys.filter((name) => name !== undefined)
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: names.map((AttributeName, index) => ({ AttributeName, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
    }),
  )
  return TableName
}
