import { setTimeout as sleep } from 'node:timers/promises'
import { type CommitConflictError, isLambdaOnceError, type Operation } from '../../lib/index.ts'
import type { OrderPaid, Payment } from '../shared/payment.ts'
import { accountOf, groupOf, type ReadLastEntry } from './ledger.ts'

/** Where payments are written down. */
export interface Books {
  /** Keyed by account and sequence. */
  readonly ledgerTable: string
  readonly lastEntry: ReadLastEntry
  readonly ordersTable: string
  /** Hears of paid orders; a FIFO queue. */
  readonly orderPaidQueueUrl: string
}

/** The first of the commit's writes: what stands against it is another payment of the same account. */
const LEDGER_WRITE = 0
/** Payments of one account at the same moment: as many as a batch has records, and some more. */
const MOST_CONTENDERS = 20
const LONGEST_PAUSE_MS = 50

/**
 * Books a charge in one transaction: the ledger's next entry, the order that is paid now, the message that says so, the
 * receipt, and the end of the operation. All of it is there afterwards, or nothing.
 *
 * The entry takes the place after the newest one, and carries the balance up to there. Only one payment can have a place:
 * so the places count the account's payments in the order in which their balances follow from each other, and are what
 * whoever hears of the balance later can tell an old one by.
 */
export async function book(operation: Operation, payment: Payment, chargeId: string, books: Books): Promise<string> {
  const { orderId, amountCents } = payment
  const account = accountOf(payment)
  for (let contender = 1; ; contender++) {
    const last = await books.lastEntry(account)
    const paid: OrderPaid = {
      orderId,
      account,
      sequence: (last?.sequence ?? 0) + 1,
      balanceCents: (last?.balanceCents ?? 0) + amountCents,
    }
    const entry = { ...paid, amountCents, chargeId, fence: operation.fence, bookedAt: new Date().toISOString() }
    try {
      return await operation.commit(chargeId, {
        writes: [
          {
            Put: { TableName: books.ledgerTable, Item: entry, ConditionExpression: 'attribute_not_exists(account)' },
          },
          {
            Update: {
              TableName: books.ordersTable,
              Key: { orderId },
              UpdateExpression: 'SET #status = :paid, chargeId = :chargeId',
              ConditionExpression: '#status = :pending',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: { ':paid': 'paid', ':pending': 'pending', ':chargeId': chargeId },
            },
          },
        ],
        messages: [
          { to: { queueUrl: books.orderPaidQueueUrl }, name: 'order-paid', body: paid, groupId: groupOf(account) },
        ],
        receipt: { orderId, chargeId },
      })
    } catch (error) {
      if (!isPlaceTaken(error) || contender === MOST_CONTENDERS) throw error
      await sleep(Math.random() * LONGEST_PAUSE_MS)
    }
  }
}

/** Nothing was written, and the operation is still open: it may take the next place. */
function isPlaceTaken(error: unknown): boolean {
  return isLambdaOnceError(error, 'COMMIT_CONFLICT') && (error as CommitConflictError).index === LEDGER_WRITE
}
