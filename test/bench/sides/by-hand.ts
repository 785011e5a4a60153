import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'

export const RETENTION_SECONDS = 86_400
export const LEASE_MS = 30_000

/** What is claimed where, and what the work returns. */
export interface ByHand {
  readonly client: DynamoDBClient
  readonly tableName: string
  readonly result: () => unknown
}

/**
 * The least that claims and completes, written by hand on the SDK's client: one conditional write each. No key checks, no
 * fingerprint, no recovery: what the approach itself costs.
 */
export function claimAndComplete({
  client,
  tableName,
  result,
}: ByHand): (order: { readonly id: string }) => Promise<unknown> {
  return async ({ id }) => {
    const now = Date.now()
    const token = crypto.randomUUID()
    try {
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: {
            id: { S: id },
            status: { S: 'IN_PROGRESS' },
            token: { S: token },
            leaseUntil: { N: String(now + LEASE_MS) },
          },
          ConditionExpression: 'attribute_not_exists(#id) OR #expires < :now',
          ExpressionAttributeNames: { '#id': 'id', '#expires': 'expiresAt' },
          ExpressionAttributeValues: { ':now': { N: String(Math.floor(now / 1000)) } },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      )
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error
      return JSON.parse(error.Item?.outcome?.S ?? 'null')
    }
    const value = await result()
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: { id: { S: id } },
        UpdateExpression: 'SET #status = :done, #outcome = :outcome, #expires = :expires',
        ConditionExpression: '#token = :token',
        ExpressionAttributeNames: {
          '#status': 'status',
          '#outcome': 'outcome',
          '#expires': 'expiresAt',
          '#token': 'token',
        },
        ExpressionAttributeValues: {
          ':done': { S: 'COMPLETED' },
          ':outcome': { S: JSON.stringify(value) },
          ':expires': { N: String(Math.floor(now / 1000) + RETENTION_SECONDS) },
          ':token': { S: token },
        },
      }),
    )
    return value
  }
}
