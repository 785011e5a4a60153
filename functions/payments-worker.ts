import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { paymentsWorker } from './payments/charge-orders.ts'
import { lastEntryIn } from './payments/ledger.ts'
import { providerAt } from './payments/provider.ts'
import { environmentVariable } from './shared/environment.ts'
import { serviceIdempotency } from './shared/idempotency.ts'
import { PATIENCE } from './shared/patience.ts'

const ledgerTable = environmentVariable('LEDGER_TABLE')
const documents = DynamoDBDocumentClient.from(new DynamoDBClient(PATIENCE))

export const handler = paymentsWorker({
  idempotency: serviceIdempotency('payments'),
  provider: providerAt(environmentVariable('PAYMENT_PROVIDER_URL')),
  books: {
    ledgerTable,
    lastEntry: lastEntryIn(documents, ledgerTable),
    ordersTable: environmentVariable('ORDERS_TABLE'),
    orderPaidQueueUrl: environmentVariable('ORDER_PAID_QUEUE_URL'),
  },
  queueUrl: environmentVariable('PAYMENTS_QUEUE_URL'),
})
