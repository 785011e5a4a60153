import { type AttributeValue, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { isConditionFailed } from '../base/condition-failed.ts'
import { attributesOf, valuesOf } from '../dynamodb/attributes.ts'
import { connect } from '../dynamodb/connection.ts'
import { CLOCK_SKEW_MS, OPERATION_MARK } from './item.ts'
import type { Settings } from './options.ts'

/** The records of Powertools, as far as a switch needs them. */
export interface PowertoolsTable {
  /**
   * Takes the id for this version, unless the other one has done it or is doing it.
   * @returns the record that stands against it
   * @throws StoreError when nobody knows whether it was taken
   */
  take(id: string, operation: string, validation: string | undefined): Promise<Taken>
  /** Tells the other version the result. Never of a record that is not this operation's. @throws StoreError */
  complete(id: string, operation: string, value: unknown): Promise<void>
}

/** Whether the id was taken. */
export type Taken =
  | { readonly isTaken: true }
  | { readonly isTaken: false; readonly item: Readonly<Record<string, unknown>> | undefined }

/** Longer than any function runs, so that an id is not free while its holder works. */
const LEAST_BARRIER_SECONDS = 900

/** The table of Powertools. */
export function powertoolsTable<P>(settings: Settings<P>): PowertoolsTable {
  const { tableName, names, partition, clock, expiresAfterSeconds } = settings
  const { client, call } = connect(tableName, settings.client)
  const keyOf = (id: string) =>
    names.sortKey === undefined ? { [names.key]: id } : { [names.key]: partition, [names.sortKey]: id }
  const expiry = (seconds: number) => Math.round(clock.now() / 1000 + seconds)

  return {
    async take(id, operation, validation) {
      const nowMs = clock.now()
      const command = new PutItemCommand({
        TableName: tableName,
        // Without a time at which it ends, Powertools leaves a record alone until it expires.
        Item: attributesOf({
          ...keyOf(id),
          [names.status]: 'INPROGRESS',
          [names.expiry]: expiry(Math.max(expiresAfterSeconds, LEAST_BARRIER_SECONDS)),
          [names.validation]: validation,
          [OPERATION_MARK]: operation,
        }),
        ConditionExpression:
          'attribute_not_exists(#key) OR #expiry < :now OR #mark = :operation OR (#status = :inProgress AND #until < :overdue)',
        ExpressionAttributeNames: {
          '#key': names.key,
          '#expiry': names.expiry,
          '#mark': OPERATION_MARK,
          '#status': names.status,
          '#until': names.inProgressExpiry,
        },
        ExpressionAttributeValues: attributesOf({
          ':now': nowMs / 1000,
          ':operation': operation,
          ':inProgress': 'INPROGRESS',
          ':overdue': nowMs - CLOCK_SKEW_MS,
        }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      try {
        await call('PutItem', () => client().send(command))
        return { isTaken: true }
      } catch (error) {
        if (!isConditionFailed(error)) throw error
        const item = (error.Item as Attributes | undefined) ?? (await read(id))
        return { isTaken: false, item: item && valuesOf(item) }
      }
    },

    async complete(id, operation, value) {
      const command = new UpdateItemCommand({
        TableName: tableName,
        Key: attributesOf(keyOf(id)),
        UpdateExpression: `SET #status = :completed, #expiry = :expiry${value === undefined ? '' : ', #data = :data'}`,
        ConditionExpression: '#mark = :operation',
        ExpressionAttributeNames: {
          '#status': names.status,
          '#expiry': names.expiry,
          '#mark': OPERATION_MARK,
          ...(value !== undefined && { '#data': names.data }),
        },
        ExpressionAttributeValues: attributesOf({
          ':completed': 'COMPLETED',
          ':expiry': expiry(expiresAfterSeconds),
          ':operation': operation,
          ':data': value,
        }),
      })
      await call('UpdateItem', () => client().send(command))
    },
  }

  /** Old clients, and some emulators, do not bring the item that stood against a condition. */
  async function read(id: string): Promise<Attributes | undefined> {
    const command = new GetItemCommand({ TableName: tableName, Key: attributesOf(keyOf(id)), ConsistentRead: true })
    return (await call('GetItem', () => client().send(command))).Item
  }
}

type Attributes = Readonly<Record<string, AttributeValue>>
