import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DeleteCommand, DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { cachedStore } from '../../lib/cache/index.ts'
import { readCancellation } from '../../lib/commit/cancellation.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, type IdempotencyOptions, NoEffectError, TTL_ATTRIBUTE } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { type Fault, faultyStore } from '../core/faulty-store.ts'
import { codeOf, ORDER, setUp } from '../core/harness.ts'
import { httpEvent } from '../http/events.ts'
import { headerOf, setUp as http } from '../http/harness.ts'
import { createTable, localClient } from '../stores/table.ts'

let client: DynamoDBClient
let documents: DynamoDBDocumentClient
let tableName: string

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  documents = DynamoDBDocumentClient.from(client)
  tableName = await createTable(client)
})
afterAll(() => client.destroy())

/** Idempotency over the real engine, and what it sent. */
function real(over: Partial<IdempotencyOptions> = {}) {
  const sent: { action: string; body: Record<string, unknown> }[] = []
  const watched = localClient(inject('dynamoDbEndpoint'))
  watched.middlewareStack.add(
    (next) => (args) => {
      const { headers, body } = args.request as { headers: Record<string, string>; body: string | Uint8Array }
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
      sent.push({ action: headers['x-amz-target']?.split('.')[1] ?? '?', body: JSON.parse(text) })
      return next(args)
    },
    { step: 'finalizeRequest', priority: 'low' },
  )
  const namespace = `n-${crypto.randomUUID()}`
  const idempotency = createIdempotency({ store: dynamoStore({ tableName, client: watched }), namespace, ...over })
  const items = async () => {
    const { Items = [] } = await documents.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }))
    return Items.filter(({ pk }) => String(pk).startsWith(namespace))
  }
  return { idempotency, sent, items }
}

