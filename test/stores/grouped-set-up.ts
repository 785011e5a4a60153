import { groupedStore } from '../../lib/dynamodb/group/grouped-store.ts'
import type { GroupAnswer, GroupedWrite, GroupRequests } from '../../lib/dynamodb/group/writes.ts'
import { type OperationRecord, type Store, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import type { Condition } from '../../lib/record/store.ts'
import { absentAt, aRecord, completion, likelyTakenAt, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { fakeClock } from '../core/fake-clock.ts'

export const applied = { applied: true } as const
export const seen = { kind: 'seen', token: 'token-a', rev: 1 } as const
export const lost = new StoreError('The answer was lost.', { retryable: true })

/** What one batch of writes is answered with. */
export type Script = (writes: readonly GroupedWrite[]) => Promise<readonly (GroupAnswer | undefined)[]>

/** The same answer to each write. */
export const all =
  (answer: GroupAnswer): Script =>
  async (writes) =>
    writes.map(() => answer)

/** A batch of writes that is not answered before the test says so. */
export function hanging() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const script: Script = async (writes) => {
    await promise
    return writes.map(() => ({ kind: 'applied' }))
  }
  return { script, answer: () => resolve() }
}

/** All that follows without waiting. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Records that are like nobody else's, and like themselves each time. */
export const someRecords = (count: number): OperationRecord[] =>
  Array.from({ length: count }, (_, n) => aRecord({ id: `r${n}` }))

/** A store in memory, whose batches of writes answer what a test says, one script for each. */
export function setUp(...scripts: Script[]) {
  const memory = memoryStore()
  const clock = fakeClock()
  const batches: (readonly GroupedWrite[])[] = []
  const reads: (readonly string[])[] = []
  const alone: string[] = []
  const conditions: Condition[] = []
  const plain: Store = {
    ...memory,
    put: (record, condition) => {
      alone.push(`put ${record.id}`)
      conditions.push(condition)
      return memory.put(record, condition)
    },
    update: (id, change, condition) => {
      alone.push(`${change.status} ${id}`)
      return memory.update(id, change, condition)
    },
  }
  let read: GroupRequests['read'] = async (ids) => {
    const found = await Promise.all(ids.map((id) => memory.get(id)))
    return new Map(found.flatMap((record) => (record === undefined ? [] : [[record.id, record] as const])))
  }
  const requests = {
    async write(writes: readonly GroupedWrite[]) {
      batches.push(writes)
      return (scripts.shift() ?? all({ kind: 'applied' }))(writes)
    },
    read: (...[ids, pause]: Parameters<GroupRequests['read']>) => {
      reads.push(ids)
      return read(ids, pause)
    },
  }
  const store = groupedStore(plain, requests, { clock, random: () => 0.5, giveUpAtMs: clock.now() + 10_000 })
  return {
    memory,
    clock,
    store,
    batches,
    reads,
    alone,
    conditions,
    sizes: () => batches.map(({ length }) => length),
    onRead: (reads: GroupRequests['read']) => {
      const look = read
      read = reads
      return look
    },
    failReads: (error: Error = lost) => {
      read = async () => {
        throw error
      }
    },
    claim: (...records: OperationRecord[]) => records.map((record) => store.put(record, absentAt(NOW_MS))),
    /** Claims that are likely to be refused. */
    claimAgain: (...records: OperationRecord[]) => records.map((record) => store.put(record, likelyTakenAt(NOW_MS))),
    end: (...ids: string[]) => ids.map((id) => store.update(id, completion, seen)),
  }
}
