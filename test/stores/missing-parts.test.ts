import { expect, test, vi } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import type { Store } from '../../lib/record/store.ts'
import { absentAt, aRecord, completion, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { answeringClient } from './answering-client.ts'

const { missing } = vi.hoisted(() => ({
  missing: () => {
    throw new Error('no such file')
  },
}))
vi.mock('../../lib/dynamodb/preparation.ts', missing)
vi.mock('p-limit', missing)
vi.mock('../../lib/dynamodb/group/grouped-store.ts', missing)

const pacing = { clock: { now: () => NOW_MS, wait: async () => undefined }, random: () => 0, giveUpAtMs: NOW_MS }
const grouped = (store: Store): Store => store.grouped?.(pacing) ?? store

test.each<[what: string, call: (store: Store) => Promise<unknown>]>([
  ['the preparing of a commit', (store) => store.prepare('op', [], [])],
  ['the writing of a large outcome', (store) => store.putParts({ partsId: 'p', parts: [], expiresAt: undefined })],
  ['a claim among others', (store) => grouped(store).put(aRecord(), absentAt(NOW_MS))],
  ['an ending among others', (store) => grouped(store).update('op', completion, { kind: 'seen', token: 't', rev: 1 })],
])('%s that cannot be loaded has sent nothing, and may be tried again', async (_what, call) => {
  const { client, sent } = answeringClient()
  await expect(call(dynamoStore({ tableName: 'operations', client }))).rejects.toMatchObject({
    code: 'STORE',
    retryable: true,
  })
  expect(sent).toEqual([])
})
