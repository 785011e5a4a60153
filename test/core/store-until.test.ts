import { describe, expect, test } from 'vitest'
import { lookingFirst } from '../../lib/dynamodb/looking-first.ts'
import type { OperationRecord } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { storeUntil } from '../../lib/outcome/persist.ts'
import type { Condition } from '../../lib/record/store.ts'
import { absentAt, aRecord, likelyTakenAt, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { fakeClock } from './fake-clock.ts'

const LEFT_MS = 5_000
/** The last 300 ms are kept for the answer. */
const TOLD_MS = LEFT_MS - 300

/** All that follows without waiting. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A store that looks before it writes, whose looks are answered when the test says so. */
function setUp() {
  const memory = memoryStore()
  const clock = fakeClock()
  const conditions: Condition[] = []
  const look = Promise.withResolvers<void>()
  const plain = {
    async get(id: string) {
      await look.promise
      return memory.get(id)
    },
    put(record: OperationRecord, condition: Condition) {
      conditions.push(condition)
      return memory.put(record, condition)
    },
  }
  const store = storeUntil({ ...memory, put: lookingFirst(plain) }, clock, clock.now() + LEFT_MS)
  return { memory, clock, store, conditions, answerLook: () => look.resolve() }
}

describe('a claim that looks first', () => {
  test('is not written by a look that comes when its caller has been told that it failed', async () => {
    const { memory, clock, store, conditions, answerLook } = setUp()
    const claim = store.put(aRecord(), likelyTakenAt(NOW_MS))
    clock.advance(TOLD_MS)
    await expect(claim).rejects.toMatchObject({ code: 'STORE', retryable: true })
    answerLook()
    await turn()
    expect([conditions, memory.records()]).toEqual([[], []])
  })

  test('is written by a look that comes just in time', async () => {
    const { memory, clock, store, conditions, answerLook } = setUp()
    const record = aRecord()
    const claim = store.put(record, likelyTakenAt(NOW_MS))
    clock.advance(TOLD_MS - 1)
    answerLook()
    expect(await claim).toEqual({ applied: true })
    expect(memory.records()).toEqual([record])
    const [condition] = conditions
    clock.advance(LEFT_MS)
    expect(condition).toMatchObject({ kind: 'absent', signal: { aborted: false } })
  })

  test('takes no other claim with it when it is given up', async () => {
    const { memory, clock, store, answerLook } = setUp()
    const claim = store.put(aRecord({ id: 'first' }), likelyTakenAt(NOW_MS))
    clock.advance(TOLD_MS - 500)
    const later = store.put(aRecord({ id: 'later' }), likelyTakenAt(NOW_MS))
    clock.advance(500)
    await expect(claim).rejects.toMatchObject({ code: 'STORE' })
    answerLook()
    expect(await later).toEqual({ applied: true })
    expect(memory.records().map(({ id }) => id)).toEqual(['later'])
  })
})

test('a claim that is written at once carries no signal', async () => {
  const { store, conditions } = setUp()
  expect(await store.put(aRecord(), absentAt(NOW_MS))).toEqual({ applied: true })
  expect(conditions).toEqual([absentAt(NOW_MS)])
})
