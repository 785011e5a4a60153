import { afterAll, describe, inject, test } from 'vitest'
import { cachedStore } from '../../lib/cache/index.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { groupContract, storeContract } from '../../lib/store-contract/index.ts'
import { createTable, localClient } from '../stores/table.ts'

describe('a cache over the memory store', () => {
  for (const { name, check } of storeContract) test(name, () => check(cachedStore(memoryStore())))
})

describe('a cache over the DynamoDB store, on the real engine', async () => {
  const client = localClient(inject('dynamoDbEndpoint'))
  const store = cachedStore(dynamoStore({ tableName: await createTable(client), client }))
  for (const { name, check } of [...storeContract, ...groupContract]) test(name, () => check(store))
  afterAll(() => client.destroy())
})
