import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { type BatchRecord, eachRecord, idempotentBatch } from '../lib/batch/index.ts'
import { type Operation, PermanentError, type StepContext } from '../lib/index.ts'
import { environmentVariable } from './shared/environment.ts'
import { serviceIdempotency } from './shared/idempotency.ts'
import { type Payment, PaymentSchema } from './shared/payment.ts'

const CHARGES_URL = `${environmentVariable('PAYMENT_PROVIDER_URL')}/charges`

/** Leaves the function, which has 5 seconds, time to record what became of the charge. */
const PROVIDER_TIMEOUT_MS = 3_000

/**
 * How long the provider remembers an idempotency key: a day, as Stripe does. A charge that was begun before that and
 * never heard of is not repeated; an operator has to look.
 */
const PROVIDER_KEY_VALID_SECONDS = 86_400

/** Client errors that say "come again"; 409 is a provider's answer while it still works on the same key. */
const COME_AGAIN: readonly number[] = [408, 409, 425, 429]

const ChargeSchema = v.object({ chargeId: v.string() })

async function pay({ body: payment }: BatchRecord<Payment>, { step }: Operation): Promise<void> {
  await step('charge', (context) => charge(payment, context), { keyValidSeconds: PROVIDER_KEY_VALID_SECONDS })
}

/** Charges the order. The key is the same in every attempt, so that the provider charges once. */
async function charge(
  payment: Payment,
  { idempotencyKey, signal }: StepContext,
): Promise<v.InferOutput<typeof ChargeSchema>> {
  const response = await fetch(CHARGES_URL, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
    body: JSON.stringify(payment),
    signal: AbortSignal.any([signal, AbortSignal.timeout(PROVIDER_TIMEOUT_MS)]),
  })
  // Read in any case: the connection is free for the next charge only then.
  const text = await response.text()
  if (response.ok) return v.parse(v.pipe(v.string(), v.parseJson(), ChargeSchema), text)
  const failure = `The payment provider answered ${response.status}.`
  const isRefusal = response.status >= 400 && response.status < 500 && !COME_AGAIN.includes(response.status)
  throw isRefusal ? new PermanentError(failure) : new Error(failure)
}

export const handler = middy<SQSEvent, SQSBatchResponse>()
  .use(
    idempotentBatch({
      idempotency: serviceIdempotency('payments'),
      schema: PaymentSchema,
      // Not the message's id: a second message for an order, or one out of the dead-letter queue, has another one.
      key: ({ body }) => body.orderId,
    }),
  )
  .handler(eachRecord(pay))
