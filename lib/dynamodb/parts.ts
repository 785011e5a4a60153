import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { lazily } from '../outcome/lazily.ts'
import type { Parts, Store } from '../record/store.ts'
import { attributesOf } from './attributes.ts'
import { batchRead } from './batch-read.ts'
import type { Connection } from './connection.ts'
import { partKey } from './items.ts'

/** Pieces written at once: enough to fill a connection pool's start, few enough for a small function's memory. */
const PARALLEL_PARTS = 8

const limiting = /* @__PURE__ */ lazily(() => import('p-limit'))

/** The methods on the pieces of large values. */
export function partsMethods(connection: Connection): Pick<Store, 'putParts' | 'getParts'> {
  const { tableName, client, call } = connection
  return {
    async putParts({ partsId, parts, expiresAt }: Parts) {
      const { default: pLimit } = await limiting()
      const limit = pLimit(PARALLEL_PARTS)
      await limit.map(parts, (bytes, index) => {
        const Item = attributesOf({ ...partKey(partsId, index), bytes, expiresAt })
        return call('PutItem', () => client().send(new PutItemCommand({ TableName: tableName, Item })))
      })
    },

    async getParts(partsId: string, count: number) {
      const keys = Array.from({ length: count }, (_, index) => partKey(partsId, index))
      const items = await batchRead(connection, keys)
      const found = new Map(items.map(({ pk, bytes }) => [pk, bytes instanceof Uint8Array ? bytes : undefined]))
      return keys.map(({ pk }) => found.get(pk))
    },
  }
}
