import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency } from '../../lib/index.ts'

/** The requests of one operation, as they go out on the wire. */
export interface RequestCount {
  readonly operation: string
  readonly requests: readonly string[]
}

/** Counts the requests of a first execution and of a duplicate, for outcomes of several sizes. */
export async function requestCounts(endpoint: string): Promise<RequestCount[]> {
  const client = new DynamoDBClient({ endpoint })
  const tableName = await createTable(client)
  let sent: string[] = []
  client.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> }
      sent.push(headers['x-amz-target']?.split('.')[1] ?? '?')
      return next(args)
    },
    { step: 'deserialize', priority: 'low' },
  )
  const idempotency = createIdempotency({ store: dynamoStore({ tableName, client }), namespace: 'bench' })
  const counts: RequestCount[] = []
  for (const [size, value] of Object.entries(outcomes())) {
    for (const operation of ['first execution', 'duplicate']) {
      sent = []
      await idempotency.run({ key: size, input: size }, () => value)
      counts.push({ operation: `${operation}, ${size}`, requests: sent })
    }
  }
  client.destroy()
  return counts
}

function outcomes(): Record<string, string> {
  const text = (length: number) =>
    Array.from({ length: length / 10 }, () => Math.random().toString(36).slice(2, 12)).join('')
  return { 'small outcome': 'done', '50 KB outcome': text(50_000), '1 MB outcome': text(1_000_000) }
}

async function createTable(client: DynamoDBClient): Promise<string> {
  const TableName = `bench-${crypto.randomUUID()}`
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  )
  return TableName
}
