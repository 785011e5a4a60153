import { CreateTableCommand, GetItemCommand, BatchExecuteStatementCommand } from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { absentAt, aRecord, completion, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { localClient } from './table.ts'
const client = localClient(inject('dynamoDbEndpoint'))
const pacing = { clock: { now: () => NOW_MS, wait: async () => undefined }, random: Math.random, giveUpAtMs: Infinity }
async function table(TableName: string) {
  await client.send(new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }] })).catch((e) => { if (e.name !== 'ResourceInUseException') throw e })
  return TableName
}
const raw = async (t: string, id: string) => { const { Item } = await client.send(new GetItemCommand({ TableName: t, Key: { pk: { S: id }, sk: { S: 'op' } }, ConsistentRead: true })); delete Item?.pk; return Item }

test.each(['my.table-1_x', 'select', '123', 'order.by.group', 'a.b.c', 'TABLE', '---', '...', 'Status', 'x'.repeat(255)])('name %.20s', async (name) => {
  const t = await table(name)
  const store = dynamoStore({ tableName: t, client })
  const g = store.grouped!(pacing)
  const warn = console.warn; const said: unknown[] = []; console.warn = (x) => said.push(x)
  const rs = [aRecord(), aRecord()]
  expect(await Promise.all(rs.map((r) => g.put(r, absentAt(NOW_MS))))).toEqual([{ applied: true }, { applied: true }])
  expect(await Promise.all(rs.map((r) => g.update(r.id, completion, { kind: 'seen', token: 'token-a', rev: 1 })))).toEqual([{ applied: true }, { applied: true }])
  expect(await Promise.all(rs.map((r) => g.put(r, absentAt(NOW_MS)))).then((a) => a.map((x) => x.applied))).toEqual([false, false])
  console.warn = warn
  expect(said).toEqual([])
})

test('differential', async () => {
  const t = await table('diff.table')
  const store = dynamoStore({ tableName: t, client })
  let stmts = 0
  client.middlewareStack.add((next, { commandName }) => async (a) => { if (commandName === 'BatchExecuteStatementCommand') stmts++; const r = await next(a).catch((e) => { console.log('WHOLE', e.name, e.message, JSON.stringify((a.input as any).Statements[0])); throw e }); if (commandName === 'BatchExecuteStatementCommand') for (const x of (r.output as any).Responses) if (x.Error) console.log(x.Error.Code, x.Error.Message); return r }, { step: 'initialize' })
  const str = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', "it's", '"q"', '?', "'?'", '\u0000', '\ud800', '--', '/*', 'é'))
  const num = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true, min: -9e15, max: 9e15 }).filter((n) => n === 0 || Math.abs(n) > 1e-100), fc.constantFrom(Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 0.1, 1e-7, 1e-130))
  const bytes = fc.uint8Array({ maxLength: 20 })
  const value = fc.oneof(fc.record({ kind: fc.constant('text' as const), text: str }), fc.record({ kind: fc.constant('brotli' as const), bytes }), fc.record({ kind: fc.constant('coded' as const), codec: str, bytes }))
  const opt = <T>(a: fc.Arbitrary<T>) => fc.option(a, { nil: undefined })
  const change = fc.record({
    status: fc.constantFrom('COMPLETED', 'FAILED', 'RETRYABLE', 'RELEASED', 'UNKNOWN'), leaseUntil: opt(num), expiresAt: opt(num), updatedAtMs: num,
    outcome: fc.oneof(fc.record({ kind: fc.constant('value'), value }), fc.record({ kind: fc.constant('failure'), failure: fc.record({ name: str, message: str, code: opt(str) }), value: opt(value) })),
    commitId: str, wire: value, resumeAtMs: opt(num), waitingFor: opt(str), signals: fc.array(fc.record({ id: str, atMs: num, payload: value })),
    redrive: fc.record({ target: fc.record({ queueUrl: str }), payload: value }), continuation: opt(fc.record({ id: str, dueAtMs: num })),
    isReconciled: opt(fc.constant(true)), canProbe: opt(fc.constant(true)), dueShard: opt(str), dueAtMs: opt(num), crashes: num, trace: str, unknownStep: opt(str),
    steps: fc.dictionary(str.filter((s) => s !== ''), fc.oneof(fc.record({ kind: fc.constant('done'), value }), fc.record({ kind: fc.constant('started'), startedAtMs: num }))),
  }, { requiredKeys: ['status', 'leaseUntil', 'expiresAt', 'updatedAtMs'] })
  const record = fc.record({ metadata: fc.dictionary(str.filter((s) => s !== ''), str), trace: str, steps: fc.dictionary(str.filter((s) => s !== ''), fc.record({ kind: fc.constant('done'), value })), redrive: fc.record({ target: fc.record({ queueUrl: str }), payload: value }), fingerprint: str, createdAtMs: num, leaseUntil: num, expiresAt: opt(num), wire: value }, { requiredKeys: ['fingerprint'] })
  await fc.assert(fc.asyncProperty(record, change, async (fields, ch) => {
    const base = aRecord(fields as never)
    const a = { ...base, id: aRecord().id }, b = { ...base, id: aRecord().id }, c = { ...base, id: aRecord().id }
    const g = dynamoStore({ tableName: t, client }).grouped!(pacing)
    const s0 = stmts
    const plainPut = await store.put(a, absentAt(NOW_MS)).catch((e) => e.message.slice(0,60))
    const two = await Promise.all([b, c].map((r) => g.put(r, absentAt(NOW_MS)).catch((e) => e.message.slice(0,60))))
    expect(two).toEqual([plainPut, plainPut])
    expect(await raw(t, b.id)).toEqual(await raw(t, a.id))
    const seen = { kind: 'seen', token: 'token-a', rev: 1 } as const
    const plainUp = await store.update(a.id, ch as never, seen).catch((e) => e.message.slice(0,60))
    const ups = await Promise.all([b, c].map((r) => g.update(r.id, ch as never, seen).catch((e) => e.message.slice(0,60))))
    expect(ups).toEqual([plainUp, plainUp])
    expect(await raw(t, b.id)).toEqual(await raw(t, a.id))
    expect(stmts - s0).toBe(2)
  }), { numRuns: 400 })
}, 300_000)
