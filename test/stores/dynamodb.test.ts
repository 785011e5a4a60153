import { randomBytes } from 'node:crypto'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, type Idempotency, type IdempotencyOptions } from '../../lib/index.ts'
import { startLostAnswerProxy } from './lost-answer-proxy.ts'
import { createTable, localClient } from './table.ts'
import { watchedClient } from './wire.ts'

let client: DynamoDBClient
let tableName: string

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  tableName = await createTable(client)
})
afterAll(() => client.destroy())

const NAMESPACE = 'n'.repeat(64)

function setUp(options: Partial<IdempotencyOptions> = {}, through = client) {
  const store = dynamoStore({ tableName, client: through })
  return createIdempotency({ store, namespace: NAMESPACE, leaseSeconds: 60, ...options })
}

const request = () => ({ key: crypto.randomUUID(), input: { amount: 100 } })

/** Names of the requests that go out while `work` runs, as counted on the client's wire. */
async function requestsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const { client: watched, sent } = watchedClient(inject('dynamoDbEndpoint'))
  const before = client
  client = watched
  try {
    await work()
  } finally {
    client = before
    watched.destroy()
  }
  return sent
}

describe('the cost of an operation, on the wire', () => {
  test('is two requests for a first execution and one for a duplicate', async () => {
    const order = request()
    expect(await requestsDuring(() => setUp().run(order, () => 'done'))).toEqual(['PutItem', 'UpdateItem'])
    expect(await requestsDuring(() => setUp().run(order, () => 'again'))).toEqual(['PutItem'])
  })

  test('is two requests for a first execution over an expired or a released record', async () => {
    const order = request()
    const clock = { now: () => Date.now() - 86_400_000, wait: async () => undefined }
    await setUp({ clock, retentionSeconds: 60 }).run(order, () => 'long ago')
    expect(await requestsDuring(() => setUp().run(order, ({ release }) => release()))).toHaveLength(2)
    expect(await requestsDuring(() => setUp().run(order, () => 'now'))).toHaveLength(2)
  })
})

/** Everything in a table of its own after `run`. */
async function itemsAfter(run: (idempotency: Idempotency) => Promise<unknown>, retentionSeconds = 3_600) {
  const table = await createTable(client)
  const store = dynamoStore({ tableName: table, client })
  await run(createIdempotency({ store, namespace: NAMESPACE, retentionSeconds }))
  const { Items = [], LastEvaluatedKey } = await client.send(
    new ScanCommand({ TableName: table, ConsistentRead: true }),
  )
  expect(LastEvaluatedKey).toBeUndefined()
  return Items
}

describe('a large outcome', () => {
  test('of 5.5 MB that does not compress is stored and replayed byte for byte', async () => {
    const order = request()
    const body = randomBytes(4_125_000).toString('base64')
    expect(body).toHaveLength(5_500_000)
    await setUp().run(order, () => ({ statusCode: 200, body }))
    const replay = await setUp().run(order, () => ({ statusCode: 500, body: '' }))
    expect(replay.replayed).toBe(true)
    expect(replay.value.body === body).toBe(true)
  })

  test.each([0, 700, 740, 800, 1_250, 1_350, 3_000, 50_000, 300_000])(
    'leaves a record under 2 KB: %i random bytes',
    async (size) => {
      const order = request()
      const value = randomBytes(size)
      const items = await itemsAfter(async (idempotency) => {
        await idempotency.run(order, () => value)
        expect((await idempotency.run(order, () => value)).value).toEqual(value)
      })
      const record = items.filter((item) => item.sk?.S === 'op')
      expect(record).toHaveLength(1)
      // The JSON of the wire format is longer than what DynamoDB counts, so the bound is on the safe side.
      expect(
        Buffer.byteLength(
          JSON.stringify(
            record.map((item) => unmarshall(item)),
            plainBytes,
          ),
        ),
      ).toBeLessThan(2_048)
    },
  )

  test('keeps its parts for seven days longer than its record', async () => {
    const items = await itemsAfter((idempotency) => idempotency.run(request(), () => randomBytes(800_000)))
    const expiry = (sk: string) => items.flatMap((item) => (item.sk?.S === sk ? [Number(item.expiresAt?.N)] : []))
    const [record = 0] = expiry('op')
    const parts = expiry('part')
    expect(parts).toHaveLength(3)
    for (const part of parts) expect(part - record).toBeGreaterThanOrEqual(7 * 86_400 - 2)
  })
})

/** Bytes as a string of as many characters, which is what DynamoDB counts. */
function plainBytes(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('0' in value) || !Object.values(value).every(Number.isInteger))
    return value
  return 'b'.repeat(Object.keys(value).length)
}

