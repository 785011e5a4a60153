import {
  type AttributeValue,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { isConditionFailed } from '../base/condition-failed.ts'
import { RECORD_SORT_KEY } from '../record/record.ts'
import type { BesideItem, DueItem, Store } from '../record/store.ts'
import { attributesOf, valuesOf } from './attributes.ts'
import { aliases } from './conditions.ts'
import type { Connection } from './connection.ts'
import { fromBesideItem, toBesideItem } from './items.ts'
import { besideUpdate } from './record-update.ts'
import { INDEX_NAME, INDEX_PARTITION_KEY, INDEX_SORT_KEY, PARTITION_KEY, SORT_KEY } from './table-shape.ts'

/** The methods on what lies beside the record, and on the index. */
export function besideMethods({
  tableName,
  client,
  call,
}: Connection): Pick<Store, 'putBeside' | 'updateBeside' | 'listBeside' | 'listDue'> {
  /** Items of all pages, at most `limit` of them. The SDK's paginator takes no client of another copy of the SDK. */
  async function query(input: Omit<QueryCommandInput, 'TableName'>, limit = Number.POSITIVE_INFINITY) {
    const items: Record<string, unknown>[] = []
    let ExclusiveStartKey: Record<string, AttributeValue> | undefined
    do {
      const command = new QueryCommand({ TableName: tableName, ...input, ExclusiveStartKey })
      const { Items = [], LastEvaluatedKey } = await call('Query', () => client().send(command))
      items.push(...Items.map(valuesOf))
      ExclusiveStartKey = LastEvaluatedKey
    } while (ExclusiveStartKey !== undefined && items.length < limit)
    return items.slice(0, limit)
  }

  return {
    async putBeside(id: string, item: BesideItem) {
      const command = new PutItemCommand({ TableName: tableName, Item: attributesOf(toBesideItem(id, item)) })
      await call('PutItem', () => client().send(command))
    },

    async updateBeside(id, sk, set, expected) {
      const command = new UpdateItemCommand({ TableName: tableName, ...besideUpdate(id, sk, set, expected) })
      try {
        await call('UpdateItem', () => client().send(command))
        return true
      } catch (error) {
        if (isConditionFailed(error)) return false
        throw error
      }
    },

    async listBeside(id: string, prefix: string) {
      const items = await query({
        KeyConditionExpression: '#pk = :id AND begins_with(#sk, :prefix)',
        ExpressionAttributeNames: aliases([PARTITION_KEY, SORT_KEY]),
        ExpressionAttributeValues: attributesOf({ ':id': id, ':prefix': prefix }),
        ConsistentRead: true,
      })
      return items.filter(({ sk }) => sk !== RECORD_SORT_KEY).map(fromBesideItem)
    },

    async listDue(shard: string, untilMs: number, limit: number): Promise<readonly DueItem[]> {
      const items = await query(
        {
          IndexName: INDEX_NAME,
          KeyConditionExpression: `#${INDEX_PARTITION_KEY} = :shard AND #${INDEX_SORT_KEY} <= :until`,
          // Only keys, whatever else the index carries.
          ProjectionExpression: `#${PARTITION_KEY}, #${SORT_KEY}, #${INDEX_SORT_KEY}`,
          ExpressionAttributeNames: aliases([INDEX_PARTITION_KEY, INDEX_SORT_KEY, PARTITION_KEY, SORT_KEY]),
          ExpressionAttributeValues: attributesOf({ ':shard': shard, ':until': untilMs }),
          Limit: limit,
        },
        limit,
      )
      return items.map(({ pk, sk, dueAtMs }) => ({ id: String(pk), sk: String(sk), dueAtMs: Number(dueAtMs) }))
    },
  }
}
