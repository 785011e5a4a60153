import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { type GuardedWrite, ifNewer, type OrderGuard, type Write } from '../../lib/order/index.ts'
import { fakeClock } from '../core/fake-clock.ts'

const TableName = 'accounts'
const Key = { pk: 'account-1', sk: 'state' }
const guard: OrderGuard = { attribute: 'version', value: 7 }

describe('a guarded put', () => {
  test('stores its version, and only over an absent or lower one', () => {
    expect(ifNewer({ Put: { TableName, Item: { ...Key, cents: 5 } } }, guard)).toEqual({
      Put: {
        TableName,
        Item: { ...Key, cents: 5, version: 7 },
        ConditionExpression: '(attribute_not_exists(#newer_version) OR #newer_version < :newer_version)',
        ExpressionAttributeNames: { '#newer_version': 'version' },
        ExpressionAttributeValues: { ':newer_version': 7 },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    })
  })

  test('may name the same version itself, but no other', () => {
    const put = (version: unknown): Write => ({ Put: { TableName, Item: { ...Key, version } } })
    expect(ifNewer(put(7), guard)).toMatchObject({ Put: { Item: { version: 7 } } })
    for (const other of [6, '7', 7n, null]) expect(() => ifNewer(put(other), guard)).toThrow('another value there')
  })
})

describe('a guarded update', () => {
  test('sets its version beside what it sets anyway, and leaves tombstones alone', () => {
    const update = { TableName, Key, UpdateExpression: 'SET cents = :c', ExpressionAttributeValues: { ':c': 5 } }
    expect(ifNewer({ Update: update }, guard)).toEqual({
      Update: {
        TableName,
        Key,
        UpdateExpression: 'SET #newer_version = :newer_version, cents = :c',
        ConditionExpression:
          '(attribute_not_exists(#newer_version) OR #newer_version < :newer_version) AND attribute_not_exists(#newer_tombstone)',
        ExpressionAttributeNames: { '#newer_version': 'version', '#newer_tombstone': 'tombstone' },
        ExpressionAttributeValues: { ':c': 5, ':newer_version': 7 },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    })
  })

  test.each([
    ['SET version = :v', {}],
    ['SET #v = :v', { '#v': 'version' }],
    ['ADD version :one', {}],
    ['REMOVE a, #v', { '#v': 'version' }],
    ['SET tombstone = :v', {}],
  ])('is refused when it writes what the guard writes: %s', (UpdateExpression, ExpressionAttributeNames) => {
    const update = { TableName, Key, UpdateExpression, ExpressionAttributeNames }
    expect(() => ifNewer({ Update: update }, guard)).toThrow(/^The guard writes "(version|tombstone)" by itself/)
  })

  test('may read the version, and write attributes of that name further down', () => {
    const UpdateExpression = 'SET #before = version, nested.version = :x'
    const update = { TableName, Key, UpdateExpression, ExpressionAttributeNames: { '#before': 'before' } }
    expect(ifNewer({ Update: update }, guard)).toMatchObject({
      Update: { UpdateExpression: `SET #newer_version = :newer_version, #before = version, nested.version = :x` },
    })
  })
})

describe('a guarded delete', () => {
  test('is a put of a tombstone: key, version and mark, and nothing else', () => {
    expect(ifNewer({ Delete: { TableName, Key } }, guard)).toMatchObject({
      Put: { TableName, Item: { ...Key, version: 7, tombstone: true } },
    })
    expect(Object.keys(itemOf(ifNewer({ Delete: { TableName, Key } }, guard)))).toHaveLength(4)
  })

  test('has a time to live where one is asked for, in whole seconds, never earlier', () => {
    const clock = fakeClock(1_700_000_000_001)
    const timed = { ...guard, tombstoneSeconds: 60, clock }
    expect(itemOf(ifNewer({ Delete: { TableName, Key } }, timed))).toMatchObject({ expiresAt: 1_700_000_061 })
    const elsewhere = { ...timed, ttlAttribute: 'ttl' }
    expect(itemOf(ifNewer({ Delete: { TableName, Key } }, elsewhere))).toMatchObject({ ttl: 1_700_000_061 })
  })
})

function itemOf(write: GuardedWrite): Record<string, unknown> {
  return ('Put' in write && write.Put.Item) || {}
}

describe('your own condition', () => {
  test('has to hold as well, whatever operators it is made of', () => {
    const own = { ConditionExpression: 'a = :a OR b = :b', ExpressionAttributeValues: { ':a': 1, ':b': 2 } }
    const expected = /^\(a = :a OR b = :b\) AND \(attribute_not_exists\(#newer_version\) OR /
    for (const write of [
      { Put: { TableName, Item: Key, ...own } },
      { Update: { TableName, Key, UpdateExpression: 'SET c = :a', ...own } },
      { Delete: { TableName, Key, ...own } },
    ]) {
      const { Put, Update } = ifNewer(write, guard) as { Put?: object; Update?: object }
      expect(Put ?? Update).toMatchObject({ ConditionExpression: expect.stringMatching(expected) })
    }
  })

  test('keeps its own aliases and values when they are called like the guard’s', () => {
    const write = ifNewer(
      {
        Put: {
          TableName,
          Item: Key,
          ConditionExpression: '#newer_version = :newer_version',
          ExpressionAttributeNames: { '#newer_version': 'colour' },
          ExpressionAttributeValues: { ':newer_version': 'red' },
        },
      },
      guard,
    )
    expect(write).toMatchObject({
      Put: {
        ConditionExpression:
          '(#newer_version = :newer_version) AND (attribute_not_exists(#newer_version_) OR #newer_version_ < :newer_version_)',
        ExpressionAttributeNames: { '#newer_version': 'colour', '#newer_version_': 'version' },
        ExpressionAttributeValues: { ':newer_version': 'red', ':newer_version_': 7 },
      },
    })
  })
})

describe('the write given', () => {
  test('is not changed', () => {
    const frozen = Object.freeze({
      TableName,
      Item: Object.freeze({ ...Key }),
      ConditionExpression: '#a = :a',
      ExpressionAttributeNames: Object.freeze({ '#a': 'a' }),
      ExpressionAttributeValues: Object.freeze({ ':a': 1 }),
    })
    expect(() => ifNewer({ Put: frozen }, guard)).not.toThrow()
  })

  test('comes back as a member of a transaction', () => {
    expectTypeOf<GuardedWrite>().toExtend<NonNullable<TransactWriteCommandInput['TransactItems']>[number]>()
  })

  test.each<[unknown, string]>([
    [undefined, 'A guarded write is { Put }, { Update } or { Delete }; got undefined.'],
    [{}, 'A guarded write is { Put }, { Update } or { Delete }; got an object.'],
    [{ ConditionCheck: { Key } }, '{ Delete }; got { ConditionCheck }.'],
    [{ Put: { Item: Key }, Delete: { Key } }, '{ Delete }; got { Put, Delete }.'],
    [{ Put: { TableName } }, 'Put.Item must be an object of attributes; got undefined.'],
    [{ Update: null }, 'Update.Key must be an object of attributes; got undefined.'],
    [{ Put: { Item: { ...Key, tombstone: true } } }, 'The guard writes "tombstone" by itself'],
    [{ Delete: { Key: { version: 1 } } }, 'The guard writes "version", which is part of the item\'s key.'],
    [{ Update: { Key: { tombstone: 1 } } }, 'The guard writes "tombstone", which is part of the item\'s key.'],
  ])('is refused when it is none: %o', (write, message) => {
    expect(() => ifNewer(write as Write, guard)).toThrow(message)
  })
})

describe('a wrong guard is refused', () => {
  test.each<[unknown, string | RegExp]>([
    [undefined, 'An order guard is { attribute, value }; got undefined.'],
    [{ value: 1 }, 'attribute must be the name of a top-level attribute; got undefined.'],
    [{ attribute: ' ', value: 1 }, 'attribute must be the name of a top-level attribute; got " ".'],
    [{ attribute: 'version' }, /^value must be a version: .*; got undefined\.$/],
    [{ attribute: 'version', value: null }, /got null\.$/],
    [{ attribute: 'version', value: '' }, /got ""\.$/],
    [{ attribute: 'version', value: '\ud800' }, /^value must be a version: /],
    [{ attribute: 'version', value: Number.NaN }, /got NaN\.$/],
    [{ attribute: 'version', value: 2 ** 53 }, /got 9007199254740992\.$/],
    [{ attribute: 'version', value: new Date(0) }, /got an object\.$/],
    [{ ...guard, tombstoneSeconds: 0 }, 'tombstoneSeconds must be a number of seconds, at least 1; got 0.'],
    [
      { ...guard, tombstoneSeconds: 60, ttlAttribute: 'version' },
      'must be three attributes; got "version" and "version".',
    ],
    [{ ...guard, attribute: 'tombstone' }, 'must be three attributes; got "tombstone" and "expiresAt".'],
    [{ ...guard, clock: 1 }, 'clock must have now(); got 1.'],
    [{ ...guard, ttlSeconds: 1 }, /^ifNewer has no option "ttlSeconds"\./],
  ])('%o', (wrong, message) => {
    expect(() => ifNewer({ Delete: { TableName, Key } }, wrong as OrderGuard)).toThrow(message)
  })
})
