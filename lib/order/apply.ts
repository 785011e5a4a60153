import { isDeepStrictEqual } from 'node:util'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { isConditionFailed } from '../base/condition-failed.ts'
import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import { ConditionFailedError, versionTypeError } from './errors.ts'
import { type OrderGuard, resolveGuard } from './guard.ts'
import { guarded, type Tombstone } from './if-newer.ts'
import { judge, plain, type StoredItem } from './judge.ts'
import { checkWrite, type GuardedWrite, type Write } from './write.ts'

/**
 * Applies a write only when the stored version is absent or lower than the guard's. An equal one is stale: it is
 * this very write, delivered before. Both answers are good ones; answer success to whoever sent the update.
 *
 * @param client - a document client, or a plain one that lib-dynamodb's commands are sent through
 * @throws ConditionFailedError when the order is right but your own condition does not hold; VersionTypeError when the
 * stored version is of another type; what the client throws
 *
 * @example
 * await applyIfNewer(client, { Put: { TableName, Item: account } }, { attribute: 'version', value: event.version })
 */
export async function applyIfNewer(
  client: DynamoDBDocumentClient | DynamoDBClient,
  write: Write,
  guard: OrderGuard,
): Promise<'applied' | 'stale'> {
  if (typeof client?.send !== 'function') {
    throw new InvalidOptionError(`client must be a DynamoDB (document) client; got ${show(client)}.`)
  }
  const resolved = resolveGuard(guard)
  checkWrite(write)
  const updateKey = 'Update' in write ? Object.keys(write.Update.Key ?? {}) : undefined
  let over: Tombstone | undefined
  // Ends: every further round was caused by a write with a higher version than the last, and lower than ours.
  for (;;) {
    const current = guarded(write, resolved, over)
    try {
      await send(client, current)
      return 'applied'
    } catch (error) {
      if (!isConditionFailed(error)) throw error
      const item = error.Item as StoredItem | undefined
      const finding = judge(item, resolved, { updateKey, over })
      switch (finding.kind) {
        case 'stale':
          return isOwnWrite(current, item, error) ? 'applied' : 'stale'
        case 'other-type':
          throw versionTypeError(resolved, finding.stored, error)
        case 'condition-failed':
          throw new ConditionFailedError(item && plain(item), error)
        case 'over-tombstone':
          over = finding.tombstone
          break
        case 'over-live':
          over = undefined
      }
    }
  }
}

async function send(client: DynamoDBDocumentClient | DynamoDBClient, write: GuardedWrite): Promise<void> {
  // The commands bring their marshalling with them, so a plain client does as well.
  const documents = client as DynamoDBDocumentClient
  if ('Put' in write) await documents.send(new PutCommand({ ...write.Put, Item: write.Put.Item }))
  else await documents.send(new UpdateCommand({ ...write.Update, Key: write.Update.Key }))
}

/**
 * Whether the first try of this very call wrote the item and its answer was lost: the SDK had to repeat the request,
 * and the item is exactly the one it sent. What an update has made of an item cannot be told like this.
 */
function isOwnWrite(write: GuardedWrite, item: StoredItem | undefined, error: Error): boolean {
  if (!('Put' in write) || item === undefined) return false
  const metadata: unknown = Reflect.get(error, '$metadata')
  const tries: unknown = typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, 'attempts') : 1
  if (typeof tries !== 'number' || tries < 2) return false
  const sent = marshall(write.Put.Item ?? {}, { removeUndefinedValues: true, convertClassInstanceToMap: true })
  return isDeepStrictEqual(sent, { ...item })
}
