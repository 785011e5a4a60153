import { BatchExecuteStatementCommand, type BatchStatementRequest } from '@aws-sdk/client-dynamodb'
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, inject, test } from 'vitest'
import { INDEX_NAME, INDEX_PARTITION_KEY, INDEX_SORT_KEY } from '../../lib/dynamodb/table-shape.ts'
import { engineUnderTest, expiresAt } from './engine.ts'

const { client, TableName, key } = await engineUnderTest(inject('dynamoDbEndpoint'))

const ABSENT = 'attribute_not_exists(pk)'
const ALL_OLD = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const

async function stored(attributes: Record<string, unknown> = {}) {
  const Item = { ...key(), n: 1, expiresAt, ...attributes }
  await client.send(new PutCommand({ TableName, Item }))
  return Item
}

const read = async ({ pk, sk }: { pk: string; sk: string }) =>
  (await client.send(new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }))).Item

const errorOf = (promise: Promise<unknown>): Promise<{ name: string } & Record<string, unknown>> =>
  promise.then(
    () => ({ name: 'no error' }),
    (error) => error,
  )

describe('a conditional write that fails', () => {
  test('is an error that brings the item, marshalled, for put, update and delete', async () => {
    const there = await stored()
    const { pk, sk } = there
    const writes = [
      new PutCommand({ TableName, Item: { pk, sk, n: 2 }, ConditionExpression: ABSENT, ...ALL_OLD }),
      new UpdateCommand({
        TableName,
        Key: { pk, sk },
        UpdateExpression: 'SET n = :two',
        ConditionExpression: 'n = :two',
        ExpressionAttributeValues: { ':two': 2 },
        ...ALL_OLD,
      }),
      new DeleteCommand({
        TableName,
        Key: { pk, sk },
        ConditionExpression: 'n = :two',
        ExpressionAttributeValues: { ':two': 2 },
        ...ALL_OLD,
      }),
    ]
    for (const write of writes) {
      const error = await errorOf(client.send(write as PutCommand))
      expect(error).toMatchObject({ name: 'ConditionalCheckFailedException', Item: { n: { N: '1' }, pk: { S: pk } } })
    }
    expect(await read(there)).toEqual(there)
  })

  test('brings no item where there is none, and an update creates none', async () => {
    const Key = key()
    const update = new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: 'SET n = :two',
      ConditionExpression: 'n = :two',
      ExpressionAttributeValues: { ':two': 2 },
      ...ALL_OLD,
    })
    const error = await errorOf(client.send(update))
    expect(error.name).toBe('ConditionalCheckFailedException')
    expect(error.Item).toBeUndefined()
    expect(await read(Key)).toBeUndefined()
  })

  test('lets one of many through', async () => {
    const Item = { ...key(), expiresAt }
    const puts = Array.from({ length: 20 }, (_, n) =>
      errorOf(client.send(new PutCommand({ TableName, Item: { ...Item, n }, ConditionExpression: ABSENT }))),
    )
    const names = (await Promise.all(puts)).map(({ name }) => name)
    expect(names.filter((name) => name === 'no error')).toHaveLength(1)
    expect(new Set(names)).toEqual(new Set(['no error', 'ConditionalCheckFailedException']))
  })
})

