import { BatchWriteItemCommand, DynamoDBClient, ScanCommand, type WriteRequest } from '@aws-sdk/client-dynamodb'
import pLimit from 'p-limit'

/** The most that one request may write. */
const AT_ONCE = 25
const PARALLEL = 8

/** Fills a table with copies of a record that lies in it, each under a key of its own. */
export async function fillTable(endpoint: string, tableName: string, records: number): Promise<void> {
  const client = new DynamoDBClient({ endpoint })
  const { Items: [sample] = [] } = await client.send(new ScanCommand({ TableName: tableName, Limit: 1 }))
  if (sample === undefined) throw new Error('an empty table has no record to copy')
  const keyName = 'pk' in sample ? 'pk' : 'id'
  const copyOf = (): WriteRequest => ({
    PutRequest: { Item: { ...sample, [keyName]: { S: `${sample[keyName]?.S?.slice(0, -36)}${crypto.randomUUID()}` } } },
  })
  const limit = pLimit(PARALLEL)
  const write = async (count: number) => {
    let left: WriteRequest[] = Array.from({ length: count }, copyOf)
    while (left.length > 0) {
      const command = new BatchWriteItemCommand({ RequestItems: { [tableName]: left } })
      left = (await client.send(command)).UnprocessedItems?.[tableName] ?? []
    }
  }
  const batches = Array.from({ length: Math.ceil(records / AT_ONCE) }, (_, index) =>
    Math.min(AT_ONCE, records - index * AT_ONCE),
  )
  await limit.map(batches, write)
  client.destroy()
}
