import { paymentsWorker } from './payments/charge-orders.ts'
import { environmentVariable } from './shared/environment.ts'
import { serviceIdempotency } from './shared/idempotency.ts'

export const handler = paymentsWorker({
  providerUrl: environmentVariable('PAYMENT_PROVIDER_URL'),
  idempotency: serviceIdempotency('payments'),
})
