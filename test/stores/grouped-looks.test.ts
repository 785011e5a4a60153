import { describe, expect, test } from 'vitest'
import { StoreError } from '../../lib/index.ts'
import { absentAt, NOW_MS, NOW_SECONDS } from '../../lib/store-contract/fixtures.ts'
import { all, applied, hanging, lost, setUp, someRecords, turn } from './grouped-set-up.ts'

const records = someRecords(30)
const ids = records.map(({ id }) => id)
const standing = records.map((record) => ({ ...record, token: 'token-x' }))
const [first, second, third] = records as [(typeof records)[0], (typeof records)[0], (typeof records)[0]]
const times = (count: number) => Array.from({ length: count }, () => applied)

describe('claims that are likely to be refused', () => {
  test('are answered with what stands, in one read and without a write', async () => {
    const { claimAgain, memory, reads, batches, alone } = setUp()
    for (const record of standing) await memory.put(record, absentAt(NOW_MS))
    const answers = await Promise.all(claimAgain(...records))
    expect(answers).toEqual(standing.map((existing) => ({ applied: false, existing })))
    expect([reads, batches, alone]).toEqual([[ids], [], []])
    expect(memory.records()).toEqual(standing)
  })

  test('go on together, as inserts, where nothing stands', async () => {
    const { claimAgain, reads, sizes, batches, alone } = setUp()
    expect(await Promise.all(claimAgain(...records))).toEqual(times(30))
    expect([reads, sizes(), alone]).toEqual([[ids], [15, 15], []])
    expect(new Set(batches.flat().map(({ kind }) => kind))).toEqual(new Set(['insert']))
  })

  test('go on without those that something stands against', async () => {
    const { claimAgain, memory, batches } = setUp()
    for (const record of standing.slice(0, 26)) await memory.put(record, absentAt(NOW_MS))
    const answers = await Promise.all(claimAgain(...records))
    expect(answers.slice(0, 26)).toEqual(standing.slice(0, 26).map((existing) => ({ applied: false, existing })))
    expect(answers.slice(26)).toEqual(times(4))
    expect(batches.map((writes) => writes.map(({ id }) => id))).toEqual([ids.slice(26)])
  })

  test('over what counts as absent are put by themselves: an insert would be refused', async () => {
    const { claimAgain, memory, reads, batches, alone } = setUp()
    await memory.put({ ...first, status: 'COMPLETED', expiresAt: NOW_SECONDS - 1 }, absentAt(NOW_MS))
    await memory.put({ ...second, status: 'RELEASED' }, absentAt(NOW_MS))
    expect(await Promise.all(claimAgain(first, second, third, records[3]!))).toEqual(times(4))
    expect(memory.records()).toEqual([first, second])
    expect([reads.length, alone]).toEqual([1, ['put r0', 'put r1']])
    expect(batches.map((writes) => writes.map(({ id }) => id))).toEqual([['r2', 'r3']])
  })

  test('of a record that another one has written between the look and the insert are answered with it', async () => {
    const { claimAgain, memory, reads, alone } = setUp(async () => {
      await memory.put(standing[0]!, absentAt(NOW_MS))
      return [{ kind: 'refused' }, { kind: 'applied' }]
    })
    const answers = await Promise.all(claimAgain(first, second))
    expect(answers).toEqual([{ applied: false, existing: standing[0] }, applied])
    expect([reads, alone]).toEqual([[['r0', 'r1'], ['r0']], []])
  })

  test('are answered with their own record, where they have written it before', async () => {
    const { claimAgain, memory, batches } = setUp()
    await memory.put(first, absentAt(NOW_MS))
    await memory.put(second, absentAt(NOW_MS))
    expect(await Promise.all(claimAgain(first, second))).toEqual([
      { applied: false, existing: first },
      { applied: false, existing: second },
    ])
    expect(batches).toEqual([])
  })

  test('whose insert was carried out and its answer lost are in doubt', async () => {
    const { claimAgain, memory, alone } = setUp(async () => {
      await memory.put(first, absentAt(NOW_MS))
      throw lost
    })
    const answers = await Promise.allSettled(claimAgain(first, second))
    expect(answers).toEqual([
      { status: 'rejected', reason: lost },
      { status: 'rejected', reason: lost },
    ])
    expect(alone).toEqual([])
  })

  test('of one record are looked for once, and sent in requests of their own', async () => {
    const { claimAgain, reads, batches } = setUp()
    await Promise.all(claimAgain(first, { ...first, token: 'token-b' }, second, { ...second, token: 'token-b' }))
    expect(reads).toEqual([['r0', 'r1']])
    expect(batches.map((writes) => writes.map(({ id }) => id))).toEqual([
      ['r0', 'r1'],
      ['r0', 'r1'],
    ])
  })

  test('and come alone are looked for, and put', async () => {
    const { claimAgain, memory, reads, batches, alone } = setUp()
    expect(await Promise.all(claimAgain(first))).toEqual([applied])
    expect([reads, batches, alone]).toEqual([[['r0']], [], ['put r0']])
    expect(memory.records()).toEqual([first])
  })

  test('wait for no write, and hold up no other claim', async () => {
    const writes = hanging()
    const { claim, claimAgain, onRead, reads, sizes } = setUp(writes.script)
    const answered = Promise.withResolvers<void>()
    const look = onRead(async (...asked) => {
      await answered.promise
      return look(...asked)
    })
    const others = claim(...records.slice(10, 13))
    const doubtful = claimAgain(first, second)
    await turn()
    expect([reads, sizes()]).toEqual([[['r0', 'r1']], [3]])
    answered.resolve()
    expect(await Promise.all(doubtful)).toEqual([applied, applied])
    writes.answer()
    expect(await Promise.all(others)).toEqual(times(3))
  })

  test('are not looked for again where they go by themselves', async () => {
    const { claimAgain, conditions } = setUp(all({ kind: 'alone' }))
    await Promise.all(claimAgain(first, second))
    expect(conditions).toEqual([absentAt(NOW_MS), absentAt(NOW_MS)])
  })

  test('are in doubt when the look fails, and nothing is written', async () => {
    const { claimAgain, failReads, batches, alone, memory } = setUp()
    failReads()
    const answers = await Promise.allSettled(claimAgain(first, second))
    expect(answers).toEqual([
      { status: 'rejected', reason: lost },
      { status: 'rejected', reason: lost },
    ])
    expect([batches, alone, memory.records()]).toEqual([[], [], []])
  })

  test.each([
    ['may not be taken', new StoreError('The role may not read batches.', { retryable: false })],
    ['cannot be understood', new Error('Unsupported type passed.')],
  ])('are put by themselves when the look %s', async (_name, error) => {
    const { claimAgain, failReads, memory, batches, alone } = setUp()
    failReads(error)
    await memory.put(standing[0]!, absentAt(NOW_MS))
    expect(await Promise.all(claimAgain(first, second))).toEqual([{ applied: false, existing: standing[0] }, applied])
    expect([batches, alone]).toEqual([[], ['put r0', 'put r1']])
  })

  test('are not written after the end of the invocation’s time, and those refused are told so', async () => {
    const { claimAgain, onRead, clock, memory, batches, alone } = setUp()
    const released = { ...standing[2]!, status: 'RELEASED' as const }
    await memory.put(standing[0]!, absentAt(NOW_MS))
    await memory.put(released, absentAt(NOW_MS))
    const look = onRead((...asked) => {
      clock.advance(10_000)
      return look(...asked)
    })
    const answers = await Promise.allSettled(claimAgain(first, second, third))
    expect(answers).toMatchObject([
      { value: { applied: false, existing: standing[0] } },
      { reason: { code: 'STORE', retryable: true } },
      { reason: { code: 'STORE', retryable: true } },
    ])
    expect([batches, alone]).toEqual([[], []])
    expect(memory.records()).toEqual([standing[0], released])
  })
})
