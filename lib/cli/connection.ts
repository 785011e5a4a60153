import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { dynamoStore } from '../dynamodb/dynamo-store.ts'
import type { Store } from '../record/store.ts'
import { CliFailure, EXIT } from './exit.ts'

/** The options that every command takes. */
export interface ConnectionOptions {
  readonly table?: string
  readonly region?: string
  readonly endpoint?: string
}

/** A table, and what reaches it. */
export interface Connection {
  readonly tableName: string
  readonly endpoint: string | undefined
  readonly region: string | undefined
  readonly client: DynamoDBClient
  readonly documents: DynamoDBDocumentClient
  readonly store: Store
  close(): void
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** @throws CliFailure saying which option is missing or wrong */
export function connect({ table, region, endpoint }: ConnectionOptions, env: NodeJS.ProcessEnv): Connection {
  const tableName = table ?? env.IDEMPOTENCY_TABLE
  if (tableName === undefined || tableName.trim() === '') {
    throw new CliFailure(EXIT.usage, 'Which table? Say --table <name>, or set IDEMPOTENCY_TABLE.')
  }
  const isLocal = checkEndpoint(endpoint)
  const client = new DynamoDBClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    // A local engine asks for some region and some credentials, and does not care which.
    ...(isLocal && region === undefined && env.AWS_REGION === undefined && { region: 'eu-central-1' }),
    ...(isLocal &&
      env.AWS_ACCESS_KEY_ID === undefined && { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  })
  return {
    tableName,
    endpoint,
    region: region ?? env.AWS_REGION,
    client,
    documents: DynamoDBDocumentClient.from(client),
    store: dynamoStore({ tableName, client }),
    close: () => client.destroy(),
  }
}

/** Whether the endpoint is on this machine. */
function checkEndpoint(endpoint: string | undefined): boolean {
  if (endpoint === undefined) return false
  const url = URL.parse(endpoint)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CliFailure(EXIT.usage, `--endpoint must be a URL, such as http://localhost:8000; got "${endpoint}".`)
  }
  const isLocal = LOOPBACK.test(url.hostname)
  if (url.protocol === 'http:' && !isLocal) {
    throw new CliFailure(
      EXIT.usage,
      '--endpoint may be plain http only on this machine (localhost): records would go over the network in clear. Use https.',
    )
  }
  return isLocal
}