describe('a transaction', () => {
  test('that is cancelled names a reason for each write in order, brings the items, and writes nothing', async () => {
    const there = await stored()
    const { pk, sk } = there
    const other = { ...key(), expiresAt }
    const error = await errorOf(
      client.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName, Item: other } },
            { Put: { TableName, Item: { pk, sk }, ConditionExpression: ABSENT, ...ALL_OLD } },
          ],
        }),
      ),
    )
    expect(error.name).toBe('TransactionCanceledException')
    expect(error.CancellationReasons).toMatchObject([
      { Code: 'None' },
      { Code: 'ConditionalCheckFailed', Item: { n: { N: '1' } } },
    ])
    expect(await read(other)).toBeUndefined()
  })

  test('under the same request token is written once, and answered both times', async () => {
    const { pk, sk } = await stored()
    const send = (by: number) =>
      client.send(
        new TransactWriteCommand({
          ClientRequestToken: pk.slice(-36),
          TransactItems: [
            {
              Update: {
                TableName,
                Key: { pk, sk },
                UpdateExpression: 'ADD n :by',
                ExpressionAttributeValues: { ':by': by },
              },
            },
          ],
        }),
      )
    await send(1)
    await send(1)
    expect(await read({ pk, sk })).toMatchObject({ n: 2 })
    expect((await errorOf(send(5))).name).toBe('IdempotentParameterMismatchException')
  })

  test('refuses two writes on one item, and more than a hundred', async () => {
    const Item = { ...key(), expiresAt }
    const put = { Put: { TableName, Item } }
    expect((await errorOf(client.send(new TransactWriteCommand({ TransactItems: [put, put] })))).name).toBe(
      'ValidationException',
    )
    const many = Array.from({ length: 101 }, () => ({ Put: { TableName, Item: { ...key(), expiresAt } } }))
    expect((await errorOf(client.send(new TransactWriteCommand({ TransactItems: many })))).name).toBe(
      'ValidationException',
    )
    expect(await read(Item)).toBeUndefined()
  })
})

describe('a batch of statements', () => {
  type Key = { readonly pk: string; readonly sk: string }
  const insert = ({ pk, sk }: Key, table = TableName) => ({
    Statement: `INSERT INTO "${table}" VALUE {'pk': ?, 'sk': ?, 'expiresAt': ?}`,
    Parameters: [{ S: pk }, { S: sk }, { N: String(expiresAt) }],
    ...ALL_OLD,
  })
  const update = ({ pk, sk }: Key, n: number) => ({
    Statement: `UPDATE "${TableName}" SET "status" = ? SET "n" = ? REMOVE "token" REMOVE "none" WHERE "pk" = ? AND "sk" = ? AND "n" = ?`,
    Parameters: [{ S: 'done' }, { N: String(n + 1) }, { S: pk }, { S: sk }, { N: String(n) }],
    ...ALL_OLD,
  })
  const send = async (...Statements: BatchStatementRequest[]) => {
    const { Responses = [] } = await client.send(new BatchExecuteStatementCommand({ Statements }))
    return Responses.map(({ Error: error }) => error)
  }

  test('answers for each under one success, and a failed one does not take the others along', async () => {
    const there = await stored()
    const other = key()
    expect((await send(insert(there), insert(other))).map((error) => error?.Code)).toEqual(['DuplicateItem', undefined])
    expect(await read(there)).toEqual(there)
    expect(await read(other)).toMatchObject(other)
  })

  test('brings no item for one that is there already, and for a failed condition the item or none', async () => {
    const there = await stored()
    const [duplicate, failed, absent] = await send(insert(there), update(await stored({ n: 5 }), 1), update(key(), 1))
    expect(duplicate?.Item).toBeUndefined()
    expect([failed?.Code, absent?.Code]).toEqual(['ConditionalCheckFailed', 'ConditionalCheckFailed'])
    // The service brings it, this engine does not: both are reckoned with.
    if (failed?.Item !== undefined) expect(failed.Item.n).toEqual({ N: '5' })
    expect(absent?.Item).toBeUndefined()
  })

  test('sets, removes and compares attributes whose names are reserved words, and creates no item', async () => {
    const there = await stored({ token: 't', kept: { a: 1 } })
    const absent = key()
    await send(update(there, 1), update(absent, 1))
    const { pk, sk } = there
    expect(await read(there)).toEqual({ pk, sk, expiresAt, kept: { a: 1 }, status: 'done', n: 2 })
    expect(await read(absent)).toBeUndefined()
  })

  test('may mix inserts and updates', async () => {
    const there = await stored()
    const other = key()
    expect(await send(insert(other), update(there, 1))).toEqual([undefined, undefined])
  })

  test('takes parameters of every type as they are', async () => {
    const { pk, sk } = key()
    const values = {
      map: { a: [{ b: '' }] },
      empty: {},
      none: null,
      bytes: Uint8Array.of(0, 255),
      atMs: 1_700_000_000_123,
    }
    const parameters = marshall({ pk, sk, expiresAt, ...values })
    const fields = Object.keys(parameters).map((name) => `'${name}': ?`)
    await send({
      Statement: `INSERT INTO "${TableName}" VALUE {${fields.join(', ')}}`,
      Parameters: Object.values(parameters),
    })
    expect(await read({ pk, sk })).toEqual({ pk, sk, expiresAt, ...values })
  })

  test('is refused as a whole with two statements on one item, or more than 25', async () => {
    const other = key()
    const twice = await errorOf(send(insert(other), insert(other)))
    const many = await errorOf(send(...Array.from({ length: 26 }, () => insert(key()))))
    // Not a word on what was carried out: this engine carries out the first of two.
    expect([twice.name, many.name]).toEqual(['ValidationException', 'ValidationException'])
  })

  test('tells of one statement that it is wrong, and carries out the others', async () => {
    const other = key()
    const [wrong, right, foreign] = await send(
      { Statement: `INSERT INTO "${TableName}" VALUE {'pk': ?, 'sk': ?}`, Parameters: [{ S: 'x' }, { N: '5' }] },
      insert(other),
      insert(key(), `${TableName}-that-is-not-there`),
    )
    expect([wrong?.Code, right, foreign?.Code]).toEqual(['ValidationError', undefined, 'ResourceNotFound'])
    expect(await read(other)).toMatchObject(other)
  })
})

