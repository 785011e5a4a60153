import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { RetryLater } from '../../lib/index.ts'
import { powertoolsRecords } from '../../lib/powertools/index.ts'
import { startLostAnswerProxy } from '../stores/lost-answer-proxy.ts'
import { localClient } from '../stores/table.ts'
import { client, items, KEY_PREFIX, type Order, twoVersions } from './set-up.ts'

const order: Order = { id: 'order-1', total: 7 }
const proxy = await startLostAnswerProxy(inject('dynamoDbEndpoint'))
afterAll(() => proxy.stop())

describe('a table of the old version', () => {
  test('whose answer is lost is asked again, and the own record known', async () => {
    const { next, ran, tableName } = await twoVersions({ records: { client: localClient(proxy.endpoint) } })
    proxy.drop(1, 'PutItem')
    expect((await next(order, () => 'done')).value).toBe('done')
    expect(proxy.dropped).toBe(1)
    expect(ran).toEqual(['new'])
    expect(await items(tableName)).toMatchObject([{ status: 'COMPLETED', data: 'done' }])
  })

  test('that cannot be reached lets nothing run, and nothing fail for good', async () => {
    const dead = new DynamoDBClient({ endpoint: 'http://127.0.0.1:9', maxAttempts: 1 })
    const { next, ran, idempotency, previous } = await twoVersions({ records: { client: dead } })
    await expect(next(order)).rejects.toThrow(RetryLater)
    await expect(next(order)).rejects.toThrow(/nothing was done: DynamoDB PutItem/)
    expect(ran).toEqual([])
    expect(previous).not.toBe(idempotency)
  })

  test('that does not exist says so', async () => {
    const { next } = await twoVersions({ records: { tableName: 'no-such-table' } })
    await expect(next(order)).rejects.toThrow(/"no-such-table" failed: ResourceNotFoundException/)
  })

  test('with records of another kind is left as it is, and the key is free', async () => {
    const { old, next, tableName, idempotency, ran } = await twoVersions({ records: { statusAttr: 'state' } })
    await old(order, () => 'done')
    const before = await items(tableName)
    await expect(next(order)).rejects.toThrow(/is none of Powertools: its "state" is absent/)
    expect(await items(tableName)).toEqual(before)
    expect((await idempotency.run({ key: order.id, input: order }, () => 'free')).value).toBe('free')
    expect(ran).toEqual(['old'])
  })
})

describe('options', () => {
  const whole = { tableName: 'idempotency', keyPrefix: KEY_PREFIX, client }
  const refusal = (options: object) => {
    try {
      powertoolsRecords(options as typeof whole)
    } catch (error) {
      return [Reflect.get(Object(error), 'code'), (error as Error).message]
    }
    return undefined
  }

  test.each<[object, RegExp]>([
    [{ tableName: undefined }, /^tableName must be the name or ARN of the table that Powertools writes to/],
    [{ tableName: '' }, /^tableName must be a text that is not empty; got ""/],
    [{ keyPrefix: '  ' }, /^keyPrefix must be what the ids in the table begin with/],
    [{ key: 'body.id' }, /^key must be a function; got "body.id"/],
    [{ validation: 'body.total' }, /^validation must be a function/],
    [{ hashFunction: 'md6' }, /^hashFunction must be one of node:crypto, such as "md5"; got "md6"/],
    [{ expiresAfterSeconds: 0 }, /^expiresAfterSeconds must be a number of seconds, at least 1; got 0/],
    [{ expiresAfterSeconds: 3_600_000_000 }, /looks like milliseconds/],
    [{ sortKeyAttr: 7 }, /^sortKeyAttr must be a text/],
    [{ client: {} }, /^client must be a DynamoDBClient/],
    [{ clock: {} }, /^clock must have now\(\)/],
    [{ eventKeyJmesPath: 'id' }, /^powertoolsRecords has no option "eventKeyJmesPath"/],
  ])('%j are refused', (wrong, message) => {
    expect(refusal({ ...whole, ...wrong })).toEqual(['INVALID_OPTION', expect.stringMatching(message)])
  })

  test('take the name of the function from Lambda', async () => {
    process.env.AWS_LAMBDA_FUNCTION_NAME = KEY_PREFIX
    try {
      const { old, next, ran } = await twoVersions({ records: { keyPrefix: undefined } as object })
      await old(order)
      await next(order)
      expect(ran).toEqual(['old'])
    } finally {
      delete process.env.AWS_LAMBDA_FUNCTION_NAME
    }
  })

  test('a call without the operation or the work is refused', async () => {
    const previous = powertoolsRecords(whole)
    await expect(previous.during(undefined as never, order, () => 1)).rejects.toThrow(/takes the running operation/)
    await expect(previous.during({ id: 'a' }, order, undefined as never)).rejects.toThrow(/and a function/)
  })
})
