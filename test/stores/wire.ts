import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { localClient } from './table.ts'

/** A client whose requests are counted where they go out. */
export interface WatchedClient {
  readonly client: DynamoDBClient
  /** The actions of its requests so far. */
  readonly sent: string[]
}

export function watchedClient(endpoint: string): WatchedClient {
  const sent: string[] = []
  const client = localClient(endpoint)
  client.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> }
      sent.push(headers['x-amz-target']?.split('.')[1] ?? '?')
      return next(args)
    },
    { step: 'deserialize', priority: 'low' },
  )
  return { client, sent }
}
