import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { seededRandom } from '../../infra/local/seeded-random.ts'
import { applyIfNewer, ConditionFailedError, ifNewer, type Version, type Write } from '../../lib/order/index.ts'
import { startLostAnswerProxy } from '../stores/lost-answer-proxy.ts'
import { createTable, localClient } from '../stores/table.ts'

let client: DynamoDBClient
let documents: DynamoDBDocumentClient
let TableName: string

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  documents = DynamoDBDocumentClient.from(client)
  TableName = await createTable(client)
})
afterAll(() => client.destroy())

const newKey = () => ({ pk: crypto.randomUUID(), sk: 'state' })
type Key = ReturnType<typeof newKey>

const putOf = (Key: Key, name: string): Write => ({ Put: { TableName, Item: { ...Key, name } } })
const deleteOf = (Key: Key): Write => ({ Delete: { TableName, Key } })
const updateOf = (Key: Key, name: string): Write => ({
  Update: {
    TableName,
    Key,
    UpdateExpression: 'SET #n = :n',
    ExpressionAttributeNames: { '#n': 'name' },
    ExpressionAttributeValues: { ':n': name },
  },
})
const at = (value: Version) => ({ attribute: 'version', value })

async function itemAt(Key: Key): Promise<Record<string, unknown> | undefined> {
  const { Item } = await documents.send(new GetCommand({ TableName, Key, ConsistentRead: true }))
  return Item
}
const store = (Item: Record<string, unknown>) => documents.send(new PutCommand({ TableName, Item }))

describe('a write in order', () => {
  test.each([
    ['put', putOf],
    ['update', updateOf],
  ])('%s: applies to what is absent, unversioned or older', async (_kind, write) => {
    const key = newKey()
    expect(await applyIfNewer(documents, write(key, 'one'), at(1))).toBe('applied')
    expect(await applyIfNewer(documents, write(key, 'two'), at(2))).toBe('applied')
    expect(await itemAt(key)).toEqual({ ...key, name: 'two', version: 2 })
    const unversioned = newKey()
    await store({ ...unversioned, name: 'before' })
    expect(await applyIfNewer(documents, write(unversioned, 'after'), at(0))).toBe('applied')
  })

  test.each([
    ['put', putOf],
    ['update', updateOf],
    ['delete', deleteOf],
  ])('%s: is stale against an equal or newer version, and changes nothing', async (_kind, write) => {
    const key = newKey()
    await applyIfNewer(documents, putOf(key, 'newest'), at(5))
    expect(await applyIfNewer(documents, write(key, 'again'), at(5))).toBe('stale')
    expect(await applyIfNewer(documents, write(key, 'late'), at(4))).toBe('stale')
    expect(await itemAt(key)).toEqual({ ...key, name: 'newest', version: 5 })
  })

  test('goes through a plain client as well', async () => {
    const key = newKey()
    expect(await applyIfNewer(client, putOf(key, 'one'), at(1))).toBe('applied')
    expect(await applyIfNewer(client, updateOf(key, 'late'), at(1))).toBe('stale')
    expect(await itemAt(key)).toEqual({ ...key, name: 'one', version: 1 })
  })

  test('goes into a transaction of the user’s own', async () => {
    const [first, second] = [newKey(), newKey()]
    const transfer = (version: number) =>
      documents.send(
        new TransactWriteCommand({
          TransactItems: [ifNewer(putOf(first, 'one'), at(version)), ifNewer(updateOf(second, 'two'), at(version))],
        }),
      )
    await transfer(2)
    await expect(transfer(1)).rejects.toMatchObject({ name: 'TransactionCanceledException' })
    expect(await itemAt(second)).toEqual({ ...second, name: 'two', version: 2 })
  })
})

