import { createHash } from 'node:crypto'
import {
  BatchExecuteStatementCommand,
  ConditionalCheckFailedException,
  DynamoDBClient,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test, vi } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { shortCuts } from '../../lib/dynamodb/short-cuts.ts'
import { wireText } from '../../lib/dynamodb/wire.ts'
import type { OperationRecord } from '../../lib/record/record.ts'
import type { RecordChange, Store } from '../../lib/record/store.ts'
import { absentAt, aRecord, aStep, completion, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { PACING } from './accompanied.ts'
import { APPLIED, answeringClient, type GivenAnswer } from './answering-client.ts'
import { BYTES, conditionFailed, WIRE_ITEM } from './wire-items.ts'

const tableName = 'operations'
const TEXTS = [
  '',
  '"quoted" \\ and /',
  'tab\tline\nnull\0',
  'Zürich, 東京, 🧾',
  'line\u2028separator',
  '</script>',
  '\ud800',
]

const seen = { kind: 'seen', token: 'token-a', rev: 1 } as const
const held = { kind: 'held', token: 'token-a' } as const
const json = (text: string) => ({ kind: 'value', value: { kind: 'json', text } }) as const

const records: readonly (readonly [string, Partial<OperationRecord>])[] = [
  ['a first record', {}],
  [
    'a record with everything',
    { metadata: { 'a.b': 'c', ü: 'ä' }, trace: '00-1-2-01', dueShard: 'due#1', dueAtMs: 1.5 },
  ],
  ['a record with steps', { steps: { 'charge the card': aStep, other: { kind: 'started', startedAtMs: NOW_MS } } }],
  ['a record with flags', { isReconciled: true, canProbe: true, signals: [] }],
  ['a record with bytes', { outcome: { kind: 'value', value: { kind: 'brotli', bytes: BYTES } } }],
  ...TEXTS.map((text) => [`a record with the text ${JSON.stringify(text)}`, { outcome: json(text) }] as const),
]

const changes: readonly (readonly [string, RecordChange])[] = [
  ['a completion', completion],
  ['a completion with what is removed', { ...completion, dueShard: undefined, dueAtMs: undefined }],
  ['a step', { ...completion, status: 'IN_PROGRESS', step: { name: 'charge "it"', record: aStep } }],
  ['a step that is removed', { ...completion, status: 'IN_PROGRESS', step: { name: 'charge', record: undefined } }],
  ['signals', { ...completion, signals: [{ id: 's', atMs: 1, payload: { kind: 'json', text: '1' } }] as never }],
  ['bytes', { ...completion, wire: { kind: 'brotli', bytes: BYTES } }],
]

type Writing = (store: Store) => Promise<unknown>
const writes: readonly (readonly [string, Writing])[] = [
  ...records.map(([name, fields]) => [name, (store: Store) => store.put(aRecord(fields), absentAt(NOW_MS))] as const),
  ['a record over the one seen', (store) => store.put(aRecord(), seen)],
  ...changes.map(([name, change]) => [name, (store: Store) => store.update('op#1', change, seen)] as const),
  ['a change of what is held', (store) => store.update('op#1', completion, { ...held, signals: 2 })],
  ['a change of what is committed', (store) => store.update('op#1', completion, { kind: 'committed', token: 't' })],
]

const together = async (store: Store, send: (grouped: Store) => readonly Promise<unknown>[]): Promise<unknown> => {
  const grouped = store.grouped?.(PACING)
  return grouped && Promise.all(send(grouped))
}
const [one, other] = ['op#1', 'op#2'] as const
const batches: readonly (readonly [string, Writing])[] = [
  ...(records.map(([name, fields]) => {
    const put = (store: Store, id: string) => store.put({ ...aRecord(fields), id }, absentAt(NOW_MS))
    return [`two claims, ${name}`, (store: Store) => together(store, (group) => [put(group, one), put(group, other)])]
  }) as [string, Writing][]),
  ...(changes
    .filter(([, { step }]) => step === undefined)
    .map(([name, change]) => {
      const end = (store: Store, id: string) => store.update(id, change, seen)
      return [
        `two endings, ${name}`,
        (store: Store) => together(store, (group) => [end(group, one), end(group, other)]),
      ]
    }) as [string, Writing][]),
]
/** What the SDK leaves out. */
const NULLS: readonly (readonly [string, object])[] = [
  ['no condition', { ConditionExpression: null }],
  ['no values', { ExpressionAttributeValues: null }],
  ['an attribute that is null', { Item: { a: null } }],
  ['a map that is null', { Item: { a: { M: null } } }],
  ['a null in a map', { Item: { a: { M: { b: null } } } }],
  ['a list that is null', { Item: { a: { L: null } } }],
  ['a null in a list', { Item: { a: { L: [null] } } }],
  ['no parameters', { Statements: [{ Statement: 'x', Parameters: null }] }],
  ['a parameter that is null', { Statements: [{ Statement: 'x', Parameters: [null] }] }],
  ['a statement that is null', { Statements: [null] }],
]
const BOTH: GivenAnswer = { statusCode: 200, body: { Responses: [{ TableName: tableName }, { TableName: tableName }] } }

describe('the request of', () => {
  test.each([...writes, ...batches])('%s means what the SDK would have written', async (name, write) => {
    const isBatch = batches.some(([batch]) => batch === name)
    const short = answeringClient([isBatch ? BOTH : APPLIED])
    // Of the class of all clients: one of its own would have the client served the SDK's way.
    const send = vi.spyOn(Object.getPrototypeOf(DynamoDBClient.prototype), 'send')
    await write(dynamoStore({ tableName, client: short.client }))
    const command: unknown = send.mock.lastCall?.[0]
    const [by] = send.mock.contexts
    send.mockRestore()
    // A client of its own kind, which keeps what it resolves.
    expect(by).not.toBe(short.client)

    expect(command instanceof BatchExecuteStatementCommand).toBe(isBatch)
    const { constructor: Command, input } = command as PutItemCommand
    const usual = answeringClient()
    await usual.client.send(new (Command as typeof PutItemCommand)(input))

    expect(short.sent).toHaveLength(1)
    const [mine] = short.sent
    const [theirs] = usual.sent
    expect(JSON.parse(mine?.text ?? '')).toEqual(JSON.parse(theirs?.text ?? ''))
    const { method, path } = theirs ?? {}
    expect(mine).toMatchObject({ method, path })
    expect(Object.keys(mine?.headers ?? {}).sort()).toEqual(Object.keys(theirs?.headers ?? {}).sort())
    for (const name of ['content-type', 'x-amz-target', 'host', 'user-agent']) {
      expect(mine?.headers[name]).toBe(theirs?.headers[name])
    }
    const hashed = createHash('sha256')
      .update(mine?.text ?? '')
      .digest('hex')
    expect(mine?.headers['x-amz-content-sha256']).toBe(hashed)
    expect(mine?.headers['content-length']).toBe(String(Buffer.byteLength(mine?.text ?? '')))
  })

  test('a client with a path in its endpoint goes there', async () => {
    const { client, sent } = answeringClient([APPLIED], { endpoint: 'http://127.0.0.1:9/prefix' })
    await dynamoStore({ tableName, client }).put(aRecord(), absentAt(NOW_MS))
    expect(sent[0]?.path).toBe('/prefix/')
  })
})

describe('the text of a write is left to the SDK where it holds', () => {
  test.each([
    ['bytes', { Item: { a: { B: BYTES } } }],
    ['bytes in a map', { Item: { a: { M: { b: { B: BYTES } } } } }],
    ['bytes in a list', { ExpressionAttributeValues: { ':a': { L: [{ B: BYTES }] } } }],
    ['a set of bytes', { Key: { a: { BS: [BYTES] } } }],
    ['a part that is not known here', { Item: {}, Expected: {} }],
    ['bytes in a parameter', { Statements: [{ Parameters: [{ S: 'a' }, { B: BYTES }] }] }],
    ['bytes in a map in a parameter', { Statements: [{ Parameters: [{ M: { a: { B: BYTES } } }] }] }],
    ['bytes in the last statement', { Statements: [{ Parameters: [{ S: 'a' }] }, { Parameters: [{ B: BYTES }] }] }],
    ['a part of a statement that is not known here', { Statements: [{ Statement: 'x', ConsistentRead: true }] }],
    ['a set in a parameter', { Statements: [{ Parameters: [{ SS: ['a'] }] }] }],
    ['a parameter that is missing', { Statements: [{ Parameters: [undefined] }] }],
    ...NULLS.map(([name, input]) => [name, input] as [string, object]),
  ])('%s', (_name, input) => {
    expect(wireText(input)).toBeUndefined()
  })
})

async function errorOf(client: DynamoDBClient, isShort: boolean): Promise<unknown> {
  const command = new PutItemCommand({ TableName: tableName, Item: { pk: { S: 'op' } } })
  return (isShort ? shortCuts(client)(command) : client).send(command).catch((error: unknown) => error)
}

describe('an error', () => {
  test.each<[string, GivenAnswer]>([
    ['a failed condition', conditionFailed({ message: 'The conditional request failed' })],
    ['a failed condition with an item', conditionFailed({ message: 'no', Item: WIRE_ITEM })],
    ['a failed condition with a capital message', conditionFailed({ Message: 'no' })],
    [
      'a refusal',
      { statusCode: 400, body: { __type: 'com.amazon.coral.validate#ValidationException', message: 'no' } },
    ],
    [
      'a refusal that speaks of a condition',
      { statusCode: 400, body: { __type: 'a#ValidationException', message: 'ConditionalCheckFailedException' } },
    ],
    ['a missing table', { statusCode: 400, body: { __type: 'a#ResourceNotFoundException', message: 'no' } }],
    ['a failure of the service', { statusCode: 500, body: { __type: 'a#InternalServerError', message: 'no' } }],
    ['an answer that is no JSON', { statusCode: 400, body: '<html>' }],
    ['an answer without a word', { statusCode: 503, body: '' }],
  ])('that is %s reaches the caller as the SDK makes it', async (_name, answer) => {
    const options = { maxAttempts: 1 }
    const mine = await errorOf(answeringClient([answer], options).client, true)
    const theirs = await errorOf(answeringClient([answer], options).client, false)
    expect(theirs).toBeInstanceOf(Error)
    const { name, message, $metadata, $fault, Item } = theirs as ConditionalCheckFailedException
    expect(mine).toBeInstanceOf((theirs as Error).constructor)
    expect({ ...(mine as object), name: (mine as Error).name, message: (mine as Error).message }).toMatchObject({
      name,
      ...($fault && { $fault, message }),
      $metadata: { httpStatusCode: $metadata.httpStatusCode, attempts: $metadata.attempts },
      ...(Item && { Item }),
    })
  })

  test('that passes is retried by the SDK with the same body', async () => {
    const { client, sent } = answeringClient([{ statusCode: 500, body: { __type: 'a#InternalServerError' } }, APPLIED])
    await expect(dynamoStore({ tableName, client }).put(aRecord(), absentAt(NOW_MS))).resolves.toEqual({
      applied: true,
    })
    expect(sent.map(({ text }) => text)).toEqual([sent[0]?.text, sent[0]?.text])
  })

  test('brings the record that stands against a write, its bytes too', async () => {
    const { client } = answeringClient([conditionFailed({ message: 'no', Item: WIRE_ITEM })])
    const { id: _id, ...there } = aRecord({ outcome: { kind: 'value', value: { kind: 'brotli', bytes: BYTES } } })
    await expect(dynamoStore({ tableName, client }).put(aRecord(), absentAt(NOW_MS))).resolves.toMatchObject({
      applied: false,
      existing: { ...there, id: 'op' },
    })
  })
})

describe("a client's own middleware", () => {
  test('sees the whole input, and what it adds is sent and answered', async () => {
    const capacity = { ConsumedCapacity: { TableName: tableName, CapacityUnits: 1 } }
    const { client, sent } = answeringClient([{ statusCode: 200, body: capacity }])
    const outputs: unknown[] = []
    client.middlewareStack.add((next) => async (args) => {
      expect(args.input).toMatchObject({ TableName: tableName, Item: { status: { S: 'IN_PROGRESS' } } })
      const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } as never })
      outputs.push(answer.output)
      return answer
    })
    await dynamoStore({ tableName, client }).put(aRecord(), absentAt(NOW_MS))
    expect(JSON.parse(sent[0]?.text ?? '')).toMatchObject({ ReturnConsumedCapacity: 'TOTAL' })
    expect(outputs).toEqual([expect.objectContaining(capacity)])
  })

  test('that comes with a failed condition gets the class of the SDK', async () => {
    const { client } = answeringClient([conditionFailed({ message: 'no', Item: WIRE_ITEM })])
    const errors: unknown[] = []
    client.middlewareStack.add((next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        errors.push(error)
        throw error
      }
    })
    await dynamoStore({ tableName, client }).update('op', completion, seen)
    expect(errors).toEqual([expect.any(ConditionalCheckFailedException)])
  })
})

