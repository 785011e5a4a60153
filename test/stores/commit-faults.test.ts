import { type DynamoDBClient, TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import type { Store } from '../../lib/index.ts'
import { completing, createLedger, held, type Ledger, newAccount, newToken } from './ledger.ts'
import { startLostAnswerProxy } from './lost-answer-proxy.ts'
import { localClient } from './table.ts'

let client: DynamoDBClient
let ledger: Ledger

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  ledger = await createLedger(client)
})
afterAll(() => client.destroy())

async function accountOf(balance = 0): Promise<string> {
  const account = newAccount()
  await ledger.put({ account, balance })
  return account
}

describe('an answer to a commit that was lost after it was written', () => {
  test.each([
    ['is repeated by the SDK with the same request token', 1, ['applied']],
    ['is repeated by the caller with the same request token, when the SDK has given up', 3, ['STORE', 'applied']],
    ['is repeated again and again', 6, ['STORE', 'STORE', 'applied']],
  ])('%s: everything is written once', async (_name, lost, expected) => {
    const account = await accountOf()
    const record = await ledger.heldRecord()
    const proxy = await startLostAnswerProxy(inject('dynamoDbEndpoint'))
    const lossy = localClient(proxy.endpoint)
    const store = dynamoStore({ tableName: ledger.operations, client: lossy })
    const prepared = await store.prepare(record.id, [ledger.add(account, 1)], [{ sk: 'outbox#1', attributes: {} }])
    const token = newToken()
    proxy.drop(lost, 'DynamoDB_20120810.TransactWriteItems')
    const answers: string[] = []
    while (answers.at(-1) !== 'applied' && answers.length < 5) {
      answers.push(
        await prepared.commit(completing, held, token).then(
          ({ kind }) => kind,
          (error) => (error.retryable ? error.code : error),
        ),
      )
    }
    expect(answers).toEqual(expected)
    expect(proxy.dropped).toBe(lost)
    expect(await ledger.get(account)).toEqual({ account, balance: 1 })
    expect(await ledger.store.get(record.id)).toMatchObject({ status: 'COMPLETED', rev: 2 })
    lossy.destroy()
    await proxy.stop()
  })

  test('is told by the record once the token is no longer known to DynamoDB', async () => {
    const account = await accountOf()
    const record = await ledger.heldRecord()
    const prepared = await ledger.store.prepare(record.id, [ledger.add(account, 1)], [])
    await prepared.commit(completing, held, newToken())
    // Ten minutes later the same request counts as a new one, as this one with another token does.
    const answer = await prepared.commit(completing, held, newToken())
    expect(answer).toMatchObject({ kind: 'refused', existing: { status: 'COMPLETED', commitId: 'commit-a' } })
    expect(await ledger.get(account)).toEqual({ account, balance: 1 })
  })
})

/** A client that answers the next transactions with errors, and passes everything else on. */
function failing(...errors: Error[]): DynamoDBClient {
  return new Proxy(client, {
    get(target, name) {
      if (name !== 'send') return Reflect.get(target, name)
      return (command: { constructor: { name: string } }, ...rest: unknown[]) => {
        const isTransaction = command.constructor.name === 'TransactWriteItemsCommand'
        const error = isTransaction ? errors.shift() : undefined
        return error ? Promise.reject(error) : Reflect.apply(target.send, target, [command, ...rest])
      }
    },
  })
}

/** As the SDK throws it: read off a real cancellation, with the reasons that DynamoDB Local never gives. */
const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    $metadata: { httpStatusCode: 400, attempts: 1, requestId: 'r' },
    message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
    CancellationReasons: codes.map((Code) => (Code === 'None' ? { Code } : { Code, Message: `${Code}!` })),
  })
const serviceError = (name: string, httpStatusCode = 400) =>
  Object.assign(new Error(`${name}!`), { name, $fault: 'client', $metadata: { httpStatusCode, attempts: 3 } })

async function failingOnce(error: Error) {
  const account = await accountOf()
  const record = await ledger.heldRecord()
  const store = dynamoStore({ tableName: ledger.operations, client: failing(error) })
  const prepared = await store.prepare(record.id, [ledger.add(account, 1)], [])
  const token = newToken()
  const first = await prepared.commit(completing, held, token).catch((thrown: unknown) => thrown)
  const second = await prepared.commit(completing, held, token)
  return { first, second, item: await ledger.get(account) }
}

