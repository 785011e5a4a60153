import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { isConditionFailed } from '../base/condition-failed.ts'
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
  const { call } = connect(tableName, settings.client)
  const keyOf = (id: string) =>
    names.sortKey === undefined ? { [names.key]: id } : { [names.key]: partition, [names.sortKey]: id }
  const expiry = (seconds: number) => Math.round(clock.now() / 1000 + seconds)

  return {
    async take(id, operation, validation) {
      const nowMs = clock.now()
      const command = new PutCommand({
        TableName: tableName,
        // Without a time at which it ends, Powertools leaves a record alone until it expires.
        Item: {
          ...keyOf(id),
          [names.status]: 'INPROGRESS',
          [names.expiry]: expiry(Math.max(expiresAfterSeconds, LEAST_BARRIER_SECONDS)),
          ...(validation !== undefined && { [names.validation]: validation }),
          [OPERATION_MARK]: operation,
        },
        ConditionExpression:
          'attribute_not_exists(#key) OR #expiry < :now OR #mark = :operation OR (#status = :inProgress AND #until < :overdue)',
        ExpressionAttributeNames: {
          '#key': names.key,
          '#expiry': names.expiry,
          '#mark': OPERATION_MARK,
          '#status': names.status,
          '#until': names.inProgressExpiry,
        },
        ExpressionAttributeValues: {
          ':now': nowMs / 1000,
          ':operation': operation,
          ':inProgress': 'INPROGRESS',
          ':overdue': nowMs - CLOCK_SKEW_MS,
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      try {
        await call('PutItem', (documents) => documents.send(command))
        return { isTaken: true }
      } catch (error) {
        if (!isConditionFailed(error)) throw error
        return { isTaken: false, item: error.Item === undefined ? await read(id) : plain(error.Item) }
      }
    },

    async complete(id, operation, value) {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: keyOf(id),
        UpdateExpression: `SET #status = :completed, #expiry = :expiry${value === undefined ? '' : ', #data = :data'}`,
        ConditionExpression: '#mark = :operation',
        ExpressionAttributeNames: {
          '#status': names.status,
          '#expiry': names.expiry,
          '#mark': OPERATION_MARK,
          ...(value !== undefined && { '#data': names.data }),
        },
        ExpressionAttributeValues: {
          ':completed': 'COMPLETED',
          ':expiry': expiry(expiresAfterSeconds),
          ':operation': operation,
          ...(value !== undefined && { ':data': value }),
        },
      })
      await call('UpdateItem', (documents) => documents.send(command))
    },
  }

  /** Old clients, and some emulators, do not bring the item that stood against a condition. */
  async function read(id: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const command = new GetCommand({ TableName: tableName, Key: keyOf(id), ConsistentRead: true })
    return (await call('GetItem', (documents) => documents.send(command))).Item
  }
}

/** It comes back marshalled, through the document client too. */
function plain(item: unknown): Readonly<Record<string, unknown>> {
  return unmarshall(item as Parameters<typeof unmarshall>[0])
}
