import { paginateScan, type ScanCommandInput } from '@aws-sdk/lib-dynamodb'
import type { Connection } from './connection.ts'
import { count } from './terminal/text.ts'

/** What is looked for in the whole table. */
export type Search = Pick<
  ScanCommandInput,
  'FilterExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues' | 'IndexName'
>

/** Told of how far it is; `undefined`: it is over. */
export type Progress = (text: string | undefined) => void

/** One item of the table. */
export type Item = Readonly<Record<string, unknown>>

/** How much of the table was read. */
export interface Scanned {
  readonly items: number
  /** Whether the end of the table was reached. */
  readonly isComplete: boolean
}

/**
 * Reads the table, or its index, from the first item to the last, and hands over what matches. DynamoDB bills what is
 * read, not what matches.
 *
 * @param take - answers whether to go on
 */
export async function scan(
  { documents, tableName }: Connection,
  search: Search,
  take: (item: Item) => Promise<boolean>,
  progress: Progress,
): Promise<Scanned> {
  let items = 0
  let found = 0
  try {
    const input = { TableName: tableName, ...search }
    for await (const { Items = [], ScannedCount = 0 } of paginateScan({ client: documents }, input)) {
      items += ScannedCount
      for (const item of Items) {
        found += 1
        if (!(await take(item))) return { items, isComplete: false }
      }
      progress(`read ${count(items, 'item')} of the table, ${found.toLocaleString('en-US')} match …`)
    }
    return { items, isComplete: true }
  } finally {
    progress(undefined)
  }
}
