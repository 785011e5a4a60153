import { type AttributeValue, BatchGetItemCommand } from '@aws-sdk/client-dynamodb'
import { StoreError } from '../base/errors.ts'
import { attributesOf, valuesOf } from './attributes.ts'
import type { Connection } from './connection.ts'

/** How often a batch read is asked for what it left out before it counts as failed. */
const MAX_ROUNDS = 8

/** DynamoDB reads no more items in a request. */
const MAX_KEYS = 100

type Attributes = Record<string, AttributeValue>

/**
 * Reads items consistently; those that are not there are missing. A batch read answers at most 16 MB, and names what it
 * left out for that or another reason.
 *
 * @param keys - each once
 * @param pause - before it is asked again
 * @throws StoreError when something is left out again and again
 */
export async function batchRead(
  connection: Connection,
  keys: readonly { readonly pk: string; readonly sk: string }[],
  pause?: (round: number) => Promise<void>,
): Promise<readonly Record<string, unknown>[]> {
  const requests: Promise<Attributes[]>[] = []
  for (let from = 0; from < keys.length; from += MAX_KEYS) {
    requests.push(read(connection, keys.slice(from, from + MAX_KEYS).map(attributesOf), pause))
  }
  return (await Promise.all(requests)).flat().map(valuesOf)
}

async function read(
  { tableName, client, call }: Connection,
  keys: Attributes[],
  pause?: (round: number) => Promise<void>,
): Promise<Attributes[]> {
  const found: Attributes[] = []
  let left = keys
  for (let round = 0; left.length > 0; round++) {
    if (round === MAX_ROUNDS) {
      throw new StoreError(`DynamoDB left ${left.length} of ${keys.length} items unread.`, { retryable: true })
    }
    if (round > 0) await pause?.(round)
    const command = new BatchGetItemCommand({ RequestItems: { [tableName]: { Keys: left, ConsistentRead: true } } })
    const { Responses, UnprocessedKeys } = await call('BatchGetItem', () => client().send(command))
    found.push(...(Responses?.[tableName] ?? []))
    left = UnprocessedKeys?.[tableName]?.Keys ?? []
  }
  return found
}