describe('an item', () => {
  test('is refused above 400 KB', async () => {
    const put = new PutCommand({ TableName, Item: { ...key(), expiresAt, text: 'x'.repeat(410_000) } })
    expect((await errorOf(client.send(put))).name).toBe('ValidationException')
  })

  test('keeps milliseconds, binary values and nested maps as they are', async () => {
    const there = await stored({
      atMs: 1_700_000_000_123,
      bytes: Uint8Array.of(0, 255),
      map: { a: { b: '' }, none: null },
    })
    expect(await read(there)).toEqual(there)
  })

  test('lies in the index only while it has both of its attributes', async () => {
    const shard = `conformance#${crypto.randomUUID()}`
    const there = await stored({ [INDEX_PARTITION_KEY]: shard, [INDEX_SORT_KEY]: 5 })
    const query = async () =>
      (
        await client.send(
          new QueryCommand({
            TableName,
            IndexName: INDEX_NAME,
            KeyConditionExpression: '#p = :shard',
            ExpressionAttributeNames: { '#p': INDEX_PARTITION_KEY },
            ExpressionAttributeValues: { ':shard': shard },
          }),
        )
      ).Items?.map(({ pk }) => pk)
    await expect.poll(query, { timeout: 10_000 }).toEqual([there.pk])
    const { pk, sk } = there
    await client.send(
      new UpdateCommand({
        TableName,
        Key: { pk, sk },
        UpdateExpression: 'REMOVE #p',
        ExpressionAttributeNames: { '#p': INDEX_PARTITION_KEY },
      }),
    )
    await expect.poll(query, { timeout: 10_000 }).toEqual([])
  })

  test('can have one entry of a map set and removed, and the others stay', async () => {
    const { pk, sk } = await stored({ steps: { kept: 1, gone: 2 } })
    await client.send(
      new UpdateCommand({
        TableName,
        Key: { pk, sk },
        UpdateExpression: 'SET #steps.#new = :three REMOVE #steps.#gone',
        ExpressionAttributeNames: { '#steps': 'steps', '#new': 'a name with . and #', '#gone': 'gone' },
        ExpressionAttributeValues: { ':three': 3 },
      }),
    )
    expect(await read({ pk, sk })).toMatchObject({ steps: { kept: 1, 'a name with . and #': 3 } })
  })
})
