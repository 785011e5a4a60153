import { beforeEach, describe, expect, test } from 'vitest'
import { groupedStore } from '../../lib/dynamodb/group/grouped-store.ts'
import type { GroupAnswer } from '../../lib/dynamodb/group/writes.ts'
import { type OperationRecord, type Store, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import type { RecordChange, WriteAnswer } from '../../lib/record/store.ts'
import { absentAt, aRecord, completion, NOW_MS, NOW_SECONDS } from '../../lib/store-contract/fixtures.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { all, applied, hanging, lost, type Script, seen, setUp, someRecords, turn } from './grouped-set-up.ts'

const takeover: RecordChange = { ...completion, status: 'IN_PROGRESS', token: 'token-b', leaseUntil: NOW_MS + 1 }

let records: OperationRecord[]
beforeEach(() => {
  records = someRecords(60)
})

const times = (count: number) => Array.from({ length: count }, () => applied)

describe('claims', () => {
  test('of one turn share requests of at most 25, all about as large', async () => {
    const { claim, sizes, alone } = setUp()
    expect(await Promise.all(claim(...records))).toEqual(records.map(() => applied))
    expect(sizes()).toEqual([20, 20, 20])
    expect(alone).toEqual([])
  })

  test.each([
    [2, [2]],
    [9, [9]],
    [10, [5, 5]],
    [11, [6, 5]],
    [25, [13, 12]],
    [26, [13, 13]],
    [50, [25, 25]],
    [51, [17, 17, 17]],
  ])('of one turn go in two requests side by side where each has five at least: %d', async (count, expected) => {
    const { claim, sizes } = setUp()
    expect(await Promise.all(claim(...records.slice(0, count)))).toEqual(times(count))
    expect(sizes()).toEqual(expected)
  })

  test.each([1, 2, 3])('go in one request where %d are under way', async (underway) => {
    const scripts = Array.from({ length: underway }, hanging)
    const { claim, sizes } = setUp(...scripts.map(({ script }) => script))
    const earlier: Promise<WriteAnswer>[] = []
    for (let n = 0; n < underway; n++) {
      earlier.push(...claim(...records.slice(2 * n, 2 * n + 2)))
      await turn()
    }
    expect(await Promise.all(claim(...records.slice(10, 30)))).toEqual(times(20))
    expect(sizes()).toEqual([...Array.from({ length: underway }, () => 2), 20])
    for (const { answer } of scripts) answer()
    expect(await Promise.all(earlier)).toEqual(times(2 * underway))
  })

  test('go in two requests again when one has come back, or has failed', async () => {
    const { claim, sizes } = setUp(all({ kind: 'applied' }), async () => {
      throw lost
    })
    await Promise.all(claim(...records.slice(0, 3)))
    await Promise.allSettled(claim(...records.slice(3, 6)))
    expect(await Promise.all(claim(...records.slice(10, 20)))).toEqual(times(10))
    expect(sizes()).toEqual([3, 3, 5, 5])
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

  test('of one record are never in one request, side by side either', async () => {
    const { claim, batches } = setUp()
    const others = ['token-b', 'token-c'].map((token) => ({ ...records[0]!, token }))
    expect(await Promise.all(claim(...records.slice(0, 10), ...others))).toEqual(times(12))
    for (const writes of batches) expect(new Set(writes.map(({ id }) => id)).size).toBe(writes.length)
    expect(batches.map((writes) => writes.filter(({ id }) => id === 'r0').length)).toEqual([1, 1])
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

  test('wait for none while one is under way', async () => {
    const first = hanging()
    const { end, sizes } = setUp(first.script)
    const earlier = end('r0', 'r1')
    await turn()
    expect(await Promise.all(end('r2', 'r3'))).toEqual([applied, applied])
    expect(sizes()).toEqual([2, 2])
    first.answer()
    expect(await Promise.all(earlier)).toEqual([applied, applied])
  })

  test.each([0, 1])(
    'that become due while two are under way go together when one has come back: number %d',
    async (which) => {
      const both = [hanging(), hanging()]
      const { end, sizes } = setUp(...both.map(({ script }) => script))
      const earlier = [end('r0', 'r1')]
      await turn()
      earlier.push(end('r2', 'r3'))
      await turn()
      const third = end('r4')
      await turn()
      const fourth = end('r5', 'r6')
      await turn()
      expect(sizes()).toEqual([2, 2])
      both[which]!.answer()
      expect(await Promise.all([...third, ...fourth])).toEqual(times(3))
      expect(sizes()).toEqual([2, 2, 3])
      for (const { answer } of both) answer()
      expect(await Promise.all(earlier.flat())).toEqual(times(4))
    },
  )

  test('wait 20 ms at most for those that hang', async () => {
    const never: Script = () => new Promise(() => undefined)
    const { end, clock, sizes } = setUp(never, never)
    for (const ids of [
      ['r0', 'r1'],
      ['r2', 'r3'],
    ]) {
      void end(...ids)
      await turn()
    }
    const third = end('r4', 'r5')
    await turn()
    clock.advance(19)
    await turn()
    expect(sizes()).toEqual([2, 2])
    clock.advance(1)
    expect(await Promise.all(third)).toEqual([applied, applied])
    void end('r6', 'r7')
    await turn()
    expect(sizes()).toEqual([2, 2, 2])
    clock.advance(20)
    await turn()
    expect(sizes()).toEqual([2, 2, 2, 2])
  })

  test('of which 25 are due wait for nothing, however many are under way', async () => {
    const never: Script = () => new Promise(() => undefined)
    const { end, clock, sizes } = setUp(never, never, never)
    for (const ids of [
      ['r0', 'r1'],
      ['r2', 'r3'],
    ]) {
      void end(...ids)
      await turn()
    }
    const ids = records.map(({ id }) => id)
    void end(...ids.slice(10, 34))
    await turn()
    expect(sizes()).toEqual([2, 2])
    void end(...ids.slice(34, 35))
    await turn()
    expect(sizes()).toEqual([2, 2, 25])
    // The wait of those that have gone is over, and that of others begins anew.
    clock.advance(15)
    const later = end('r40', 'r41')
    await turn()
    clock.advance(19)
    await turn()
    expect(sizes()).toEqual([2, 2, 25])
    clock.advance(1)
    expect(await Promise.all(later)).toEqual([applied, applied])
    expect(sizes()).toEqual([2, 2, 25, 2])
  })

  test('of which ten went in two requests are waited for until either is back', async () => {
    const both = [hanging(), hanging()]
    const { end, sizes } = setUp(...both.map(({ script }) => script))
    const ids = records.map(({ id }) => id)
    const earlier = end(...ids.slice(0, 10))
    await turn()
    const later = end(...ids.slice(10, 12))
    await turn()
    expect(sizes()).toEqual([5, 5])
    both[1]!.answer()
    expect(await Promise.all(later)).toEqual(times(2))
    expect(sizes()).toEqual([5, 5, 2])
    both[0]!.answer()
    expect(await Promise.all(earlier)).toEqual(times(10))
  })

  test('go in two requests side by side, as claims do, and with claims under way in one', async () => {
    const { end, sizes } = setUp()
    const ids = records.map(({ id }) => id)
    expect(await Promise.all(end(...ids.slice(0, 12)))).toEqual(times(12))
    expect(sizes()).toEqual([6, 6])
    const first = hanging()
    const busy = setUp(first.script)
    const claims = busy.claim(...records.slice(20, 22))
    await turn()
    expect(await Promise.all(busy.end(...ids.slice(0, 12)))).toEqual(times(12))
    expect(busy.sizes()).toEqual([2, 12])
    first.answer()
    expect(await Promise.all(claims)).toEqual(times(2))
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

  test('by a record that nobody can judge is told so, and takes no other with it', async () => {
    const odd = { ...aRecord(), expiresAt: NOW_SECONDS - 1, leaseUntil: 0, steps: null } as unknown as OperationRecord
    const { claim, sizes } = setUp(async () => [{ kind: 'applied' }, { kind: 'refused', existing: odd }])
    const [a, b] = records as [OperationRecord, OperationRecord]
    const [first, second] = await Promise.allSettled(claim(a, b))
    expect(first).toEqual({ status: 'fulfilled', value: applied })
    expect(second).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) })
    expect(await Promise.all(claim(...records.slice(2, 5)))).toEqual([applied, applied, applied])
    expect(sizes()).toEqual([2, 3])
  })

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
