import { BatchGetCommand } from '@aws-sdk/lib-dynamodb'
import { StoreError } from '../base/errors.ts'
import type { Connection } from './connection.ts'

/** How often a batch read is asked for what it left out before it counts as failed. */
const MAX_ROUNDS = 8

/**
 * Reads at most 100 items consistently; those that are not there are missing. A batch read answers at most 16 MB, and
 * names what it left out for that or another reason.
 *
 * @param pause - before it is asked again
 * @throws StoreError when something is left out again and again
 */
export async function batchRead(
  { tableName, call }: Connection,
  keys: readonly { readonly pk: string; readonly sk: string }[],
  pause?: (round: number) => Promise<void>,
): Promise<readonly Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = []
  let left: Record<string, unknown>[] = keys.map((key) => ({ ...key }))
  for (let round = 0; left.length > 0; round++) {
    if (round === MAX_ROUNDS) {
      throw new StoreError(`DynamoDB left ${left.length} of ${keys.length} items unread.`, { retryable: true })
    }
    if (round > 0) await pause?.(round)
    const RequestItems = { [tableName]: { Keys: left, ConsistentRead: true } }
    const answer = await call('BatchGetItem', (documents) => documents.send(new BatchGetCommand({ RequestItems })))
    found.push(...(answer.Responses?.[tableName] ?? []))
    left = answer.UnprocessedKeys?.[tableName]?.Keys ?? []
  }
  return found
}
