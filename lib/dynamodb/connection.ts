import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { isConditionFailed } from '../base/condition-failed.ts'
import { MARSHALLING } from '../commit/marshalled.ts'
import { toStoreError } from './store-errors.ts'

const CONNECTION_TIMEOUT_MS = 1_000
const REQUEST_TIMEOUT_MS = 3_000
const MAX_ATTEMPTS = 3

/** One table, and the clients that reach it. */
export interface Connection {
  readonly tableName: string
  readonly client: () => DynamoDBClient
  readonly documents: () => DynamoDBDocumentClient
  /** Sends a request; what fails is a `StoreError`, except a failed condition. */
  call<T>(action: string, send: (documents: DynamoDBDocumentClient) => Promise<T>): Promise<T>
}

/** Makes its clients at the first call. */
export function connect(tableName: string, given: DynamoDBClient | undefined): Connection {
  let own: DynamoDBClient | undefined
  let made: DynamoDBDocumentClient | undefined
  const client = () => {
    own ??= given ?? defaultClient()
    return own
  }
  /** Marshalling is the store's own, whatever the options of a document client that was given. */
  const documents = () => {
    // A copy: the document client sets options of its own in what it is given.
    made ??= DynamoDBDocumentClient.from(resolvedEachTime(client()), { marshallOptions: { ...MARSHALLING } })
    return made
  }
  return {
    tableName,
    client,
    documents,
    async call(action, send) {
      try {
        return await send(documents())
      } catch (error) {
        throw isConditionFailed(error) ? error : toStoreError(error, action, tableName)
      }
    },
  }
}

/** A document client puts a middleware of its own into each command, and refuses a client that keeps what it resolved. */
function resolvedEachTime(client: DynamoDBClient): DynamoDBClient {
  if (client.config?.cacheMiddleware !== true) return client
  return Object.create(client, { config: { value: { ...client.config, cacheMiddleware: false } } })
}

function defaultClient(): DynamoDBClient {
  return new DynamoDBClient({
    maxAttempts: MAX_ATTEMPTS,
    // Nobody else has this client, to give it another middleware later.
    cacheMiddleware: true,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  })
}
