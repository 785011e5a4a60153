import {
  BatchExecuteStatementCommand,
  ConditionalCheckFailedException,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { Side, SideSettings } from './side.ts'

const RETENTION_SECONDS = 86_400
const LEASE_MS = 30_000

/** What one request of statements takes. */
const STATEMENTS = 25

/**
 * The least that claims and completes, written by hand on the SDK's client: one conditional write each, or for a batch
 * one statement each. No key checks, no fingerprint, no recovery: what the approach itself costs.
 */
export function createSide({ client, tableName, result }: SideSettings): Side {
  async function once({ id }: { readonly id: string }): Promise<unknown> {
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

  /** All are new. */
  async function claimAndComplete(ids: readonly string[]): Promise<void> {
    const now = Date.now()
    const token = { S: crypto.randomUUID() }
    await client.send(
      new BatchExecuteStatementCommand({
        Statements: ids.map((id) => ({
          Statement: `INSERT INTO "${tableName}" VALUE {'id': ?, 'status': ?, 'token': ?, 'leaseUntil': ?}`,
          Parameters: [{ S: id }, { S: 'IN_PROGRESS' }, token, { N: String(now + LEASE_MS) }],
        })),
      }),
    )
    const value = { S: JSON.stringify(await result()) }
    const expires = { N: String(Math.floor(now / 1000) + RETENTION_SECONDS) }
    await client.send(
      new BatchExecuteStatementCommand({
        Statements: ids.map((id) => ({
          Statement: `UPDATE "${tableName}" SET "status" = ? SET "outcome" = ? SET "expiresAt" = ? WHERE "id" = ? AND "token" = ?`,
          Parameters: [{ S: 'COMPLETED' }, value, expires, { S: id }, token],
        })),
      }),
    )
  }

  return {
    once,
    async batch({ Records }) {
      const ids = Records.map(({ messageId }) => messageId)
      const groups: Promise<void>[] = []
      for (let from = 0; from < ids.length; from += STATEMENTS) {
        groups.push(claimAndComplete(ids.slice(from, from + STATEMENTS)))
      }
      await Promise.all(groups)
      return { batchItemFailures: [] }
    },
  }
}