describe('a commit that was refused for a while', () => {
  test.each([
    ['a conflict on the record', cancelled('TransactionConflict', 'None')],
    ['a conflict on an item', cancelled('None', 'TransactionConflict')],
    ['a throttled partition', cancelled('None', 'ThrottlingError')],
    ['too little provisioned throughput', cancelled('ProvisionedThroughputExceeded', 'None')],
    ['a condition beside a conflict on the record', cancelled('TransactionConflict', 'ConditionalCheckFailed')],
    ['a cancellation without reasons', cancelled()],
    ['the same transaction still in progress', serviceError('TransactionInProgressException')],
    ['throttling of the request', serviceError('ThrottlingException')],
    ['provisioned throughput', serviceError('ProvisionedThroughputExceededException')],
    ['a time-out', Object.assign(new Error('socket'), { name: 'TimeoutError' })],
    ['an inner error of the service', serviceError('InternalServerError', 500)],
  ])('%s: may be repeated with the same token, and is written once', async (_name, error) => {
    const { first, second, item } = await failingOnce(error)
    expect(first).toMatchObject({ code: 'STORE', retryable: true })
    expect(second).toEqual({ kind: 'applied', skipped: [] })
    expect(item).toMatchObject({ balance: 1 })
  })
})

describe('a commit that was refused for good', () => {
  test.each([
    [
      'an index that is full',
      cancelled('None', 'ItemCollectionSizeLimitExceeded'),
      /cancelled the transaction: ItemColl/,
    ],
    [
      'other content under the same token',
      serviceError('IdempotentParameterMismatchException'),
      /An earlier try of this commit was sent with other content/,
    ],
    [
      'a permission that lacks',
      serviceError('AccessDeniedException'),
      /grant it dynamodb:UpdateItem and dynamodb:PutItem on the table, .*PutItem, UpdateItem, DeleteItem or ConditionCheckItem/,
    ],
  ])('%s: says so, and is not to be repeated', async (_name, error, message) => {
    const { first } = await failingOnce(error)
    expect(first).toMatchObject({ code: 'STORE', retryable: false, message: expect.stringMatching(message) })
  })

  test('an update that does not fit the item it meets is named by its place in the list', async () => {
    const { first } = await failingOnce(cancelled('None', 'ValidationError'))
    expect(first).toMatchObject({ name: 'InvalidInputError', message: 'writes[0] was refused: ValidationError!' })
  })

  test('a condition that failed beside a conflict on another item is final, and told at once', async () => {
    const record = await ledger.heldRecord()
    const reasons = cancelled('None', 'ConditionalCheckFailed', 'TransactionConflict')
    const store = dynamoStore({ tableName: ledger.operations, client: failing(reasons) })
    const writes = [ledger.add(await accountOf(), 1), ledger.add(await accountOf(), 1)]
    expect(await ledger.commit(record, writes, store)).toEqual({
      kind: 'conflict',
      conflicts: [{ index: 0, isStale: false }],
    })
  })

  test('the record is read when a cancellation brings no item of it', async () => {
    const record = await ledger.heldRecord()
    const store = dynamoStore({ tableName: ledger.operations, client: failing(cancelled('ConditionalCheckFailed')) })
    expect(await ledger.commit(record, [], store)).toEqual({ kind: 'refused', existing: record })
  })
})

test('DynamoDB itself refuses other content under a token that it knows', async () => {
  const token = newToken()
  const record = await ledger.heldRecord()
  const prepared = (account: string) => ledger.store.prepare(record.id, [ledger.add(account, 1)], [])
  await (await prepared(await accountOf())).commit(completing, held, token)
  const other = await prepared(await accountOf())
  await expect(other.commit(completing, held, token)).rejects.toMatchObject({
    code: 'STORE',
    retryable: false,
  })
})

describe('a role that lacks a permission', () => {
  test.each<[string, (store: Store) => Promise<unknown>]>([
    ['PutItem', (store) => store.putBeside('id', { sk: 'receipt#1', attributes: {} })],
    ['UpdateItem', (store) => store.update('id', completing, held)],
    ['GetItem', (store) => store.get('id')],
    ['Query', (store) => store.listDue('n#0', 0, 1)],
    ['BatchGetItem', (store) => store.getParts('id', 1)],
  ])('%s: is told which one', async (action, call) => {
    const denied = localClient(inject('dynamoDbEndpoint'))
    denied.middlewareStack.add(() => () => Promise.reject(serviceError('AccessDeniedException')), { step: 'build' })
    const store = dynamoStore({ tableName: ledger.operations, client: denied })
    await expect(call(store)).rejects.toMatchObject({
      code: 'STORE',
      retryable: false,
      message: expect.stringMatching(`The function's role may not do this: grant it dynamodb:${action} on the table`),
    })
    denied.destroy()
  })
})
