import { type DynamoDBClient, type TransactWriteItem, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { InvalidOptionError } from '../base/errors.ts'
import { refuseUnknown, show } from '../base/guards.ts'
import { lazily } from '../outcome/lazily.ts'
import type { GroupPacing, Store } from '../record/store.ts'
import { besideMethods } from './beside.ts'
import { connect } from './connection.ts'
import { groupRequests } from './group/requests.ts'
import type { GroupRequests } from './group/writes.ts'
import { lookingFirst } from './looking-first.ts'
import { partsMethods } from './parts.ts'
import { existingRecord, recordMethods } from './records.ts'
import { withShortCuts } from './short-cuts.ts'

/** Most operations write nothing together with their record, and come alone. */
const preparing = /* @__PURE__ */ lazily(() => import('./preparation.ts'))
const grouping = /* @__PURE__ */ lazily(() => import('./group/grouped-store.ts'))

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
  const connection = withShortCuts(connect(tableName, client))
  const transactions = {
    tableName,
    transact: (TransactItems: TransactWriteItem[], ClientRequestToken: string) =>
      connection.client().send(new TransactWriteItemsCommand({ TransactItems, ClientRequestToken })),
    existing: async (id: string, item: unknown) => existingRecord(connection, id, item),
  }
  const records = recordMethods(connection)
  const store = {
    ...records,
    put: lookingFirst(records),
    ...besideMethods(connection),
    ...partsMethods(connection),
    async prepare(id, writes, beside) {
      const { preparation } = await preparing()
      return preparation(transactions, id, writes, beside)
    },
  } satisfies Store
  // In a statement a table is known by its name only.
  if (tableName.startsWith('arn:')) return Object.freeze(store)
  return Object.freeze({ ...store, grouped: groupable(store, groupRequests(connection)) })
}

/** What is due together goes on together, also where it has waited for this part to load. */
function groupable(store: Store, requests: GroupRequests): (pacing: GroupPacing) => Store {
  return (pacing) => {
    let made: Store | undefined
    async function together(): Promise<Store> {
      const { groupedStore } = await grouping()
      made ??= groupedStore(store, requests, pacing)
      return made
    }
    return Object.freeze({
      ...store,
      put: async (record, condition) => (await together()).put(record, condition),
      update: async (id, change, condition) => (await together()).update(id, change, condition),
    } satisfies Store)
  }
}
