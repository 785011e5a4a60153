import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import type { OperationRecord } from '../../lib/index.ts'
import type { RecordChange } from '../../lib/record/store.ts'
import { absentAt, aRecord, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { PACING } from './accompanied.ts'
import { createTable } from './table.ts'
import { watchedClient } from './wire.ts'

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', "it's", '"quoted"', '?', "'?'", '--', '/*', '\u0000', '\ud800'),
)
const name = fc.oneof({ weight: 9, arbitrary: text.filter((given) => given !== '') }, fc.constant('__proto__'))
const time = fc.oneof(
  fc.nat(),
  fc.double({ min: 0.001, max: 9e15, noNaN: true }),
  fc.constantFrom(0, Number.MAX_SAFE_INTEGER, 0.1),
)
const bytes = fc.uint8Array({ maxLength: 20 })
const value = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), text }),
  fc.record({ kind: fc.constant('json' as const), text }),
  fc.record({ kind: fc.constant('brotli' as const), bytes }),
  fc.record({ kind: fc.constant('coded' as const), codec: text, bytes }),
)
const step = fc.oneof(
  fc.record({ kind: fc.constant('done' as const), value }),
  fc.record({ kind: fc.constant('started' as const), startedAtMs: time }),
)
const steps = fc.dictionary(name, step, { maxKeys: 3, noNullPrototype: true })
const redrive = fc.record({ target: fc.record({ queueUrl: text }), payload: value })
const truth = fc.constant(true as const)
const maybe = <T>(given: fc.Arbitrary<T>) => fc.option(given, { nil: undefined })

const claims: fc.Arbitrary<Partial<OperationRecord>> = fc.record(
  {
    fingerprint: text,
    metadata: fc.dictionary(name, text, { maxKeys: 3, noNullPrototype: true }),
    trace: text,
    steps,
    redrive,
    createdAtMs: time,
    leaseUntil: time,
    dueAtMs: time,
  },
  { requiredKeys: [] },
)

const endings: fc.Arbitrary<RecordChange> = fc.record(
  {
    status: fc.constantFrom('COMPLETED', 'FAILED', 'RETRYABLE', 'RELEASED', 'UNKNOWN'),
    leaseUntil: maybe(time),
    expiresAt: maybe(time),
    updatedAtMs: time,
    outcome: fc.oneof(
      fc.record({ kind: fc.constant('value' as const), value }),
      fc.record(
        {
          kind: fc.constant('failure' as const),
          failure: fc.record({ name: text, message: text, code: text }, { requiredKeys: ['name', 'message'] }),
          value,
        },
        { requiredKeys: ['kind', 'failure'] },
      ),
    ),
    wire: value,
    redrive,
    steps,
    signals: fc.array(fc.record({ id: text, atMs: time, payload: value }), { maxLength: 2 }),
    resumeAtMs: maybe(time),
    waitingFor: maybe(text),
    continuation: maybe(fc.record({ id: text, dueAtMs: time })),
    isReconciled: maybe(truth),
    canProbe: maybe(truth),
    dueAtMs: maybe(time),
    unknownStep: maybe(text),
    crashes: time,
    trace: text,
    commitId: text,
  },
  { requiredKeys: ['status', 'leaseUntil', 'expiresAt', 'updatedAtMs'] },
)

describe('whatever a record holds, statements leave in the table what a put and an update leave there', async () => {
  const { client, sent } = watchedClient(inject('dynamoDbEndpoint'))
  afterAll(() => client.destroy())
  const tableName = await createTable(client)
  const store = dynamoStore({ tableName, client })
  const group = store.grouped!(PACING)

  async function itemOf(id: string) {
    const Key = { pk: { S: id }, sk: { S: 'op' } }
    const { Item } = await client.send(new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }))
    return { ...Item, pk: undefined }
  }

  test('value by value', async () => {
    const seen = { kind: 'seen', token: 'token-a', rev: 1 } as const
    const applied = { applied: true }
    await fc.assert(
      fc.asyncProperty(claims, endings, async (fields, ending) => {
        const [alone, one, other] = Array.from({ length: 3 }, () => aRecord(fields)) as [
          OperationRecord,
          OperationRecord,
          OperationRecord,
        ]
        sent.length = 0
        const put = (record: OperationRecord) => group.put(record, absentAt(NOW_MS))
        expect(await store.put(alone, absentAt(NOW_MS))).toEqual(applied)
        expect(await Promise.all([put(one), put(other)])).toEqual([applied, applied])
        for (const { id } of [one, other]) expect(await itemOf(id)).toEqual(await itemOf(alone.id))

        const end = ({ id }: OperationRecord) => group.update(id, ending, seen)
        expect(await store.update(alone.id, ending, seen)).toEqual(applied)
        expect(await Promise.all([end(one), end(other)])).toEqual([applied, applied])
        for (const { id } of [one, other]) expect(await itemOf(id)).toEqual(await itemOf(alone.id))
        expect(sent.filter((request) => request === 'BatchExecuteStatement')).toHaveLength(2)
      }),
      { numRuns: 60 },
    )
  })
})