/** The order of UTF-8, worked out another way. */
function byCodePoints(left: string, right: string): number {
  const [a, b] = [left, right].map((text) => Array.from(text, (each) => each.codePointAt(0) ?? 0))
  const at = a!.findIndex((point, index) => point !== b![index])
  if (at === -1) return a!.length - b!.length
  return b![at] === undefined ? 1 : a![at]! - b![at]!
}

describe('the order of versions', () => {
  const inOrder = async (lower: Version, higher: Version) => {
    const key = newKey()
    return [
      await applyIfNewer(documents, putOf(key, 'low'), at(lower)),
      await applyIfNewer(documents, putOf(key, 'high'), at(higher)),
      await applyIfNewer(documents, putOf(key, 'low'), at(lower)),
    ]
  }

  test.each<[string, Version, Version]>([
    ['numbers by value', 9, 10],
    ['fractions', 1.25, 1.5],
    ['negative ones', -2, -1],
    ['whole numbers beyond 2^53', 9_007_199_254_740_993n, 9_007_199_254_740_994n],
    ['a number and a bigint', 9, 10n],
    ['dates', '2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z'],
    ['strings by bytes, not by value', '10', '9'],
    ['strings beyond the basic plane, by UTF-8', '\uffff', '\u{10000}'],
  ])('%s: %o, %o', async (_name, lower, higher) => {
    expect(await inOrder(lower, higher)).toEqual(['applied', 'applied', 'stale'])
  })

  test('is that of values and of code points, in DynamoDB’s condition and in the judgement after it alike', async () => {
    const fraction = fc.integer().map((whole) => whole / 64)
    const pairs = fc.oneof(
      fc.tuple(fc.integer(), fc.integer()),
      fc.tuple(fraction, fc.integer({ min: -5, max: 5 })),
      fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 37n }), fc.bigInt({ min: 0n, max: 10n ** 37n })),
      fc.tuple(fc.string({ minLength: 1, unit: 'binary' }), fc.string({ minLength: 1, unit: 'binary' })),
    )
    await fc.assert(
      fc.asyncProperty(pairs, async ([first, second]) => {
        const key = newKey()
        await applyIfNewer(documents, putOf(key, 'first'), at(first))
        const isNewer =
          typeof first === 'string' ? byCodePoints(first, String(second)) < 0 : first < (second as number | bigint)
        expect(await applyIfNewer(documents, putOf(key, 'second'), at(second))).toBe(isNewer ? 'applied' : 'stale')
        expect(await applyIfNewer(documents, putOf(key, 'again'), at(first))).toBe('stale')
      }),
      { numRuns: 60 },
    )
  })

  test.each<[string, unknown, Version, string]>([
    ['a string stored, a number comes', '7', 8, "is a string, the guard's value is a number"],
    ['a number stored, a string comes', 7, '8', "is a number, the guard's value is a string"],
    ['null stored', null, 8, "is of DynamoDB's type NULL"],
    ['a map stored', {}, '8', "is of DynamoDB's type M"],
  ])('between types there is none, and that is an error: %s', async (_name, version, value, message) => {
    for (const write of [putOf, updateOf, deleteOf]) {
      const key = newKey()
      const before = { ...key, version, name: 'before' }
      await store(before)
      const refused = applyIfNewer(documents, write(key, 'x'), at(value))
      await expect(refused).rejects.toMatchObject({ code: 'VERSION_TYPE', retryable: false })
      await expect(refused).rejects.toThrow(message)
      expect(await itemAt(key)).toEqual(before)
    }
  })
})

