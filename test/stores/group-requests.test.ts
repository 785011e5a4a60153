import type {
  BatchExecuteStatementCommandInput,
  BatchGetItemCommandInput,
  BatchStatementResponse,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, test } from 'vitest'
import { attributesOf } from '../../lib/dynamodb/attributes.ts'
import { batchRead } from '../../lib/dynamodb/batch-read.ts'
import { groupRequests } from '../../lib/dynamodb/group/requests.ts'
import { statementFor } from '../../lib/dynamodb/group/statements.ts'
import type { GroupedWrite } from '../../lib/dynamodb/group/writes.ts'
import { toItem } from '../../lib/dynamodb/items.ts'
import type { ShortConnection } from '../../lib/dynamodb/short-cuts.ts'
import type { OperationRecord } from '../../lib/index.ts'
import type { RecordChange } from '../../lib/record/store.ts'
import { aRecord, aStep, completion, NOW_MS } from '../../lib/store-contract/fixtures.ts'

const moment = { nowMs: NOW_MS, clockSkewMs: 0 }
const seen = { kind: 'seen', token: 'token-a', rev: 1 } as const
const update = (id: string): GroupedWrite => ({ kind: 'update', id, change: completion, seen })

/** A connection whose client answers what a test says. */
function answering(answers: object[]) {
  const inputs: unknown[] = []
  const send = async ({ input }: { input: unknown }) => {
    inputs.push(structuredClone(input))
    return answers.shift() ?? {}
  }
  const connection = {
    tableName: 'operations',
    client: () => ({ send }),
    clientFor: () => ({ send }),
    call: <T>(_action: string, request: () => Promise<T>) => request(),
  } as unknown as ShortConnection
  return { connection, inputs }
}

describe('an answer to a batch of statements', () => {
  const answersTo = async (...Responses: BatchStatementResponse[]) => {
    const { connection } = answering([{ Responses }])
    return groupRequests(connection).write(Responses.map((_, index) => update(`r${index}`)))
  }

  test('brings the record that a condition failed on, where the service sends it', async () => {
    const record = aRecord({ steps: { charge: aStep } })
    const Item = marshall(toItem(record))
    expect(await answersTo({ Error: { Code: 'ConditionalCheckFailed', Item } }, {})).toEqual([
      { kind: 'refused', existing: record },
      { kind: 'applied' },
    ])
  })

  test.each([
    ['no record', { pk: 'r0', sk: 'op', cart: 'x' }],
    ['a record without the form of one', { ...toItem(aRecord()), steps: null }],
  ])('that brings an item which is %s brings nothing', async (_name, item) => {
    const Item = marshall(item)
    expect(await answersTo({ Error: { Code: 'ConditionalCheckFailed', Item } })).toEqual([{ kind: 'refused' }])
  })

  test('without a code, or with one that is new, is not taken for a success', async () => {
    expect(await answersTo({ Error: {} }, { Error: { Code: 'SomethingNew' as 'AccessDenied' } })).toEqual([
      { kind: 'alone' },
      { kind: 'alone' },
    ])
  })

  test('that has no list of answers answers nothing', async () => {
    expect(await groupRequests(answering([{}]).connection).write([update('r0')])).toEqual([])
  })

  test.each([[null], [1], ['applied'], [true]])('that says %j of a statement says nothing of it', async (odd) => {
    expect(await answersTo({}, odd as never, {})).toEqual([{ kind: 'applied' }, undefined, { kind: 'applied' }])
  })

  test.each([[''], [0], [false], ['text']])('in which %j is the error is not taken for a success', async (odd) => {
    expect(await answersTo({ Error: odd as never })).toEqual([{ kind: 'alone' }])
  })
})

describe('a statement', () => {
  const everything: Required<Omit<RecordChange, 'step' | 'steps'>> = {
    ...completion,
    attempt: 2,
    token: 'token-b',
    leaseUntil: 1,
    expiresAt: 1,
    outcome: { kind: 'value', value: { kind: 'text', text: '[1]' } },
    commitId: 'c',
    wire: { kind: 'text', text: '[1]' },
    resumeAtMs: 1,
    waitingFor: 'w',
    signals: [],
    redrive: { target: { queueUrl: 'https://queue' }, payload: { kind: 'text', text: '["body"]' } },
    continuation: { id: 'm', dueAtMs: 1 },
    isReconciled: true,
    canProbe: true,
    dueShard: 'n#0',
    dueAtMs: 1,
    crashes: 1,
    trace: 't',
    unknownStep: 's',
  }

  test('holds no value in its text, and stays far below the 8,192 characters that DynamoDB takes', () => {
    const tableName = 't'.repeat(255)
    const { status: _status, updatedAtMs: _at, ...fields } = everything
    const record = aRecord({ ...fields, metadata: { note: 'x' } } as Partial<OperationRecord>)
    for (const write of [
      { kind: 'insert', id: record.id, record, moment },
      { kind: 'update', id: 'r0', change: everything, seen },
      { kind: 'update', id: 'r0', change: { ...everything, wire: undefined, trace: undefined }, seen },
    ] as GroupedWrite[]) {
      const { Statement = '', Parameters } = statementFor(tableName, write)
      expect(Statement.length).toBeLessThan(2_000)
      expect(Statement.match(/\?/g)).toHaveLength(Parameters?.length ?? 0)
      expect(Statement).not.toMatch(/token-|COMPLETED|https/)
    }
  })

  test('asks for the record that stands against it', async () => {
    const { connection, inputs } = answering([{ Responses: [{}] }])
    await groupRequests(connection).write([update('r0')])
    const [{ Statements }] = inputs as [BatchExecuteStatementCommandInput]
    expect(Statements).toMatchObject([{ ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }])
  })
})

