import { GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { isConditionFailed } from '../base/condition-failed.ts'
import type { OperationRecord } from '../record/record.ts'
import type { Condition, RecordChange, StandingCondition, Store, WriteAnswer } from '../record/store.ts'
import { attributesOf, valuesOf } from './attributes.ts'
import { conditionExpression } from './conditions.ts'
import type { Connection } from './connection.ts'
import { recordKey, toItem, toRecord } from './items.ts'
import { recordUpdate } from './record-update.ts'
import type { ShortConnection } from './short-cuts.ts'

/** Reads the record consistently. */
export async function readRecord(
  { tableName, client, call }: Connection,
  id: string,
): Promise<OperationRecord | undefined> {
  const command = new GetItemCommand({ TableName: tableName, Key: attributesOf(recordKey(id)), ConsistentRead: true })
  const { Item } = await call('GetItem', () => client().send(command))
  return Item && toRecord(valuesOf(Item))
}

/** The record that stood against a condition: what the answer brought of it, which old clients and some emulators leave out. */
export function existingRecord(
  connection: Connection,
  id: string,
  item: unknown,
): Promise<OperationRecord | undefined> | OperationRecord {
  if (item === undefined) return readRecord(connection, id)
  return toRecord(valuesOf(item as Parameters<typeof valuesOf>[0]))
}

/** The methods on the record itself. */
export function recordMethods(connection: ShortConnection): Pick<Store, 'get' | 'put' | 'update'> {
  const { tableName, call, clientFor } = connection

  async function conditional(id: string, write: Promise<unknown>): Promise<WriteAnswer> {
    try {
      await write
      return { applied: true }
    } catch (error) {
      if (!isConditionFailed(error)) throw error
      return { applied: false, existing: await existingRecord(connection, id, error.Item) }
    }
  }

  return {
    get: (id: string) => readRecord(connection, id),

    put(record: OperationRecord, condition: Condition) {
      const { expression, names, values } = conditionExpression(condition)
      const command = new PutItemCommand({
        TableName: tableName,
        Item: attributesOf(toItem(record)),
        ConditionExpression: expression,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const write = call('PutItem', () => clientFor(command).send(command))
      return conditional(record.id, write)
    },

    update(id: string, change: RecordChange, condition: StandingCondition) {
      const command = new UpdateItemCommand({
        TableName: tableName,
        ...recordUpdate(id, change, condition),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const write = call('UpdateItem', () => clientFor(command).send(command))
      return conditional(id, write)
    },
  }
}
