import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { SORT_KEY } from '../../dynamodb/table-shape.ts'
import { OUTBOX_PREFIX, RECORD_SORT_KEY } from '../../record/record.ts'
import type { Store } from '../../record/store.ts'
import type { Connection } from '../connection.ts'
import type { Item } from '../scan.ts'

/** A part of the table. */
export interface TablePage {
  /** Records and messages in it. */
  readonly items: readonly Item[]
  /** Items that were read for it, and are billed. */
  readonly read: number
  /** Where to go on; absent: this was the end of the table. */
  readonly next?: Item
}

/** A table that can be watched. */
export interface WatchedTable {
  readonly tableName: string
  readonly endpoint: string | undefined
  readonly region: string | undefined
  /** It is on this machine, and reading it costs nothing. */
  readonly isLocal: boolean
  readonly store: Store
  /** Reads at most so many items. */
  readPage(from: Item | undefined, most: number): Promise<TablePage>
}

/** The table at the other end of a connection. */
export function watchedTable({ tableName, endpoint, region, documents, store }: Connection): WatchedTable {
  return Object.freeze({
    tableName,
    endpoint,
    region,
    isLocal: endpoint !== undefined && /^https?:\/\/(localhost|127\.|\[::1\])/.test(endpoint),
    store,
    async readPage(from: Item | undefined, most: number): Promise<TablePage> {
      const {
        Items = [],
        ScannedCount = 0,
        LastEvaluatedKey,
      } = await documents.send(
        new ScanCommand({
          TableName: tableName,
          Limit: most,
          FilterExpression: '#sk = :record OR begins_with(#sk, :outbox)',
          ExpressionAttributeNames: { '#sk': SORT_KEY },
          ExpressionAttributeValues: { ':record': RECORD_SORT_KEY, ':outbox': OUTBOX_PREFIX },
          ...(from !== undefined && { ExclusiveStartKey: { ...from } }),
        }),
      )
      return { items: Items, read: ScannedCount, ...(LastEvaluatedKey !== undefined && { next: LastEvaluatedKey }) }
    },
  })
}
