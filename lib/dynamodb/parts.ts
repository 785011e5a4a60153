import { BatchGetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import pLimit from 'p-limit'
import { StoreError } from '../base/errors.ts'
import type { Parts, Store } from '../record/store.ts'
import type { Connection } from './connection.ts'
import { partKey } from './items.ts'

/** Pieces written at once: enough to fill a connection pool's start, few enough for a small function's memory. */
const PARALLEL_PARTS = 8
/** How often a batch read is asked for the pieces it left out before it counts as failed. */
const MAX_READ_ROUNDS = 8

/** The methods on the pieces of large values. */
export function partsMethods({ tableName, call }: Connection): Pick<Store, 'putParts' | 'getParts'> {
  return {
    async putParts({ partsId, parts, expiresAt }: Parts) {
      const limit = pLimit(PARALLEL_PARTS)
      await limit.map(parts, (bytes, index) => {
        const Item = { ...partKey(partsId, index), bytes, expiresAt }
        return call('PutItem', (documents) => documents.send(new PutCommand({ TableName: tableName, Item })))
      })
    },

    async getParts(partsId: string, count: number) {
      const found = new Map<string, Uint8Array>()
      let keys: Record<string, unknown>[] = Array.from({ length: count }, (_, index) => partKey(partsId, index))
      // A batch read answers at most 16 MB and names what it left out.
      for (let round = 0; keys.length > 0; round++) {
        if (round === MAX_READ_ROUNDS) {
          throw new StoreError(`DynamoDB left ${keys.length} of ${count} parts unread.`, { retryable: true })
        }
        const RequestItems = { [tableName]: { Keys: keys, ConsistentRead: true } }
        const answer = await call('BatchGetItem', (documents) => documents.send(new BatchGetCommand({ RequestItems })))
        for (const item of answer.Responses?.[tableName] ?? []) {
          if (item.bytes instanceof Uint8Array) found.set(String(item.pk), item.bytes)
        }
        keys = answer.UnprocessedKeys?.[tableName]?.Keys ?? []
      }
      return Array.from({ length: count }, (_, index) => found.get(partKey(partsId, index).pk))
    },
  }
}
