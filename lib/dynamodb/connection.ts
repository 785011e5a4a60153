import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { isConditionFailed } from '../base/condition-failed.ts'
import { toStoreError } from './store-errors.ts'

const CONNECTION_TIMEOUT_MS = 1_000
const REQUEST_TIMEOUT_MS = 3_000
const MAX_ATTEMPTS = 3

/** One table, and the client that reaches it. */
export interface Connection {
  readonly tableName: string
  readonly client: () => DynamoDBClient
  /** Waits for a request; what fails is a `StoreError`, except a failed condition. */
  call<T>(action: string, send: () => Promise<T>): Promise<T>
}

/** Makes its client at the first call. */
export function connect(tableName: string, given: DynamoDBClient | undefined): Connection {
  let own: DynamoDBClient | undefined
  return {
    tableName,
    client() {
      own ??= given ?? defaultClient()
      return own
    },
    async call(action, send) {
      try {
        return await send()
      } catch (error) {
        throw isConditionFailed(error) ? error : toStoreError(error, action, tableName)
      }
    },
  }
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
