import {
  BatchExecuteStatementCommand,
  type ConditionalCheckFailedException,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { shortCuts } from '../../lib/dynamodb/short-cuts.ts'
import { absentAt, aRecord, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { PACING } from './accompanied.ts'
import { answeringClient, type GivenAnswer } from './answering-client.ts'
import { BYTES, conditionFailed, ITEM, WIRE_ITEM } from './wire-items.ts'

const tableName = 'operations'

/** Every kind of value, as DynamoDB writes it. */
const WIRE_VALUES = {
  text: { S: 'Zürich' },
  number: { N: '1.50' },
  bytes: { B: Buffer.from(BYTES).toString('base64') },
  yes: { BOOL: true },
  nothing: { NULL: true },
  texts: { SS: ['a', 'b'] },
  numbers: { NS: ['1', '2'] },
  manyBytes: { BS: ['AP8=', ''] },
  list: { L: [{ S: 'a' }, { B: 'AP8=' }, { L: [] }, { M: { deep: { B: 'AP8=' } } }] },
  map: { M: { bytes: { B: 'AP8=' }, empty: { M: {} } } },
  B: { M: { B: { B: 'AP8=' }, S: { S: 'S' } } },
}
const refusedBy = (fields: object) => ({ Error: { Code: 'ConditionalCheckFailed', Message: 'no', ...fields } })
function outputOf(client: DynamoDBClient, isShort: boolean) {
  const command = new BatchExecuteStatementCommand({ Statements: [{ Statement: 'x' }, { Statement: 'y' }] })
  return (isShort ? shortCuts(client)(command) : client).send(command)
}

describe('an answer to a batch', () => {
  test.each<[string, unknown]>([
    ['of writes that were applied', { Responses: [{}, { TableName: tableName }] }],
    ['with an error', { Responses: [{ Error: { Code: 'ThrottlingError', Message: 'no' } }, {}] }],
    ['with an error without a word', { Responses: [{ Error: {} }, { Error: null }] }],
    ['with a record of every kind of value', { Responses: [refusedBy({ Item: WIRE_VALUES }), {}] }],
    ['with a record of its own', { Responses: [{ Item: WIRE_VALUES, TableName: tableName }, refusedBy({})] }],
    ['of nothing', { Responses: [] }],
    ['without a list', {}],
    ['with a list that is missing', { Responses: null }],
    ['that is null', null],
    ['that is a list', [{}, {}]],
    [
      'with what it took',
      { Responses: [{}, {}], ConsumedCapacity: [{ TableName: tableName, CapacityUnits: 2, WriteCapacityUnits: 2 }] },
    ],
  ])('%s is read as the SDK reads it', async (_name, body) => {
    const mine = await outputOf(answeringClient([{ statusCode: 200, body }]).client, true)
    const theirs = await outputOf(answeringClient([{ statusCode: 200, body }]).client, false)
    expect(mine.Responses?.map(withoutNull)).toEqual(theirs.Responses)
    expect(mine.ConsumedCapacity).toEqual(theirs.ConsumedCapacity)
    expect(mine.$metadata).toMatchObject({ httpStatusCode: 200, requestId: 'request-1', attempts: 1 })
  })

  test('brings records whose bytes are bytes', async () => {
    const body = { Responses: [refusedBy({ Item: WIRE_ITEM }), {}] }
    const { Responses } = await outputOf(answeringClient([{ statusCode: 200, body }]).client, true)
    expect(Responses).toEqual([refusedBy({ Item: ITEM }), {}])
  })

  test('keeps attributes of any name, one included that the SDK loses', async () => {
    const body = '{"Responses":[{"Error":{"Code":"ConditionalCheckFailed","Item":{"__proto__":{"B":"AP8="}}}}]}'
    const { Responses } = await outputOf(answeringClient([{ statusCode: 200, body }]).client, true)
    expect(Object.entries(Responses?.[0]?.Error?.Item ?? {})).toEqual([['__proto__', { B: Uint8Array.of(0, 255) }]])
  })

  test('brings records whose steps and metadata may have any name', async () => {
    const metadata = { M: JSON.parse('{"__proto__":{"S":"note"}}') }
    const steps = { M: JSON.parse('{"__proto__":{"M":{"kind":{"S":"done"}}}}') }
    const item = (id: string) => ({ ...WIRE_ITEM, pk: { S: id }, metadata, steps })
    const refused = ['op#1', 'op#2'].map((id) => refusedBy({ Code: 'DuplicateItem', Item: item(id) }))
    const { client } = answeringClient([{ statusCode: 200, body: { Responses: refused } }])
    const group = dynamoStore({ tableName, client }).grouped?.(PACING)
    const answers = await Promise.all(['op#1', 'op#2'].map((id) => group?.put(aRecord({ id }), absentAt(NOW_MS))))
    for (const answer of answers) {
      const existing = answer?.applied === false ? answer.existing : undefined
      expect(Object.entries(existing?.metadata ?? {})).toEqual([['__proto__', 'note']])
      expect(Object.entries(existing?.steps ?? {})).toEqual([['__proto__', { kind: 'done' }]])
    }
  })

  test.each<[string, GivenAnswer]>([
    ['a refusal', { statusCode: 400, body: { __type: 'a#ValidationException', message: 'no' } }],
    ['a missing right', { statusCode: 400, body: { __type: 'a#AccessDeniedException', message: 'no' } }],
    ['a failure of the service', { statusCode: 500, body: { __type: 'a#InternalServerError', message: 'no' } }],
    ['no JSON', { statusCode: 200, body: '<html>' }],
    ['the beginning of JSON', { statusCode: 200, body: '{"Responses":[{},' }],
  ])('that is %s fails as it does with the SDK', async (_name, answer) => {
    const [mine, theirs] = await Promise.all(
      [true, false].map((isShort) =>
        outputOf(answeringClient([answer], { maxAttempts: 1 }).client, isShort).catch((error: unknown) => error),
      ),
    )
    expect(theirs).toBeInstanceOf(Error)
    expect(mine).toBeInstanceOf(Error)
    const { name, $metadata } = theirs as ConditionalCheckFailedException
    expect((mine as Error).name).toBe(name)
    expect(mine).toMatchObject({ $metadata: { httpStatusCode: $metadata.httpStatusCode } })
  })

  const applied = { applied: true } as const
  const refusal = conditionFailed({ Item: WIRE_ITEM })
  test.each([
    ['', 'in doubt'],
    ['null', 'in doubt'],
    ['[]', 'in doubt'],
    ['12', 'in doubt'],
    ['[{}]', 'in doubt'],
    ['"text"', 'in doubt'],
    ['<html>', 'in doubt'],
    ['{"Responses":[{},', 'in doubt'],
    ['{}', 'in doubt'],
    ['{"Responses":null}', 'in doubt'],
    ['{"Responses":[]}', 'in doubt'],
    ['{"Responses":[{}]}', 'in doubt'],
    ['{"Responses":[{},{},{}]}', 'in doubt'],
    ['{"Responses":[null,null]}', 'in doubt'],
    ['{"Responses":[[],[{}]]}', 'in doubt'],
    ['{"Responses":[1,"applied"]}', 'in doubt'],
    ['{"Responses":[{"Error":""},{"Error":0}]}', 'in doubt'],
    ['{"Responses":[{"Error":false},{"Error":[]}]}', 'in doubt'],
    ['{"Responses":[{"Error":"AccessDenied"},{"Error":[{}]}]}', 'in doubt'],
    ['{"Responses":[{"Error":{"Item":{"pk":null}}},{}]}', 'in doubt'],
    ['{"Responses":{}}', 'asked alone'],
    ['{"Responses":"x"}', 'asked alone'],
    ['{"Responses":[{"Error":{"Code":null}},{"Error":{}}]}', 'asked alone'],
    ['{"Responses":[{"Error":{"Code":"DuplicateItem","Item":{"pk":{"X":1}}}},{}]}', 'asked alone'],
  ])('that says %s says of no write that it was applied', async (body, what) => {
    const { client, sent } = answeringClient([{ statusCode: 200, body }, refusal], { maxAttempts: 1 })
    const group = dynamoStore({ tableName, client }).grouped?.(PACING)
    const claims = await Promise.allSettled(
      ['op#1', 'op#2'].map((id) => group?.put({ ...aRecord(), id }, absentAt(NOW_MS))),
    )
    for (const claim of claims) {
      if (what === 'in doubt') expect(claim).toMatchObject({ reason: { code: 'STORE', retryable: true } })
      else expect(claim).toMatchObject({ value: { applied: false } })
      expect(claim).not.toMatchObject({ value: applied })
    }
    expect(sent).toHaveLength(what === 'in doubt' ? 1 : 3)
  })

  test('of which one entry is odd leaves that one in doubt, and its neighbour applied', async () => {
    const { client } = answeringClient([{ statusCode: 200, body: { Responses: [{}, null] } }])
    const group = dynamoStore({ tableName, client }).grouped?.(PACING)
    const [first, second] = await Promise.allSettled(
      ['op#1', 'op#2'].map((id) => group?.put({ ...aRecord(), id }, absentAt(NOW_MS))),
    )
    expect(first).toMatchObject({ value: applied })
    expect(second).toMatchObject({ reason: { code: 'STORE', retryable: true } })
  })
})

/** JSON has fields without a value, which the SDK leaves out. */
function withoutNull(answer: object): object {
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null))
}
