import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { type BatchContext, eachRecord, idempotentBatch } from '../../lib/batch/index.ts'
import type { Idempotency } from '../../lib/index.ts'
import { type OrderPaid, OrderPaidSchema } from '../shared/payment.ts'

/** What {@link ledgerWorker} works with. */
export interface LedgerWorkerOptions {
  readonly idempotency: Idempotency
  /** Keyed by account. */
  readonly balancesTable: string
}

type LedgerWorker = middy.MiddyfiedHandler<SQSEvent, SQSBatchResponse, Error, BatchContext<OrderPaid>>

/**
 * The handler of the queue that tells of paid orders: keeps each account's balance.
 *
 * Messages may come twice and overtake each other: each carries the whole balance and the place in the ledger it belongs
 * to, and the order guard leaves out one that is not newer than what is there. That is no failure: it is acknowledged.
 */
export function ledgerWorker({ idempotency, balancesTable }: LedgerWorkerOptions): LedgerWorker {
  return middy<SQSEvent, SQSBatchResponse>()
    .use(idempotentBatch({ idempotency, schema: OrderPaidSchema }))
    .handler(
      eachRecord<OrderPaid>(({ body: { account, sequence, balanceCents, orderId } }, operation) =>
        operation.commit(undefined, {
          writes: [
            {
              write: { Put: { TableName: balancesTable, Item: { account, balanceCents, lastOrderId: orderId } } },
              ifNewer: { attribute: 'sequence', value: sequence },
            },
          ],
        }),
      ),
    )
}
