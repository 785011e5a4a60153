import { environmentVariable } from './shared/environment.ts'
import { serviceIdempotency } from './shared/idempotency.ts'
import { paymentWebhook } from './webhook/take-event.ts'

export const handler = paymentWebhook({
  events: serviceIdempotency('payment-events'),
  payments: serviceIdempotency('payments'),
  secret: environmentVariable('PAYMENT_WEBHOOK_SECRET'),
})
