import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { describe, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { storeContract } from '../../lib/store-contract/index.ts'
import { createTable, localClient } from './table.ts'

describe('the memory store', () => {
  for (const { name, check } of storeContract) test(name, () => check(memoryStore()))
})

describe('the DynamoDB store, on the real engine', async () => {
  const client = localClient(inject('dynamoDbEndpoint'))
  const store = dynamoStore({ tableName: await createTable(client), client })
  for (const { name, check } of storeContract) test(name, () => check(store))
})

describe('the DynamoDB store with a client that keeps what it resolved, on the real engine', async () => {
  const endpoint = inject('dynamoDbEndpoint')
  const client = new DynamoDBClient({ endpoint, maxAttempts: 3, cacheMiddleware: true })
  const store = dynamoStore({ tableName: await createTable(client), client })
  for (const { name, check } of storeContract) test(name, () => check(store))
})
