import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { describe, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { storeContract } from '../../lib/store-contract/index.ts'
import { createTable, localClient } from './table.ts'

const endpoint = inject('dynamoDbEndpoint')

function withStepsOfItsOwn(): DynamoDBClient {
  const client = localClient(endpoint)
  client.middlewareStack.add((next) => (args) => next(args), { step: 'serialize' })
  client.middlewareStack.add((next) => (args) => next(args), { step: 'deserialize' })
  return client
}

describe('the memory store', () => {
  for (const { name, check } of storeContract) test(name, () => check(memoryStore()))
})

describe.each([
  ['an ordinary client', () => localClient(endpoint)],
  [
    'a client that keeps what it resolved',
    () => new DynamoDBClient({ endpoint, maxAttempts: 3, cacheMiddleware: true }),
  ],
  // Known by what it can do: one of another copy of the SDK is no instance of this one's class either.
  ['a document client', () => DynamoDBDocumentClient.from(localClient(endpoint)) as unknown as DynamoDBClient],
  ['a client with steps of its own', withStepsOfItsOwn],
])('the DynamoDB store with %s, on the real engine', async (_kind, make) => {
  const store = dynamoStore({ tableName: await createTable(localClient(endpoint)), client: make() })
  for (const { name, check } of storeContract) test(name, () => check(store))
})