describe('The store', () => {
  test('TTL deletes days later, and expired records were still read: conditions decide what has expired', async () => {
    let nowMs = Date.now()
    const clock = { now: () => nowMs, wait: async () => undefined }
    const { idempotency, items } = real({ clock, retentionSeconds: 60 })
    await idempotency.run(ORDER, () => 'first')
    nowMs += 61_000
    expect(await items()).toHaveLength(1)
    expect(await idempotency.run(ORDER, () => 'again')).toMatchObject({ value: 'again', attempt: 1 })
  })

  test('The expiry was written in milliseconds, or as a text, and nothing was ever deleted: it is whole seconds, and too many are refused', async () => {
    const { idempotency, items } = real({ retentionSeconds: 3_600.5 })
    await idempotency.run(ORDER, () => 1)
    const [item] = await items()
    expect(Number.isInteger(item?.[TTL_ATTRIBUTE])).toBe(true)
    expect(String(item?.[TTL_ATTRIBUTE])).toHaveLength(10)
    for (const retentionSeconds of [86_400_000, Number.NaN, -1, '60' as never]) {
      expect(() => real({ retentionSeconds })).toThrow(/retentionSeconds/)
    }
  })

  test('A record that was deleted came back through a late update, without half of its attributes: an update makes no record', async () => {
    const { idempotency, items } = real()
    const gate = Promise.withResolvers<void>()
    const run = idempotency.run(ORDER, () => gate.promise)
    let there = await items()
    while (there.length === 0) there = await items()
    await documents.send(new DeleteCommand({ TableName: tableName, Key: { pk: there[0]?.pk, sk: there[0]?.sk } }))
    gate.resolve()
    expect(await codeOf(run)).toBe('LEASE_LOST')
    expect(await items()).toEqual([])
  })

  test('A cancelled transaction has a reason per item, and one of them was taken for all: the record’s own comes first', () => {
    const code = (Code: string) => ({ Code })
    const participants = [{ index: 0, guarding: undefined, over: undefined }]
    const kindOf = (...reasons: string[]) => readCancellation(reasons.map(code), participants).kind
    expect(kindOf('ConditionalCheckFailed', 'None')).toBe('refused')
    expect(kindOf('None', 'ConditionalCheckFailed')).toBe('conflict')
    expect(kindOf('None', 'TransactionConflict')).toBe('passing')
    expect(kindOf('None', 'ThrottlingError')).toBe('passing')
    expect(kindOf('None', 'ValidationError')).toBe('invalid')
  })

  test('A request token made of the payload swallowed an intended second write: each attempt has its own', async () => {
    const { idempotency, sent } = real()
    for (const key of ['a', 'b']) await idempotency.run({ key, input: 1 }, (operation) => operation.commit('same'))
    const tokens = sent
      .filter(({ action }) => action === 'TransactWriteItems')
      .map(({ body }) => body.ClientRequestToken)
    expect(new Set(tokens).size).toBe(2)
    for (const token of tokens) expect(String(token).length).toBeLessThanOrEqual(36)
  })

  test('A transaction had too many items, or two on one, and failed after the effect: it is checked before anything is sent', async () => {
    const { idempotency, sent } = real()
    const put = (id: number) => ({ Put: { TableName: 'orders', Item: { id } } })
    for (const [key, writes] of [
      ['many', Array.from({ length: 100 }, (_, id) => put(id))],
      ['twice', [put(1), put(1)]],
    ] as const) {
      const run = idempotency.run({ key, input: 1 }, (operation) => operation.commit('x', { writes: [...writes] }))
      expect(await codeOf(run)).toBe('INVALID_INPUT')
    }
    expect(sent.filter(({ action }) => action === 'TransactWriteItems')).toEqual([])
  })

  test('A response was larger than an item, its completion failed, and it ran again: it is stored in parts, byte for byte', async () => {
    const { idempotency } = real()
    const body = Array.from({ length: 20_000 }, () => crypto.randomUUID()).join()
    let calls = 0
    for (const replayed of [false, true]) {
      const run = idempotency.run(ORDER, () => ({ statusCode: 201, body, calls: ++calls }))
      expect(await run).toMatchObject({ replayed, value: { statusCode: 201, body, calls: 1 } })
    }
  })

  test('Marshalling lost values without a word: what was returned is what is replayed, or the path of what cannot be is named', async () => {
    const { idempotency } = real()
    const value = {
      date: new Date(0),
      list: [1, undefined, 2],
      big: 2n ** 60n,
      set: new Set([1, 'a']),
      map: new Map([['k', 1]]),
      bytes: new Uint8Array([1, 2]),
      empty: '',
      nan: Number.NaN,
    }
    expect((await idempotency.run(ORDER, () => value)).value).toEqual(value)
    expect(await idempotency.run(ORDER, () => 0)).toMatchObject({ replayed: true, value })
    const bad = () => idempotency.run({ key: 'bad', input: 1 }, () => ({ a: { run: () => 1 } }))
    await bad()
    await expect(bad()).rejects.toThrow(/a\.run/)
  })

  test('Attributes named like reserved words made expressions invalid: every one goes under an alias', async () => {
    const { idempotency, sent } = real()
    await idempotency.run(ORDER, (operation) => operation.step('s', () => 1))
    await idempotency.run(ORDER, () => 1)
    const expressions = sent.flatMap(({ body }) =>
      Object.entries(body).flatMap(([name, text]) => (/Expression$/.test(name) ? [String(text)] : [])),
    )
    expect(expressions.length).toBeGreaterThan(1)
    const known =
      /^(SET|REMOVE|ADD|DELETE|AND|OR|NOT|IN|BETWEEN|attribute_exists|attribute_not_exists|attribute_type|begins_with|size|if_not_exists|list_append)$/
    for (const text of expressions) {
      const bare = text.replace(/[#:][\w]+/g, '').match(/[a-z_]\w*/gi) ?? []
      expect(bare.filter((word) => !known.test(word))).toEqual([])
    }
  })

  test('Throttling on a hot key was answered as a failure, or as a duplicate: it is retried, and then it is 503', async () => {
    const served = (times: number) => {
      const store = faultyStore(memoryStore(), { put: Array.from({ length: times }, (): Fault => 'not-applied') })
      return http({}, { store, clock: fakeClock() }).serve(() => ({ statusCode: 201 }))(httpEvent())
    }
    expect((await served(3)).statusCode).toBe(201)
    const refused = await served(100)
    expect([refused.statusCode, headerOf(refused, 'Retry-After')]).toEqual([503, expect.any(String)])
  })

  test('A second read after each failed put cost money, and the record could change in between: a duplicate is one request', async () => {
    const { idempotency, sent } = real()
    await idempotency.run(ORDER, () => 1)
    sent.length = 0
    await idempotency.run(ORDER, () => 1)
    expect(sent.map(({ action }) => action)).toEqual(['PutItem'])
    expect(sent[0]?.body.ReturnValuesOnConditionCheckFailure).toBe('ALL_OLD')
  })

  test('What had expired or belonged to somebody else was answered from a cache: scope, expiry and request decide every time', async () => {
    const { idempotency, clock } = setUp({ retentionSeconds: 60, store: cachedStore(memoryStore()) })
    await idempotency.run({ ...ORDER, scope: 'a' }, () => 'a')
    expect(await idempotency.run({ ...ORDER, scope: 'b' }, () => 'b')).toMatchObject({ value: 'b', replayed: false })
    expect(await idempotency.run({ ...ORDER, scope: 'a' }, () => 'again')).toMatchObject({ value: 'a', replayed: true })
    expect(await codeOf(idempotency.run({ ...ORDER, scope: 'a', input: 'other' }, () => 'other'))).toBe('MISMATCH')
    clock.advance(61_000)
    expect(await idempotency.run({ ...ORDER, scope: 'a' }, () => 'new')).toMatchObject({
      value: 'new',
      replayed: false,
    })
  })

  test('A key was given back, and the process that held it went on refusing it from its cache: only what has ended is remembered', async () => {
    const { idempotency } = setUp({ store: cachedStore(memoryStore()) })
    const refuse = () => idempotency.run(ORDER, () => Promise.reject(new NoEffectError('not yet')))
    expect([await codeOf(refuse()), await codeOf(refuse())]).toEqual(['NO_EFFECT', 'NO_EFFECT'])
    expect(await idempotency.run(ORDER, () => 'done')).toMatchObject({ value: 'done', replayed: false })
  })
})
