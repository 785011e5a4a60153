import { type AttributeValue, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { itemSize, MAX_ITEM_BYTES } from '../../lib/commit/item-size.ts'
import type { BesideItem, CommitWrite } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { createLedger, type Ledger, newAccount } from './ledger.ts'
import { localClient } from './table.ts'

let client: DynamoDBClient
let ledger: Ledger

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  ledger = await createLedger(client)
})
afterAll(() => client.destroy())

const ID = 'ledger#own'
const put = (TableName: string, Item: Record<string, unknown>): CommitWrite => ({ Put: { TableName, Item } })
const remove = (TableName: string, Key: Record<string, unknown>): CommitWrite => ({ Delete: { TableName, Key } })
const prepare = (writes: unknown, beside: readonly BesideItem[] = []) =>
  ledger.store.prepare(ID, writes as CommitWrite[], beside)
const ARN = 'arn:aws:dynamodb:eu-central-1:123456789012:table/'

describe('what is no write is refused, by the DynamoDB store and the memory store alike', () => {
  const Put = { TableName: 't', Item: { account: 'a' } }
  const Delete = { TableName: 't', Key: { account: 'a' } }
  test.each<[string, unknown, RegExp]>([
    ['nothing', {}, /writes\[0\] must be exactly one of \{ Put \}.*got an object/],
    ['no object', 'Put', /writes\[0\] must be exactly one of.*got "Put"/],
    ['a Get', { Get: Delete }, /got \{ Get \}/],
    ['two in one', { Put, Delete }, /got \{ Put, Delete \}/],
    [
      'no table',
      { Put: { Item: {} } },
      /writes\[0\]\.Put\.TableName must be the name or ARN of a table; got undefined/,
    ],
    ['no item', { Put: { TableName: 't' } }, /writes\[0\]\.Put\.Item must be an object of attributes; got undefined/],
    ['an empty key', { Delete: { TableName: 't', Key: {} } }, /writes\[0\]\.Delete\.Key must be an object/],
    ['a guard without a write', { ifNewer: { attribute: 'v', value: 1 } }, /writes\[0\] must be \{ write, ifNewer/],
    ['a write without its guard', { write: { Put } }, /writes\[0\] must be \{ write, ifNewer/],
    ['a misspelt option', { write: { Put }, ifNewer: { attribute: 'v', value: 1 }, onstale: 'fail' }, /onstale/],
    [
      'a wrong onStale',
      { write: { Put }, ifNewer: { attribute: 'v', value: 1 }, onStale: 'x' },
      /onStale must be "skip"/,
    ],
    [
      'a wrong guard',
      { write: { Put }, ifNewer: { attribute: '', value: 1 } },
      /writes\[0\]: attribute must be the name/,
    ],
    [
      'a guarded check',
      { write: { ConditionCheck: Delete }, ifNewer: { attribute: 'v', value: 1 } },
      /writes\[0\]: A guarded/,
    ],
  ])('%s', async (_name, write, message) => {
    const refusal = expect.objectContaining({ name: 'InvalidInputError', message: expect.stringMatching(message) })
    await expect(prepare([write])).rejects.toThrow(refusal)
    await expect(memoryStore().prepare(ID, [write as CommitWrite], [])).rejects.toThrow(refusal)
  })

  test('and so is no list', async () => {
    await expect(prepare({ Put })).rejects.toThrow(/writes must be an array; got an object/)
  })
})

describe('two writes on one item are refused where it can be known', () => {
  const orders = (table: string, key: Record<string, unknown>) => remove(table, key)
  test.each<[string, CommitWrite, CommitWrite]>([
    [
      'two keys',
      orders('t', { id: 'a' }),
      { ConditionCheck: { TableName: 't', Key: { id: 'a' }, ConditionExpression: 'x' } },
    ],
    ['a key and an item', orders('t', { id: 'a' }), put('t', { id: 'a', more: 1 })],
    ['name and ARN', orders('t', { id: 'a' }), orders(`${ARN}t`, { id: 'a' })],
    ['numbers', orders('t', { id: 'a', n: 1 }), put('t', { n: 1n, id: 'a' })],
    ['bytes', orders('t', { id: new Uint8Array([1]) }), put('t', { id: Buffer.from([1]) })],
    ['two equal items', put('t', { id: 'a', more: [1] }), put('t', { id: 'a', more: [1] })],
    [
      'a guarded one',
      { write: { Delete: { TableName: 't', Key: { id: 'a' } } }, ifNewer: { attribute: 'v', value: 1 } },
      orders('t', { id: 'a' }),
    ],
  ])('%s', async (_name, one, other) => {
    const message = /writes\[1\] is on the same item as writes\[0\]/
    await expect(prepare([one, other])).rejects.toThrow(message)
    await expect(memoryStore().prepare(ID, [one, other], [])).rejects.toThrow(message)
  })

  test('two puts, when another write tells the key of their table', async () => {
    const puts = [put('t', { id: 'a', more: 1 }), put('t', { id: 'a', more: 2 })]
    await expect(prepare(puts)).resolves.toBeDefined()
    await expect(prepare([...puts, remove('t', { id: 'z' })])).rejects.toThrow(
      /writes\[1\] is on the same item as writes\[0\]/,
    )
  })

  test.each<[string, CommitWrite, CommitWrite]>([
    ['other keys', orders('t', { id: 'a' }), orders('t', { id: 'b' })],
    ['other tables', orders('t', { id: 'a' }), orders('u', { id: 'a' })],
    ['a string and a number', orders('t', { id: '1' }), orders('t', { id: 1 })],
    ['an item that differs in the key', orders('t', { id: 'a', n: 1 }), put('t', { id: 'a', n: 2 })],
  ])('but not %s', async (_name, one, other) => {
    await expect(prepare([one, other])).resolves.toBeDefined()
  })

  test('what could not be known is refused by DynamoDB, and nothing is written', async () => {
    const account = newAccount()
    const record = await ledger.heldRecord()
    const puts = [put(ledger.accounts, { account, n: 1 }), put(ledger.accounts, { account, n: 2 })]
    await expect(ledger.commit(record, puts)).rejects.toMatchObject({
      name: 'InvalidInputError',
      message: expect.stringMatching(/wrote nothing.*multiple operations on one item/),
    })
    expect([await ledger.get(account), (await ledger.store.get(record.id))?.rev]).toEqual([undefined, 1])
  })
})

describe('a write on the operation’s own record or beside it is refused', () => {
  test.each(['op', 'outbox#1', 'mine'])('under sort key %s', async (sk) => {
    const { operations } = ledger
    const message = /writes\[0\] is on the operation's own record or on what lies beside it/
    await expect(prepare([put(operations, { pk: ID, sk })])).rejects.toThrow(message)
    await expect(prepare([remove(`${ARN}${operations}`, { pk: ID, sk })])).rejects.toThrow(message)
    await expect(prepare([remove(operations, { pk: `${ID}-other`, sk })])).resolves.toBeDefined()
    await expect(prepare([remove('another', { pk: ID, sk })])).resolves.toBeDefined()
  })
})

describe('what is too much for one transaction is refused before anything is sent', () => {
  const puts = (count: number) => Array.from({ length: count }, (_, n) => put(ledger.accounts, { account: `a${n}` }))

  test('more than 100 items, the record and the messages included', async () => {
    const beside = [{ sk: 'outbox#1', attributes: {} }]
    await expect(prepare(puts(98), beside)).resolves.toBeDefined()
    await expect(prepare(puts(99), beside)).rejects.toThrow(
      /at most 100 items; these are 101: 99 writes, 1 messages and receipts/,
    )
    await expect(memoryStore().prepare(ID, puts(100), [])).rejects.toThrow(/at most 100 items; these are 101/)
  })

  test('100 items in all are written', async () => {
    expect((await ledger.commit(await ledger.heldRecord(), puts(99))).kind).toBe('applied')
  })

  test('more than 4 MB', async () => {
    const large = (count: number) =>
      Array.from({ length: count }, () => put(ledger.accounts, { account: newAccount(), text: 'x'.repeat(408_000) }))
    await expect(prepare(large(11))).rejects.toThrow(/have 44\d{5} bytes together.*at most 4194304/)
    expect((await ledger.commit(await ledger.heldRecord(), large(10))).kind).toBe('applied')
  })

  test('an item of more than 400 KB', async () => {
    const text = 'x'.repeat(MAX_ITEM_BYTES)
    await expect(prepare([put('t', { id: 'a' }), put('t', { id: 'b', text })])).rejects.toThrow(
      /writes\[1\] puts an item of 40\d{4} bytes/,
    )
    await expect(prepare([], [{ sk: 'outbox#1', attributes: { text } }])).rejects.toThrow(
      /the item "outbox#1" beside the record puts/,
    )
  })

  test.each<[string, unknown, RegExp]>([
    ['a Date', new Date(0), /writes\[0\] holds a value that DynamoDB cannot store: Unsupported type passed: [^.]*\.$/],
    ['an empty set', new Set(), /cannot store: an empty set\.$/],
    ['a number that lost digits', 2 ** 60, /cannot store: Number .* is greater than/],
  ])('%s', async (_name, value, message) => {
    await expect(prepare([put('t', { id: 'a', value })])).rejects.toThrow(message)
  })

  test('an expression that does not parse is refused by DynamoDB, and nothing is written', async () => {
    const record = await ledger.heldRecord()
    const wrong: CommitWrite = {
      ConditionCheck: { TableName: ledger.accounts, Key: { account: 'a' }, ConditionExpression: 'a =' },
    }
    await expect(ledger.commit(record, [wrong])).rejects.toMatchObject({ name: 'InvalidInputError' })
    expect((await ledger.store.get(record.id))?.rev).toBe(1)
  })

  test('an update that does not fit the item it meets is refused, and nothing is written', async () => {
    const [account, free] = [newAccount(), newAccount()]
    await ledger.put({ account, balance: 'a lot' })
    const record = await ledger.heldRecord()
    const writes = [put(ledger.accounts, { account: free }), ledger.add(account, 1)]
    await expect(ledger.commit(record, writes)).rejects.toMatchObject({ name: 'InvalidInputError' })
    expect([await ledger.get(free), (await ledger.store.get(record.id))?.rev]).toEqual([undefined, 1])
  })

  test('a table that does not exist is named', async () => {
    const record = await ledger.heldRecord()
    await expect(ledger.commit(record, [put('no-such-table', { id: 'a' })])).rejects.toMatchObject({
      code: 'STORE',
      retryable: false,
      message: expect.stringMatching(
        /TransactWriteItems on tables "operations-.*", "no-such-table" failed: ResourceNotFound/,
      ),
    })
  })
})

describe('the size of an item', () => {
  test.each<[string, AttributeValue, number]>([
    ['text in UTF-8', { S: 'aä€😀' }, 10],
    ['bytes', { B: new Uint8Array(7) }, 7],
    ['null', { NULL: true }, 1],
    ['a boolean', { BOOL: false }, 1],
    ['zero', { N: '0' }, 1],
    ['a digit', { N: '7' }, 2],
    ['three digits', { N: '123' }, 3],
    ['zeros at the ends', { N: '0012300' }, 3],
    ['a fraction', { N: '-0.00123' }, 4],
    ['an exponent', { N: '1.5E+20' }, 2],
    ['an empty list', { L: [] }, 3],
    ['a list', { L: [{ S: 'ab' }, { BOOL: true }] }, 3 + 2 + 1 + 2],
    ['a map', { M: { key: { S: 'ab' } } }, 3 + 3 + 2 + 1],
    ['a set of strings', { SS: ['a', 'bc'] }, 3],
    ['a set of numbers', { NS: ['1', '100'] }, 4],
    ['a set of bytes', { BS: [new Uint8Array(2)] }, 2],
  ])('%s', (_name, value, bytes) => {
    expect(itemSize({ name: value })).toBe(4 + bytes)
  })

  test('is DynamoDB’s own: the largest item is taken, and one byte more is not', async () => {
    const filled = (extra: number) => {
      const item = {
        account: { S: newAccount() },
        list: { L: [{ S: 'ä' }, { M: { key: { BOOL: true } } }] },
        text: { S: '' },
      }
      item.text.S = 'x'.repeat(MAX_ITEM_BYTES - itemSize(item) + extra)
      return client.send(new PutItemCommand({ TableName: ledger.accounts, Item: item }))
    }
    await filled(0)
    await expect(filled(1)).rejects.toThrow(/maximum allowed size/)
  })
})

test('a write with a kind that is left undefined is the other one', async () => {
  const account = newAccount()
  const write: CommitWrite = { Put: { TableName: ledger.accounts, Item: { account } }, Update: undefined }
  expect((await ledger.commit(await ledger.heldRecord(), [write])).kind).toBe('applied')
  expect(await ledger.get(account)).toEqual({ account })
})
