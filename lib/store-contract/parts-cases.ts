import { deepStrictEqual } from 'node:assert/strict'
import { PART_BYTES, type Store } from '../record/store.ts'
import { type ContractCase, NOW_SECONDS } from './fixtures.ts'

/** Large values in parts. */
export const partsCases: readonly ContractCase[] = [
  {
    name: 'writes and reads large values in parts, in order',
    async check(store: Store) {
      const partsId = crypto.randomUUID()
      const parts = [new Uint8Array(PART_BYTES).fill(1), new Uint8Array(PART_BYTES).fill(2), new Uint8Array([3])]
      await store.putParts({ partsId, parts, expiresAt: NOW_SECONDS + 86_400 })
      const read = await store.getParts(partsId, 3)
      deepStrictEqual(
        read.map((part) => part && Buffer.from(part).equals(Buffer.from(parts[read.indexOf(part)] ?? []))),
        [true, true, true],
      )
    },
  },
  {
    name: 'answers undefined for a part that is not there',
    async check(store: Store) {
      const partsId = crypto.randomUUID()
      await store.putParts({ partsId, parts: [new Uint8Array([1])], expiresAt: NOW_SECONDS + 86_400 })
      const [first, second] = await store.getParts(partsId, 2)
      deepStrictEqual([first?.length, second], [1, undefined])
    },
  },
]
