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