describe('many parallel operations with one key', () => {
  test('run the work once', async () => {
    for (let round = 0; round < 5; round++) {
      const order = request()
      const work = vi.fn(async () => round)
      const answers = await Promise.allSettled(Array.from({ length: 60 }, () => setUp().run(order, work)))
      expect(work).toHaveBeenCalledTimes(1)
      const rejected = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []))
      expect(new Set(rejected)).toEqual(new Set(rejected.length > 0 ? ['IN_PROGRESS'] : []))
    }
  })
})

describe('a lease that really ends', () => {
  test('lets another worker take over, and the paused one finds itself fenced off', async () => {
    const order = request()
    const options = { leaseSeconds: 1, clockSkewSeconds: 0 }
    const first = setUp(options).run(order, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      const second = await vi.waitFor(() => setUp(options).run(order, ({ attempt }) => `attempt ${attempt}`), {
        timeout: 10_000,
        interval: 50,
      })
      expect(second).toEqual({ value: 'attempt 2', replayed: false, attempt: 2 })
      return 'late'
    })
    expect(await first).toEqual({ value: 'attempt 2', replayed: true, attempt: 2 })
    expect((await setUp().run(order, () => 'again')).value).toBe('attempt 2')
  })
})

describe('an answer lost after the write was applied', () => {
  const lost = async (target: string, run: (through: DynamoDBClient) => Promise<void>, count = 1) => {
    const proxy = await startLostAnswerProxy(inject('dynamoDbEndpoint'))
    const through = localClient(proxy.endpoint)
    try {
      proxy.drop(count, target)
      await run(through)
      expect(proxy.dropped).toBe(count)
    } finally {
      through.destroy()
      await proxy.stop()
    }
  }

  test.each([
    ['of a claim, which the SDK repeats', 'DynamoDB_20120810.PutItem', 1],
    ['of a claim, until the SDK gives up', 'DynamoDB_20120810.PutItem', 3],
    ['of a completion, which the SDK repeats', 'DynamoDB_20120810.UpdateItem', 1],
    ['of a completion, until the SDK gives up', 'DynamoDB_20120810.UpdateItem', 4],
  ])('%s: the work runs once and its outcome is stored', async (_name, target, count) => {
    await lost(
      target,
      async (through) => {
        const order = request()
        const work = vi.fn(() => 'done')
        expect(await setUp({}, through).run(order, work)).toEqual({ value: 'done', replayed: false, attempt: 1 })
        expect(await setUp().run(order, work)).toEqual({ value: 'done', replayed: true, attempt: 1 })
        expect(work).toHaveBeenCalledTimes(1)
      },
      count,
    )
  })

  test('of a takeover: the attempt is counted once', async () => {
    const order = request()
    const anHourAgo = { now: () => Date.now() - 3_600_000, wait: async () => undefined }
    await new Promise<void>((entered) => {
      void setUp({ leaseSeconds: 1, clock: anHourAgo }).run(order, () => {
        entered()
        return new Promise(() => undefined)
      })
    })
    await lost('DynamoDB_20120810.UpdateItem', async (through) => {
      expect(await setUp({}, through).run(order, ({ attempt }) => attempt)).toMatchObject({ value: 2, attempt: 2 })
    })
  })
})

describe('a store that cannot do what it is asked', () => {
  test('names the table and what to check', async () => {
    const store = dynamoStore({ tableName: 'no-such-table', client })
    const idempotency = createIdempotency({ store, namespace: 'n' })
    const work = vi.fn()
    await expect(idempotency.run(request(), work)).rejects.toThrow(
      /nothing was done: DynamoDB PutItem on table "no-such-table" failed: ResourceNotFoundException.*check tableName/,
    )
    expect(work).not.toHaveBeenCalled()
  })

  test.each([
    [{ tableName: '' }, /tableName must be the name or ARN.*got "". Is the environment variable set\?/],
    [{ tableName: undefined }, /tableName must be.*got undefined/],
    [{ tableName: 't', client: {} }, /client must be a DynamoDBClient; got an object/],
    [{ tableName: 't', table: 't' }, /dynamoStore has no option "table"/],
  ])('refuses wrong options: %j', (options, message) => {
    expect(() => dynamoStore(options as never)).toThrow(message)
  })
})

test('a foreign item under the key of a record is never decided on', async () => {
  const order = request()
  const { value: id } = await setUp().run(order, ({ id }) => id)
  await client.send(
    new PutItemCommand({ TableName: tableName, Item: { pk: { S: id }, sk: { S: 'op' }, cart: { S: 'x' } } }),
  )
  await expect(setUp().run(order, () => 'ran')).rejects.toThrow(/is not a lambda-once record/)
})

test('no key, scope or input lies in the table in clear', async () => {
  const items = await itemsAfter((idempotency) =>
    idempotency.run({ key: 'key-of-alice', scope: ['tenant-alice'], input: { card: '4242' } }, () => 'done'),
  )
  expect(JSON.stringify(items)).not.toMatch(/alice|4242/)
})
