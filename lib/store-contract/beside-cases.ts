import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { DueItem, Store } from '../record/store.ts'
import { aRecord, type ContractCase, completion, NOW_MS, stored } from './fixtures.ts'

/** What lies beside a record, and the index in which it is found. */
export const besideCases: readonly ContractCase[] = [
  {
    name: 'puts items beside a record and lists those with a prefix, in the order of their sort keys',
    async check(store: Store) {
      const { id } = await stored(store, aRecord())
      const sorted = ['outbox#', 'outbox#1', 'outbox#10', 'outbox#2', 'outbox#\uFFFD', 'outbox#\u{1F600}']
      for (const sk of [...sorted].reverse()) {
        await store.putBeside(id, { sk, attributes: { of: sk, bytes: new Uint8Array([1]), none: undefined } })
      }
      await store.putBeside(id, { sk: 'receipt#1', attributes: {} })
      const listed = await store.listBeside(id, 'outbox#')
      deepStrictEqual(
        listed,
        sorted.map((sk) => ({ sk, attributes: { of: sk, bytes: new Uint8Array([1]) } })),
      )
      deepStrictEqual(await store.listBeside(id, 'receipt#'), [{ sk: 'receipt#1', attributes: {} }])
      deepStrictEqual(await store.listBeside(aRecord().id, 'outbox#'), [])
    },
  },
  {
    name: 'puts an item beside a record that is not there, and over an earlier item',
    async check(store: Store) {
      const { id } = aRecord()
      await store.putBeside(id, { sk: 'receipt#1', attributes: { one: 1 } })
      await store.putBeside(id, { sk: 'receipt#1', attributes: { two: 2 } })
      deepStrictEqual(await store.listBeside(id, 'receipt#'), [{ sk: 'receipt#1', attributes: { two: 2 } }])
      strictEqual(await store.get(id), undefined)
    },
  },
  {
    name: 'never lists the record itself',
    async check(store: Store) {
      const { id } = await stored(store, aRecord())
      await store.putBeside(id, { sk: 'outbox#1', attributes: {} })
      deepStrictEqual(await store.listBeside(id, 'o'), [{ sk: 'outbox#1', attributes: {} }])
    },
  },
  {
    name: 'lists more than one page of items',
    async check(store: Store) {
      const { id } = aRecord()
      const text = 'x'.repeat(300_000)
      const keys = ['1', '2', '3', '4', '5'].map((n) => `receipt#${n}`)
      await Promise.all(keys.map((sk) => store.putBeside(id, { sk, attributes: { text } })))
      deepStrictEqual(
        (await store.listBeside(id, 'receipt#')).map(({ sk, attributes }) => [sk, attributes.text === text]),
        keys.map((sk) => [sk, true]),
      )
    },
  },
  {
    name: 'changes an item beside a record where it is as expected, and only there',
    async check(store: Store) {
      const { id } = aRecord()
      const pending = { attribute: 'state', value: 'pending' }
      const dispatched = { state: 'dispatched', expiresAt: 5, dueShard: undefined }
      strictEqual(await store.updateBeside(id, 'outbox#1', dispatched, pending), false)
      deepStrictEqual(await store.listBeside(id, 'outbox#'), [], 'nothing is created')
      await store.putBeside(id, { sk: 'outbox#1', attributes: { state: 'pending', dueShard: 's', body: 'b' } })
      strictEqual(await store.updateBeside(id, 'outbox#1', dispatched, pending), true)
      strictEqual(await store.updateBeside(id, 'outbox#1', { expiresAt: 6 }, pending), false)
      deepStrictEqual(await store.listBeside(id, 'outbox#'), [
        { sk: 'outbox#1', attributes: { state: 'dispatched', expiresAt: 5, body: 'b' } },
      ])
    },
  },
  {
    name: 'lists what is due in a shard, records and items beside them, oldest first and no more than asked for',
    async check(store: Store) {
      const dueShard = `shard-${crypto.randomUUID()}`
      const due = async (dueAtMs: number, shard = dueShard) =>
        (await stored(store, aRecord({ dueShard: shard, dueAtMs }))).id
      const third = await due(NOW_MS)
      const first = await due(NOW_MS - 2)
      const second = aRecord().id
      await store.putBeside(second, { sk: 'outbox#1', attributes: { dueShard, dueAtMs: NOW_MS - 1 } })
      await due(NOW_MS + 1)
      await due(NOW_MS - 3, `${dueShard}-other`)
      await stored(store, aRecord())
      const all: DueItem[] = [
        { id: first, sk: 'op', dueAtMs: NOW_MS - 2 },
        { id: second, sk: 'outbox#1', dueAtMs: NOW_MS - 1 },
        { id: third, sk: 'op', dueAtMs: NOW_MS },
      ]
      await eventually(async () => deepStrictEqual(await store.listDue(dueShard, NOW_MS, 10), all))
      deepStrictEqual(await store.listDue(dueShard, NOW_MS, 2), all.slice(0, 2))
      deepStrictEqual(await store.listDue(`${dueShard}-none`, NOW_MS, 10), [])

      const change = { ...completion, dueShard: undefined, dueAtMs: undefined }
      await store.update(first, change, { kind: 'held', token: 'token-a' })
      await eventually(async () => deepStrictEqual(await store.listDue(dueShard, NOW_MS, 10), all.slice(1)))
    },
  },
]

const TRIES = 50
const PAUSE_MS = 100

/** An index lags behind its table. */
async function eventually(check: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await check()
    } catch (error) {
      if (tries === TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