describe('a batch read', () => {
  const keysOf = (...pks: string[]) => pks.map((pk) => ({ pk, sk: 'op' }))
  const left = (...pks: string[]) => ({ operations: { Keys: keysOf(...pks).map(attributesOf) } })
  const items = (...pks: string[]) => ({ operations: pks.map((pk) => attributesOf({ pk })) })
  const asked = (inputs: unknown[]) =>
    (inputs as BatchGetItemCommandInput[]).map(({ RequestItems }) =>
      RequestItems?.operations?.Keys?.map(({ pk }) => pk?.S),
    )

  test('is asked again for what it left out, after a pause', async () => {
    const { connection, inputs } = answering([
      { Responses: items('b'), UnprocessedKeys: left('a', 'c') },
      { UnprocessedKeys: left('a', 'c') },
      { Responses: items('c') },
    ])
    const pauses: number[] = []
    const found = await batchRead(connection, keysOf('a', 'b', 'c'), async (round) => void pauses.push(round))
    expect(found).toEqual([{ pk: 'b' }, { pk: 'c' }])
    expect(asked(inputs)).toEqual([
      ['a', 'b', 'c'],
      ['a', 'c'],
      ['a', 'c'],
    ])
    expect(pauses).toEqual([1, 2])
  })

  test('reads consistently, each item as it was written', async () => {
    const item = { pk: 'a', bytes: Uint8Array.of(0, 255), list: [1, 'x', null, true], map: { n: 1.5 }, big: 2n ** 60n }
    const { connection, inputs } = answering([{ Responses: { operations: [attributesOf(item)] } }])
    expect(await batchRead(connection, keysOf('a'))).toEqual([item])
    expect(inputs).toMatchObject([{ RequestItems: { operations: { ConsistentRead: true } } }])
  })

  test.each([
    [1, [1]],
    [100, [100]],
    [101, [100, 1]],
    [250, [100, 100, 50]],
  ])('of %d items takes a request for each hundred, all at the same time', async (count, sizes) => {
    const pks = Array.from({ length: count }, (_, n) => `k${n}`)
    const inputs: unknown[] = []
    const underway = Promise.withResolvers<void>()
    const send = async ({ input }: { input: BatchGetItemCommandInput }) => {
      inputs.push(input)
      if (inputs.length === sizes.length) underway.resolve()
      await underway.promise
      return { Responses: { operations: input.RequestItems?.operations?.Keys ?? [] } }
    }
    const connection = { ...answering([]).connection, client: () => ({ send }) as never }
    expect(await batchRead(connection, keysOf(...pks))).toEqual(keysOf(...pks))
    expect(asked(inputs).map((keys) => keys?.length)).toEqual(sizes)
    expect(asked(inputs).flat()).toEqual(pks)
  })

  test('of nothing asks for nothing', async () => {
    const { connection, inputs } = answering([])
    expect(await batchRead(connection, [])).toEqual([])
    expect(inputs).toEqual([])
  })

  test('of which one request fails fails', async () => {
    const refused = new Error('refused')
    let requests = 0
    const send = async () => {
      requests++
      if (requests === 2) throw refused
      return {}
    }
    const connection = { ...answering([]).connection, client: () => ({ send }) as never }
    await expect(batchRead(connection, keysOf(...Array.from({ length: 300 }, (_, n) => `k${n}`)))).rejects.toBe(refused)
  })

  test('that leaves out the same again and again fails, and may be repeated', async () => {
    const { connection, inputs } = answering(Array.from({ length: 20 }, () => ({ UnprocessedKeys: left('a') })))
    await expect(batchRead(connection, keysOf('a', 'b', 'c'))).rejects.toMatchObject({ code: 'STORE', retryable: true })
    expect(inputs).toHaveLength(8)
  })

  test('leaves out what is no record', async () => {
    const record = aRecord()
    const foreign = { pk: 'x', sk: 'op', cart: 1 }
    const { connection } = answering([{ Responses: { operations: [toItem(record), foreign].map(attributesOf) } }])
    const found = await groupRequests(connection).read([record.id, 'x', 'y'], async () => undefined)
    expect([...found]).toEqual([[record.id, record]])
  })
})
