import { describe, expect, inject, test } from 'vitest'
import { INDEX_ACTIONS, tableActions } from '../../infra/constructs/table/grants.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { INDEX_NAME } from '../../lib/dynamodb/table-shape.ts'
import { storeContract } from '../../lib/store-contract/index.ts'
import { createTable, localClient } from '../stores/table.ts'

describe('the calls of the store, recorded at its client while the whole contract runs', async () => {
  const onTable = new Set<string>()
  const onIndex = new Set<string>()
  const client = localClient(inject('dynamoDbEndpoint'))
  const tableName = await createTable(client)
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        const index = Reflect.get(args.input, 'IndexName')
        for (const action of actionsOf(String(commandName), args.input)) (index ? onIndex : onTable).add(action)
        expect(index ?? INDEX_NAME).toBe(INDEX_NAME)
        return next(args)
      },
    { step: 'initialize' },
  )
  const store = dynamoStore({ tableName, client })
  for (const { name, check } of storeContract) test(`${name}`, () => check(store))

  test('are what a reconciler is granted, whose code path has them all: none missing, none for nothing', () => {
    expect([...onTable].sort()).toEqual(tableActions({ reconciler: true }).sort())
    expect([...onIndex]).toEqual(INDEX_ACTIONS)
  })
})

/** What a call is authorised by: a transaction by each of its parts. */
function actionsOf(command: string, input: object): string[] {
  if (command !== 'TransactWriteItemsCommand') return [`dynamodb:${command.replace('Command', '')}`]
  const members: object[] = Reflect.get(input, 'TransactItems')
  return members.flatMap((member) => Object.keys(member)).map((kind) => TRANSACTION_ACTIONS[kind] ?? kind)
}

const TRANSACTION_ACTIONS: Readonly<Record<string, string>> = {
  Put: 'dynamodb:PutItem',
  Update: 'dynamodb:UpdateItem',
  Delete: 'dynamodb:DeleteItem',
  ConditionCheck: 'dynamodb:ConditionCheckItem',
}