describe('a deleted item', () => {
  test('is not brought back by a late put or update', async () => {
    const key = newKey()
    await applyIfNewer(documents, putOf(key, 'one'), at(1))
    expect(await applyIfNewer(documents, deleteOf(key), at(3))).toBe('applied')
    expect(await applyIfNewer(documents, putOf(key, 'late'), at(2))).toBe('stale')
    expect(await applyIfNewer(documents, updateOf(key, 'late'), at(2))).toBe('stale')
    expect(await itemAt(key)).toEqual({ ...key, version: 3, tombstone: true })
  })

  test('that never was here is remembered too', async () => {
    const key = newKey()
    expect(await applyIfNewer(documents, deleteOf(key), at(3))).toBe('applied')
    expect(await applyIfNewer(documents, putOf(key, 'late'), at(2))).toBe('stale')
  })

  test.each([
    ['put', putOf],
    ['update', updateOf],
  ])('lives again by a newer %s, and nothing of the tombstone stays on it', async (_kind, write) => {
    for (const timed of [{}, { tombstoneSeconds: 60 }, { tombstoneSeconds: 60, ttlAttribute: 'ttl' }]) {
      const key = newKey()
      await applyIfNewer(documents, deleteOf(key), { ...at(3), ...timed })
      expect(await applyIfNewer(documents, write(key, 'new life'), at(4))).toBe('applied')
      expect(await itemAt(key)).toEqual({ ...key, version: 4, name: 'new life' })
    }
  })

  test('keeps the time to live that the update which revives it sets', async () => {
    const key = newKey()
    await applyIfNewer(documents, deleteOf(key), { ...at(3), tombstoneSeconds: 60 })
    const update = {
      TableName,
      Key: key,
      UpdateExpression: 'SET expiresAt = :e',
      ExpressionAttributeValues: { ':e': 9 },
    }
    expect(await applyIfNewer(documents, { Update: update }, at(4))).toBe('applied')
    expect(await itemAt(key)).toEqual({ ...key, version: 4, expiresAt: 9 })
  })

  test('is told from an item that has an attribute of that name by itself', async () => {
    const key = newKey()
    const own = { ...key, version: 1, tombstone: true, owner: 'me', colour: 'red' }
    await store(own)
    await expect(applyIfNewer(documents, updateOf(key, 'x'), at(2))).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
    expect(await itemAt(key)).toEqual(own)
  })
})

describe('the user’s own condition', () => {
  const onlyOwner = { ConditionExpression: '#o = :o', ExpressionAttributeNames: { '#o': 'owner' } }
  const by = (owner: string) => ({ ...onlyOwner, ExpressionAttributeValues: { ':o': owner } })
  const putBy = (key: Key, owner: string): Write => ({ Put: { TableName, Item: { ...key, owner }, ...by(owner) } })

  test('is an error of its own when the order is right, with the item that stood against it', async () => {
    const key = newKey()
    await store({ ...key, owner: 'ann', version: 1, serial: 9_007_199_254_740_993n })
    const error: unknown = await applyIfNewer(documents, putBy(key, 'bob'), at(2)).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConditionFailedError)
    expect(error).toMatchObject({
      code: 'CONDITION_FAILED',
      item: { ...key, owner: 'ann', version: 1, serial: 9_007_199_254_740_993n },
      cause: { name: 'ConditionalCheckFailedException' },
    })
    expect(await applyIfNewer(documents, putBy(key, 'ann'), at(2))).toBe('applied')
  })

  test('does not turn a stale write into an error', async () => {
    const key = newKey()
    await store({ ...key, owner: 'ann', version: 2 })
    expect(await applyIfNewer(documents, putBy(key, 'bob'), at(2))).toBe('stale')
  })

  test('fails on an item that is not there', async () => {
    const failed = applyIfNewer(documents, putBy(newKey(), 'bob'), at(2))
    await expect(failed).rejects.toMatchObject({ code: 'CONDITION_FAILED', item: undefined })
  })

  test('of a delete and of an update over a tombstone has to hold as well', async () => {
    const key = newKey()
    await store({ ...key, owner: 'ann', version: 1 })
    const Delete = { TableName, Key: key, ...by('bob') }
    await expect(applyIfNewer(documents, { Delete }, at(2))).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
    await applyIfNewer(documents, deleteOf(key), at(3))
    const Update = { TableName, Key: key, UpdateExpression: 'SET x = :o', ...by('bob') }
    await expect(applyIfNewer(documents, { Update }, at(4))).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
    expect(await itemAt(key)).toEqual({ ...key, version: 3, tombstone: true })
  })
})

