import { beforeEach, describe, expect, test } from 'vitest'
import { groupedStore } from '../../lib/dynamodb/group/grouped-store.ts'
import type { GroupAnswer, GroupedWrite, GroupRequests } from '../../lib/dynamodb/group/writes.ts'
import { type OperationRecord, type Store, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import type { RecordChange, WriteAnswer } from '../../lib/record/store.ts'
import { absentAt, aRecord, completion, NOW_MS, NOW_SECONDS } from '../../lib/store-contract/fixtures.ts'
import { fakeClock } from '../core/fake-clock.ts'

const applied = { applied: true } as const
const seen = { kind: 'seen', token: 'token-a', rev: 1 } as const
const lost = new StoreError('The answer was lost.', { retryable: true })
const takeover: RecordChange = { ...completion, status: 'IN_PROGRESS', token: 'token-b', leaseUntil: NOW_MS + 1 }

type Script = (writes: readonly GroupedWrite[]) => Promise<readonly (GroupAnswer | undefined)[]>
const all =
  (answer: GroupAnswer): Script =>
  async (writes) =>
    writes.map(() => answer)

/** A store in memory, whose batches of writes answer what a test says, one script for each. */
function setUp(...scripts: Script[]) {
  const memory = memoryStore()
  const clock = fakeClock()
  const batches: (readonly GroupedWrite[])[] = []
  const reads: (readonly string[])[] = []
  const alone: string[] = []
  const plain: Store = {
    ...memory,
    put: (record, condition) => {
      alone.push(`put ${record.id}`)
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
    end: (...ids: string[]) => ids.map((id) => store.update(id, completion, seen)),
  }
}

let records: OperationRecord[]
beforeEach(() => {
  records = Array.from({ length: 60 }, (_, n) => aRecord({ id: `r${n}` }))
})

/** All that follows without waiting. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('claims', () => {
  test('of one turn share requests of at most 25', async () => {
    const { claim, sizes, alone } = setUp()
    expect(await Promise.all(claim(...records))).toEqual(records.map(() => applied))
    expect(sizes()).toEqual([25, 25, 10])
    expect(alone).toEqual([])
  })

  test('that become due a few promises later in the same turn go along', async () => {
    const { claim, sizes } = setUp()
    const late = async (record: OperationRecord, awaits: number) => {
      for (let n = 0; n < awaits; n++) await undefined
      return claim(record)[0]
    }
    await Promise.all(records.slice(0, 8).map((record, n) => late(record, n)))
    expect(sizes()).toEqual([8])
  })

  test('wait for no request that is under way', async () => {
    const hanging = Promise.withResolvers<GroupAnswer[]>()
    const { claim, sizes } = setUp(() => hanging.promise)
    const [a, b, c, d] = records as [OperationRecord, OperationRecord, OperationRecord, OperationRecord]
    const first = claim(a, b)
    await turn()
    expect(await Promise.all(claim(c, d))).toEqual([applied, applied])
    expect(sizes()).toEqual([2, 2])
    hanging.resolve([{ kind: 'applied' }, { kind: 'applied' }])
    expect(await Promise.all(first)).toEqual([applied, applied])
  })

  test('that come alone go alone, as a put', async () => {
    const { claim, sizes, alone, memory } = setUp()
    expect(await Promise.all(claim(records[0]!))).toEqual([applied])
    expect([sizes(), alone]).toEqual([[], ['put r0']])
    expect(memory.records()).toEqual([records[0]])
  })

  test('of one record are never in one request', async () => {
    const { claim, batches } = setUp()
    const [a, b, c] = records as [OperationRecord, OperationRecord, OperationRecord]
    await Promise.all(claim(a, b, { ...a, token: 'token-b' }, c, { ...b, token: 'token-b' }))
    expect(batches.map((writes) => writes.map(({ id }) => id))).toEqual([
      ['r0', 'r1', 'r2'],
      ['r0', 'r1'],
    ])
  })

  test('that replace a record they have seen go alone', async () => {
    const { store, sizes } = setUp()
    await Promise.all(records.slice(0, 3).map((record) => store.put(record, seen)))
    expect(sizes()).toEqual([])
  })

  test('by a takeover share requests, too, and wait for nothing', async () => {
    const { store, sizes } = setUp(() => new Promise(() => undefined))
    void store.update('r0', completion, seen)
    void store.update('r1', completion, seen)
    await turn()
    expect(await Promise.all(['r2', 'r3'].map((id) => store.update(id, takeover, seen)))).toEqual([applied, applied])
    expect(sizes()).toEqual([2, 2])
  })
})

describe('endings', () => {
  test('that come alone go at once, as an update', async () => {
    const { end, alone, sizes } = setUp()
    await Promise.all(end('r0'))
    expect([alone, sizes()]).toEqual([['COMPLETED r0'], []])
  })

  test('that become due while one is under way go together when it has come back', async () => {
    const hanging = Promise.withResolvers<GroupAnswer[]>()
    const { end, sizes } = setUp(() => hanging.promise)
    void end('r0', 'r1')
    await turn()
    const second = end('r2')
    await turn()
    const third = end('r3', 'r4')
    await turn()
    expect(sizes()).toEqual([2])
    hanging.resolve([{ kind: 'applied' }, { kind: 'applied' }])
    expect(await Promise.all([...second, ...third])).toEqual([applied, applied, applied])
    expect(sizes()).toEqual([2, 3])
  })

  test('wait 20 ms at most for one that hangs', async () => {
    const { end, clock, sizes } = setUp(() => new Promise(() => undefined))
    void end('r0', 'r1')
    await turn()
    const second = end('r2', 'r3')
    await turn()
    clock.advance(19)
    await turn()
    expect(sizes()).toEqual([2])
    clock.advance(1)
    expect(await Promise.all(second)).toEqual([applied, applied])
    void end('r4', 'r5')
    await turn()
    clock.advance(20)
    await turn()
    expect(sizes()).toEqual([2, 2, 2])
  })

  test.each(['COMPLETED', 'FAILED', 'RETRYABLE', 'RELEASED', 'UNKNOWN'] as const)('%s go together', async (status) => {
    const { store, sizes } = setUp()
    await Promise.all(['r0', 'r1'].map((id) => store.update(id, { ...completion, status }, seen)))
    expect(sizes()).toEqual([2])
  })

  test.each([
    ['a renewal', { ...completion, status: 'IN_PROGRESS', leaseUntil: 1 }, seen],
    ['a step', { ...completion, status: 'IN_PROGRESS', step: { name: 's', record: undefined } }, seen],
    ['a suspension', { ...completion, status: 'WAITING' }, seen],
    ['a change under another condition', completion, { kind: 'held', token: 'token-a' }],
  ] as [string, RecordChange, Parameters<Store['update']>[2]][])('%s goes alone', async (_name, change, condition) => {
    const { store, sizes, alone } = setUp()
    await Promise.all(['r0', 'r1'].map((id) => store.update(id, change, condition)))
    expect([sizes(), alone.length]).toEqual([[], 2])
  })
})

describe('a write that is refused', () => {
  const refused: Script = all({ kind: 'refused' })

  test('is answered with the record that stands, read for all of them at once', async () => {
    const { claim, memory, reads, alone } = setUp(refused)
    const [a, b] = records as [OperationRecord, OperationRecord]
    for (const record of [a, b]) await memory.put({ ...record, token: 'token-x' }, absentAt(NOW_MS))
    expect(await Promise.all(claim(a, b))).toEqual(
      [a, b].map((record) => ({ applied: false, existing: { ...record, token: 'token-x' } })),
    )
    expect([reads, alone]).toEqual([[['r0', 'r1']], []])
  })

  test('is not read again when the answer brings the record', async () => {
    const existing = aRecord({ id: 'r0', token: 'token-x' })
    const { end, reads } = setUp(async () => [{ kind: 'refused', existing }, { kind: 'applied' }])
    expect(await Promise.all(end('r0', 'r1'))).toEqual([{ applied: false, existing }, applied])
    expect(reads).toEqual([])
  })

  test('by a record that counts as absent is put by itself', async () => {
    const { claim, memory, alone } = setUp(refused)
    const [a, b] = records as [OperationRecord, OperationRecord]
    await memory.put({ ...a, status: 'COMPLETED', expiresAt: NOW_SECONDS - 1 }, absentAt(NOW_MS))
    await memory.put({ ...b, status: 'RELEASED' }, absentAt(NOW_MS))
    expect(await Promise.all(claim(a, b))).toEqual([applied, applied])
    expect(alone).toEqual(['put r0', 'put r1'])
    expect(memory.records()).toEqual([a, b])
  })

  test('and whose record is gone when it is looked for goes by itself', async () => {
    const { claim, end, memory, alone } = setUp(refused, refused)
    expect(await Promise.all(claim(records[0]!, records[1]!))).toEqual([applied, applied])
    expect(await Promise.all(end('r8', 'r9'))).toEqual([
      { applied: false, existing: undefined },
      { applied: false, existing: undefined },
    ])
    expect(alone).toEqual(['put r0', 'put r1', 'COMPLETED r8', 'COMPLETED r9'])
    expect(memory.records()).toEqual(records.slice(0, 2))
  })

  test('is in doubt when what stands cannot be read, and its neighbours are not', async () => {
    const { claim, failReads } = setUp(async () => [{ kind: 'applied' }, { kind: 'refused' }])
    failReads()
    const [first, second] = claim(records[0]!, records[1]!)
    expect(await first).toEqual(applied)
    await expect(second).rejects.toBe(lost)
  })
})

describe('a look at what stands against writes', () => {
  const refused: Script = all({ kind: 'refused' })

  test('that may not be taken at many at once is taken by each write itself', async () => {
    const { claim, failReads, memory, alone } = setUp(refused)
    failReads(new StoreError('The role may not read batches.', { retryable: false }))
    const standing = { ...records[0]!, token: 'token-x' }
    await memory.put(standing, absentAt(NOW_MS))
    expect(await Promise.all(claim(records[0]!, records[1]!))).toEqual([
      { applied: false, existing: standing },
      applied,
    ])
    expect(alone).toEqual(['put r0', 'put r1'])
  })

  test('that comes after the end of the invocation’s time leads to no claim that nobody knows of', async () => {
    const { claim, onRead, clock, memory, alone } = setUp(refused)
    const standing = { ...records[0]!, token: 'token-x' }
    await memory.put(standing, absentAt(NOW_MS))
    const look = onRead((...asked) => {
      clock.advance(10_000)
      return look(...asked)
    })
    const [first, second] = await Promise.allSettled(claim(records[0]!, records[1]!))
    expect(first).toMatchObject({ value: { applied: false, existing: standing } })
    expect(second).toMatchObject({ reason: { code: 'STORE', retryable: true } })
    expect([alone, memory.records()]).toEqual([[], [standing]])
  })

  test('is not repeated for what it left out after the end of the invocation’s time', async () => {
    const { claim, onRead, clock, alone } = setUp(refused)
    const rounds: number[] = []
    onRead(async (_ids, pause) => {
      for (let round = 1; ; round++) {
        await pause(round)
        rounds.push(round)
        clock.advance(4_000)
      }
    })
    const answers = await Promise.allSettled(claim(records[0]!, records[1]!))
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect([rounds, alone]).toEqual([[1, 2, 3], []])
  })
})

test('a write that cannot even be sent fails alone, at once', async () => {
  const memory = memoryStore()
  const broken = new Error('Unsupported type passed.')
  const plain: Store = {
    ...memory,
    put(record, condition) {
      if (record.id === 'r0') throw broken
      return memory.put(record, condition)
    },
  }
  const requests = { write: async () => [{ kind: 'alone' }, { kind: 'alone' }] as const, read: async () => new Map() }
  const pacing = { clock: fakeClock(), random: () => 0.5, giveUpAtMs: Number.POSITIVE_INFINITY }
  const store = groupedStore(plain, requests, pacing)
  const put = (record: OperationRecord) => store.put(record, absentAt(NOW_MS))
  const [first, second] = await Promise.allSettled([put(records[0]!), put(records[1]!)])
  expect([first, second]).toMatchObject([{ reason: broken }, { value: applied }])
  await expect(put(records[0]!)).rejects.toBe(broken)
})

describe('a write that is refused for now', () => {
  const again: GroupAnswer = { kind: 'again', code: 'ThrottlingError' }

  test('is sent again without those that were answered, as it was', async () => {
    const { claim, batches, clock } = setUp(async () => [again, { kind: 'applied' }, again])
    const startMs = clock.now()
    expect(await Promise.all(claim(...records.slice(0, 3)))).toEqual([applied, applied, applied])
    expect(batches).toHaveLength(2)
    expect(batches[1]).toEqual([batches[0]![0], batches[0]![2]])
    expect(batches[1]![0]).toBe(batches[0]![0])
    expect(clock.now()).toBe(startMs + 25)
  })

  test('goes alone when it is the only one', async () => {
    const { claim, sizes, alone } = setUp(async () => [again, { kind: 'applied' }])
    await Promise.all(claim(records[0]!, records[1]!))
    expect([sizes(), alone]).toEqual([[2], ['put r0']])
  })

  test('again and again is in doubt after the third time', async () => {
    const { claim, sizes } = setUp(all(again), all(again), all(again))
    for (const { reason } of (await Promise.allSettled(claim(records[0]!, records[1]!))) as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: 'STORE', retryable: true })
      expect(reason.message).toMatch(/again and again: ThrottlingError\./)
    }
    expect(sizes()).toEqual([2, 2, 2])
  })

  test('is not sent again after the end of the invocation’s time', async () => {
    const { claim, clock, sizes } = setUp(async (writes) => {
      clock.advance(10_000)
      return writes.map(() => again)
    })
    const answers = await Promise.allSettled(claim(records[0]!, records[1]!))
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(sizes()).toEqual([2])
  })
})

describe('a request', () => {
  test('whose answer is lost leaves all of its writes in doubt, and none is sent again', async () => {
    const { claim, sizes, alone } = setUp(async () => {
      throw lost
    })
    const answers = await Promise.allSettled(claim(...records.slice(0, 3)))
    expect(answers.map((answer) => answer.status === 'rejected' && answer.reason)).toEqual([lost, lost, lost])
    expect([sizes(), alone]).toEqual([[3], []])
  })

  const done: GroupAnswer = { kind: 'applied' }
  test.each([
    ['fewer answers', [done]],
    ['more answers', [done, done, done]],
    ['none', []],
  ])('that brings %s than it has writes leaves all in doubt: which is whose, nobody knows', async (_name, answers) => {
    const { claim, alone } = setUp(async () => answers)
    const doubts = await Promise.allSettled(claim(records[0]!, records[1]!))
    for (const doubt of doubts) {
      expect(doubt).toMatchObject({ status: 'rejected', reason: { code: 'STORE', retryable: true } })
    }
    expect(alone).toEqual([])
  })

  test('of which one answer is missing leaves that one in doubt', async () => {
    const { claim } = setUp(async () => [done, undefined])
    const [first, second] = claim(records[0]!, records[1]!)
    expect(await first).toEqual(applied)
    await expect(second).rejects.toMatchObject({ code: 'STORE', retryable: true })
  })

  test.each([
    ['is refused as a whole', new StoreError('Not like this.', { retryable: false })],
    ['cannot be made of one of its writes, or its answer not be read', new Error('Unsupported type passed.')],
  ])('that %s is taken apart, and each write asked by itself', async (_name, error) => {
    const { claim, alone, memory } = setUp(async () => {
      throw error
    })
    expect(await Promise.all(claim(records[0]!, records[1]!))).toEqual([applied, applied])
    expect(alone).toEqual(['put r0', 'put r1'])
    expect(memory.records()).toHaveLength(2)
  })

  test('of which one write is refused for a reason of its own leaves the others as they are', async () => {
    const { claim, alone } = setUp(async () => [{ kind: 'applied' }, { kind: 'alone' }, { kind: 'applied' }])
    const answers: WriteAnswer[] = await Promise.all(claim(...records.slice(0, 3)))
    expect(answers).toEqual([applied, applied, applied])
    expect(alone).toEqual(['put r1'])
  })
})
