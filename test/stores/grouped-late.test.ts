import { describe, expect, test } from 'vitest'
import { StoreError } from '../../lib/index.ts'
import type { RecordChange } from '../../lib/record/store.ts'
import { absentAt, completion, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { all, applied, type Script, seen, setUp, someRecords } from './grouped-set-up.ts'

const records = someRecords(2)
const ids = records.map(({ id }) => id)
const takeover: RecordChange = { ...completion, status: 'IN_PROGRESS', token: 'token-b', leaseUntil: NOW_MS + 1 }
const released = records.map((record) => ({ ...record, token: 'token-x', status: 'RELEASED' as const }))

/** What sends a write by itself that came in a batch. */
const REASONS: readonly (readonly [string, Script])[] = [
  ['was refused for a reason of its own', all({ kind: 'alone' })],
  [
    'met what counts as absent',
    async (writes) => writes.map((_, index) => ({ kind: 'refused', existing: released[index]! })),
  ],
  [
    'came in a batch that was refused',
    async () => {
      throw new StoreError('Not like this.', { retryable: false })
    },
  ],
  [
    'came in a batch whose answer could not be read',
    async () => {
      throw new Error('Unsupported type passed.')
    },
  ],
]
const REFUSED = REASONS.filter(([why]) => why !== 'met what counts as absent')

/** A group whose first batch is answered so many ms before the end of the invocation's time, which is 10 s away. */
function answered(script: Script, leftMs: number) {
  const group = setUp((writes) => {
    group.clock.advance(10_000 - leftMs)
    return script(writes)
  })
  return group
}

const inDoubt = { status: 'rejected', reason: { code: 'STORE', retryable: true } }
const done = { status: 'fulfilled', value: applied }

describe('after the end of the invocation’s time', () => {
  test.each(REASONS)('no claim goes on by itself that %s', async (_why, script) => {
    const { claim, memory, alone } = answered(script, 0)
    expect(await Promise.allSettled(claim(...records))).toMatchObject([inDoubt, inDoubt])
    expect([alone, memory.records()]).toEqual([[], []])
  })

  test.each(REFUSED)('no takeover goes on by itself that %s', async (_why, script) => {
    const { store, memory, alone } = answered(script, 0)
    for (const record of records) await memory.put(record, absentAt(NOW_MS))
    const takeovers = ids.map((id) => store.update(id, takeover, seen))
    expect(await Promise.allSettled(takeovers)).toMatchObject([inDoubt, inDoubt])
    expect([alone, memory.records()]).toEqual([[], records])
  })

  test.each(REFUSED)('an ending goes on by itself that %s', async (_why, script) => {
    const { end, memory, alone } = answered(script, 0)
    for (const record of records) await memory.put(record, absentAt(NOW_MS))
    expect(await Promise.allSettled(end(...ids))).toMatchObject([done, done])
    expect(alone).toEqual(['COMPLETED r0', 'COMPLETED r1'])
    expect(memory.records().map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
  })
})

describe('just before it', () => {
  test.each(REASONS)('a claim goes on by itself that %s', async (_why, script) => {
    const { claim, memory, alone } = answered(script, 1)
    expect(await Promise.allSettled(claim(...records))).toMatchObject([done, done])
    expect([alone, memory.records()]).toEqual([['put r0', 'put r1'], records])
  })
})
