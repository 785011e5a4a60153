import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { InvalidOptionError } from '../base/errors.ts'
import { refuseUnknown, show } from '../base/guards.ts'
import type { GroupPacing, Store } from '../record/store.ts'
import { besideMethods } from './beside.ts'
import { connect } from './connection.ts'
import { groupedStore } from './group/grouped-store.ts'
import { groupRequests } from './group/requests.ts'
import { partsMethods } from './parts.ts'
import { preparation } from './preparation.ts'
import { recordMethods } from './records.ts'

/** Options of {@link dynamoStore}. */
export interface DynamoStoreOptions {
  /**
   * The table: partition key `pk` and sort key `sk`, both strings; TTL on `expiresAt`. For a reconciler also an index
   * `due` with partition key `dueShard`, a string, and sort key `dueAtMs`, a number.
   */
  readonly tableName: string
  /**
   * The client to use. Give one to share connections, or to set a region or an endpoint.
   * @defaultValue a client of its own, made at the first call: 3 tries a call, 1 s to connect, 3 s to answer
   */
  readonly client?: DynamoDBClient
}

/**
 * Keeps records in a DynamoDB table. Stateless: one store serves any number of middlewares.
 *
 * @example
 * const store = dynamoStore({ tableName: process.env.IDEMPOTENCY_TABLE ?? '' })
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function dynamoStore(options: DynamoStoreOptions): Store {
  refuseUnknown('dynamoStore', options, ['tableName', 'client'])
  const { tableName, client } = options
  if (typeof tableName !== 'string' || tableName.trim() === '') {
    throw new InvalidOptionError(
      `tableName must be the name or ARN of a DynamoDB table; got ${show(tableName)}. Is the environment variable set?`,
    )
  }
  if (client !== undefined && typeof client.send !== 'function') {
    throw new InvalidOptionError(`client must be a DynamoDBClient; got ${show(client)}.`)
  }
  const connection = connect(tableName, client)
  const store = {
    ...recordMethods(connection),
    ...besideMethods(connection),
    ...partsMethods(connection),
    prepare: (id, writes, beside) => preparation(connection, id, writes, beside),
  } satisfies Store
  // In a statement a table is known by its name only.
  if (tableName.startsWith('arn:')) return Object.freeze(store)
  const requests = groupRequests(connection)
  return Object.freeze({ ...store, grouped: (pacing: GroupPacing) => groupedStore(store, requests, pacing) })
}
