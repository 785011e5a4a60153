import { BatchExecuteStatementCommand } from '@aws-sdk/client-dynamodb'
import { claimAndComplete, LEASE_MS, RETENTION_SECONDS } from './by-hand.ts'
import type { Side, SideSettings } from './side.ts'

/** What one request of statements takes. */
const STATEMENTS = 25

/** {@link claimAndComplete}, and the same for a batch: one statement each, in as few requests as may be. */
export function createSide({ client, tableName, result }: SideSettings): Side {
  /** All are new. */
  async function group(ids: readonly string[]): Promise<void> {
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
    once: claimAndComplete({ client, tableName, result }),
    async batch({ Records }) {
      const ids = Records.map(({ messageId }) => messageId)
      // At least two side by side: no statement of one waits for those of the other.
      const size = Math.min(STATEMENTS, Math.ceil(ids.length / 2))
      const groups: Promise<void>[] = []
      for (let from = 0; from < ids.length; from += size) groups.push(group(ids.slice(from, from + size)))
      await Promise.all(groups)
      return { batchItemFailures: [] }
    },
  }
}