describe('what is no failed condition', () => {
  test('passes as it came', async () => {
    const write: Write = { Put: { TableName: 'no-such-table', Item: newKey() } }
    await expect(applyIfNewer(documents, write, at(1))).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  })

  test.each([
    [undefined, 'client must be a DynamoDB (document) client; got undefined.'],
    ['eu', 'client must be a DynamoDB (document) client; got "eu".'],
  ])('and a wrong client is refused: %o', async (wrong, message) => {
    await expect(applyIfNewer(wrong as never, deleteOf(newKey()), at(1))).rejects.toThrow(message)
  })

  test('and so is a wrong write, before anything is sent', async () => {
    await expect(applyIfNewer(documents, {} as Write, at(1))).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(applyIfNewer(documents, null as never, at(1))).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('an answer that was lost, after which the SDK sends again', () => {
  async function withLostAnswer(key: Key, write: Write) {
    const proxy = await startLostAnswerProxy(inject('dynamoDbEndpoint'))
    const through = localClient(proxy.endpoint)
    try {
      proxy.drop(1, key.pk)
      const answer = await applyIfNewer(through, write, { ...at(1), tombstoneSeconds: 60 })
      expect(proxy.dropped).toBe(1)
      return answer
    } finally {
      through.destroy()
      await proxy.stop()
    }
  }

  test.each([
    ['put', putOf],
    ['delete', deleteOf],
  ])('does not make the own %s stale', async (_kind, write) => {
    const key = newKey()
    expect(await withLostAnswer(key, write(key, 'mine'))).toBe('applied')
  })

  test('makes the own update stale: what it made of the item cannot be told', async () => {
    const key = newKey()
    expect(await withLostAnswer(key, updateOf(key, 'mine'))).toBe('stale')
    expect(await itemAt(key)).toMatchObject({ version: 1, name: 'mine' })
  })
})

describe('many writers at once, in any order', () => {
  const COUNT = 40

  test.each([1, 2, 3, 4, 5, 6])('leave what the highest version says (seed %i)', async (seed) => {
    const random = seededRandom(seed)
    const key = newKey()
    const kinds = [putOf, updateOf, deleteOf] as const
    const writes = Array.from({ length: COUNT }, (_, index) => {
      const version = index + 1
      const kind = kinds[version === COUNT ? seed % 3 : Math.floor(random() * 3)] ?? putOf
      return { version, write: kind(key, `v${version}`) }
    })
    const shuffled = writes.map((each) => ({ each, place: random() })).sort((a, b) => a.place - b.place)
    const answers = await Promise.all(
      shuffled.map(({ each }) => applyIfNewer(documents, each.write, { ...at(each.version), tombstoneSeconds: 3_600 })),
    )
    expect(answers).toHaveLength(COUNT)
    const item = await itemAt(key)
    const name = `v${COUNT}`
    if (seed % 3 === 2) {
      expect(item).toEqual({ ...key, version: COUNT, tombstone: true, expiresAt: expect.any(Number) })
    } else {
      expect(item).toEqual({ ...key, version: COUNT, name })
    }
  })

  test('apply each version at most once, when every write is delivered three times', async () => {
    const key = newKey()
    const versions = Array.from({ length: 20 }, (_, index) => index + 1)
    const answers = await Promise.all(
      [...versions, ...versions, ...versions].map(async (version) => ({
        version,
        answer: await applyIfNewer(documents, putOf(key, `v${version}`), at(version)),
      })),
    )
    const applied = answers.filter(({ answer }) => answer === 'applied').map(({ version }) => version)
    expect(new Set(applied).size).toBe(applied.length)
    expect(applied).toContain(20)
  })
})
