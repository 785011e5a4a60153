import { createHash } from 'node:crypto'
import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import type { Payment } from '../shared/payment.ts'

const LastEntrySchema = v.object({ sequence: v.number(), balanceCents: v.number() })

/** The newest entry of an account. */
export type LastEntry = v.InferOutput<typeof LastEntrySchema>

/** Reads the newest entry of an account; `undefined`: it has none. */
export type ReadLastEntry = (account: string) => Promise<LastEntry | undefined>

/** Who pays: each customer has an account in each currency. */
export function accountOf({ customerId, currency }: Payment): string {
  return `${customerId}:${currency}`
}

/** The message group of an account: what a customer is called may be too long for one, or of the wrong letters. */
export function groupOf(account: string): string {
  return createHash('sha256').update(account).digest('base64url')
}

/** The newest entries of a ledger table. */
export function lastEntryIn(documents: DynamoDBDocumentClient, TableName: string): ReadLastEntry {
  return async (account) => {
    const { Items = [] } = await documents.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'account = :account',
        ExpressionAttributeValues: { ':account': account },
        ScanIndexForward: false,
        Limit: 1,
        ConsistentRead: true,
      }),
    )
    const [last] = Items
    return last && v.parse(LastEntrySchema, last)
  }
}