describe('a client that keeps what it resolved', () => {
  test('sends each write by itself, and the commands of others as they are', async () => {
    const { client, sent } = answeringClient([APPLIED], { cacheMiddleware: true })
    const store = dynamoStore({ tableName, client })
    await store.put(aRecord({ id: 'one' }), absentAt(NOW_MS))
    await store.put(aRecord({ id: 'two' }), absentAt(NOW_MS))
    await store.update('three', completion, seen)
    await client.send(new PutItemCommand({ TableName: 'other', Item: { pk: { S: 'four' }, bytes: { B: BYTES } } }))
    const bodies = sent.map(({ text }) => JSON.parse(text))
    expect(bodies.map(({ Item, Key }) => (Item ?? Key).pk.S)).toEqual(['one', 'two', 'three', 'four'])
    expect(bodies[3]).toMatchObject({
      TableName: 'other',
      Item: { bytes: { B: Buffer.from(BYTES).toString('base64') } },
    })
  })

  test.each(NULLS)('leaves the write of somebody else to the SDK that has %s', async (_name, input) => {
    const others = (whole: object) =>
      'Statements' in input
        ? new BatchExecuteStatementCommand({ Statements: [{ Statement: 'x' }], ...whole })
        : new PutItemCommand({ TableName: tableName, Item: { pk: { S: 'a' } }, ...whole })
    const shared = answeringClient([BOTH], { cacheMiddleware: true })
    const first = others({})
    await shortCuts(shared.client)(first).send(first as PutItemCommand)
    await shared.client.send(others(input) as PutItemCommand)
    const usual = answeringClient([BOTH])
    await usual.client.send(others(input) as PutItemCommand)
    expect(shared.sent[1]?.text).toBe(usual.sent[0]?.text)
  })

  test('serves what lies beside a record, too', async () => {
    const { client, sent } = answeringClient([APPLIED], { cacheMiddleware: true })
    const store = dynamoStore({ tableName, client })
    for (const sk of ['outbox#1', 'outbox#2']) await store.putBeside('op', { sk, attributes: {} })
    expect(sent.map(({ text }) => JSON.parse(text).Item.sk.S)).toEqual(['outbox#1', 'outbox#2'])
  })
})

describe('no short cut is taken with a client', () => {
  const command = () => new PutItemCommand({ TableName: tableName, Item: {} })
  const isLeft = (client: unknown) => shortCuts(client as DynamoDBClient)(command()) === client

  test('that only sends', () => {
    expect(isLeft({ send: () => undefined })).toBe(true)
  })

  test('of another protocol', () => {
    const { client } = answeringClient()
    const protocol = Object.create(client.config.protocol, {
      getShapeId: { value: () => 'smithy.protocols#rpcv2Cbor' },
    })
    expect(isLeft({ middlewareStack: client.middlewareStack, config: { ...client.config, protocol } })).toBe(true)
  })

  test.each(['serializerMiddleware', 'deserializerMiddleware'])('without a step named %s', (name) => {
    const { client } = answeringClient()
    client.middlewareStack.remove(name)
    expect(isLeft(client)).toBe(true)
  })

  test('but with one that is as the SDK makes it', () => {
    expect(isLeft(answeringClient().client)).toBe(false)
  })
})
