import { describe, expect, test } from 'vitest'
import type { CommitWrite, OperationRecord } from '../../lib/index.ts'
import { type MemoryStore, memoryStore, type Transact } from '../../lib/memory/index.ts'
import { completing, held, newToken } from './ledger.ts'

const record: OperationRecord = {
  id: 'operation',
  status: 'IN_PROGRESS',
  attempt: 1,
  token: 'token-a',
  rev: 1,
  takeover: 'auto',
  createdAtMs: 0,
  updatedAtMs: 0,
  fingerprint: 'v1:f',
  steps: {},
  schema: 1,
}
const put = (id: string): CommitWrite => ({ Put: { TableName: 't', Item: { id } } })
const guarded = (id: string, onStale?: 'fail'): CommitWrite => ({
  write: { Put: { TableName: 't', Item: { id } } },
  ifNewer: { attribute: 'v', value: 1 },
  ...(onStale && { onStale }),
})
const message = { sk: 'outbox#1', attributes: {} }
const commit = async (store: MemoryStore, writes: CommitWrite[], token = newToken()) =>
  (await store.prepare(record.id, writes, [message])).commit(completing, held, token)

describe('the writes of a commit in memory', () => {
  test('hold, and are listed as they were given', async () => {
    const store = memoryStore({ records: [record] })
    const writes = [put('a'), guarded('b')]
    const prepared = await store.prepare(record.id, writes, [message])
    writes.pop()
    Object.assign(writes[0]!, { Put: {} })
    expect(await prepared.commit(completing, held, newToken())).toEqual({ kind: 'applied', skipped: [] })
    expect(store.commits()).toEqual([{ id: record.id, writes: [put('a'), guarded('b')] }])
  })

  test('are judged by `transact`, before anything is applied', async () => {
    const store: MemoryStore = memoryStore({
      records: [record],
      transact: (writes) => {
        expect([writes, store.records()]).toEqual([[put('a'), put('b')], [record]])
        return [{ index: 1, item: { id: 'b' }, isStale: false }]
      },
    })
    expect(await commit(store, [put('a'), put('b')])).toEqual({
      kind: 'conflict',
      conflicts: [{ index: 1, item: { id: 'b' }, isStale: false }],
    })
    expect([store.records(), store.commits(), await store.listBeside(record.id, 'outbox#')]).toEqual([[record], [], []])
  })

  test('are not judged when the record is not held, nor again for a repetition', async () => {
    const asked: number[] = []
    const store = memoryStore({ records: [record], transact: (writes) => void asked.push(writes.length) })
    const token = newToken()
    await commit(store, [put('a')], token)
    expect(await commit(store, [put('a')], token)).toEqual({ kind: 'applied', skipped: [] })
    expect((await commit(store, [put('a')])).kind).toBe('refused')
    expect([asked, store.commits().length]).toEqual([[1], 1])
  })

  test('are asked about again without those that are stale', async () => {
    const table = new Set(['b'])
    const idOf = (write: CommitWrite) =>
      'write' in write && 'Put' in write.write ? write.write.Put.Item?.id : undefined
    const transact: Transact = (writes) =>
      writes.flatMap((write, index) => (table.has(idOf(write) as string) ? [{ index, isStale: true }] : []))
    const store = memoryStore({ records: [record], transact })
    expect(await commit(store, [guarded('a'), guarded('b'), put('c')])).toEqual({ kind: 'applied', skipped: [1] })
    expect(store.commits()).toEqual([{ id: record.id, writes: [guarded('a'), put('c')] }])
  })

  test('are refused by their place in the whole list, when a stale one was left out before', async () => {
    const transact: Transact = (writes) =>
      writes.length === 3 ? [{ index: 0, isStale: true }] : [{ index: 1, isStale: false }]
    const store = memoryStore({ records: [record], transact })
    expect(await commit(store, [guarded('a'), put('b'), put('c')])).toEqual({
      kind: 'conflict',
      conflicts: [{ index: 2, isStale: false }],
    })
  })

  test('are refused when one is stale that must not be left out', async () => {
    const store = memoryStore({ records: [record], transact: () => [{ index: 0, isStale: true }] })
    const conflict = { kind: 'conflict', conflicts: [{ index: 0, isStale: true }] }
    expect(await commit(store, [guarded('a', 'fail')])).toEqual(conflict)
    expect(await commit(store, [put('a')])).toEqual(conflict)
  })

  test('leave everything as it was when `transact` throws', async () => {
    const store = memoryStore({
      records: [record],
      transact: () => {
        throw new Error('wrong write')
      },
    })
    await expect(commit(store, [put('a')])).rejects.toThrow('wrong write')
    expect([store.records(), store.commits()]).toEqual([[record], []])
  })
})

test.each([
  [{ record: [] }, /memoryStore has no option "record"/],
  [{ transact: [] }, /transact must be a function; got an array/],
])('refuses wrong options: %j', (options, message) => {
  expect(() => memoryStore(options as never)).toThrow(message)
})
