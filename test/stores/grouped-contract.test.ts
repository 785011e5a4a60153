import { afterAll, describe, expect, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { groupContract, storeContract } from '../../lib/store-contract/index.ts'
import { accompanied, groupingMemoryStore } from './accompanied.ts'
import { createTable } from './table.ts'
import { watchedClient } from './wire.ts'

describe('a store in memory that sends writes together, each with a companion', () => {
  for (const { name, check } of storeContract) test(name, () => check(accompanied(groupingMemoryStore())))
})

describe('a store in memory that sends writes together', () => {
  for (const { name, check } of groupContract) test(name, () => check(groupingMemoryStore()))
})

describe('the DynamoDB store, grouped, on the real engine', async () => {
  const { client, sent } = watchedClient(inject('dynamoDbEndpoint'))
  const store = dynamoStore({ tableName: await createTable(client), client })
  for (const { name, check } of storeContract) test(name, () => check(accompanied(store)))
  for (const { name, check } of groupContract) test(name, () => check(store))

  test('has sent batches of statements, and read what stood against them in batches', () => {
    expect(new Set(sent)).toContain('BatchExecuteStatement')
    expect(new Set(sent)).toContain('BatchGetItem')
  })
  afterAll(() => client.destroy())
})
