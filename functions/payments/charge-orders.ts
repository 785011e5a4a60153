import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { type BatchContext, eachRecord, idempotentBatch } from '../../lib/batch/index.ts'
import { type Idempotency, PermanentError, type StepContext } from '../../lib/index.ts'
import { type Payment, PaymentSchema } from '../shared/payment.ts'

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
type Charge = v.InferOutput<typeof ChargeSchema>

/** What {@link paymentsWorker} works with. */
export interface PaymentsWorkerOptions {
  readonly idempotency: Idempotency
  /** The payment provider; charges are made under `/charges`. */
  readonly providerUrl: string
}

type PaymentsWorker = middy.MiddyfiedHandler<SQSEvent, SQSBatchResponse, Error, BatchContext<Payment>>

/** The handler of the payments queue: charges each order once. */
export function paymentsWorker({ idempotency, providerUrl }: PaymentsWorkerOptions): PaymentsWorker {
  return middy<SQSEvent, SQSBatchResponse>()
    .use(
      idempotentBatch({
        idempotency,
        schema: PaymentSchema,
        // Not the message's id: a second message for an order, or one out of the dead-letter queue, has another one.
        key: ({ body }) => body.orderId,
      }),
    )
    .handler(
      eachRecord<Payment>(async ({ body: payment }, { step }) => {
        await step('charge', (context) => charge(providerUrl, payment, context), {
          keyValidSeconds: PROVIDER_KEY_VALID_SECONDS,
        })
      }),
    )
}

/** Charges the order. The key is the same in every attempt, so that the provider charges once. */
async function charge(providerUrl: string, payment: Payment, { idempotencyKey, signal }: StepContext): Promise<Charge> {
  const response = await fetch(`${providerUrl}/charges`, {
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
