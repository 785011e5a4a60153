import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { type BatchContext, eachRecord, idempotentBatch } from '../../lib/batch/index.ts'
import {
  type Idempotency,
  isLambdaOnceError,
  NoEffectError,
  PermanentError,
  RetryLater,
  type StepContext,
} from '../../lib/index.ts'
import { type Payment, PaymentSchema } from '../shared/payment.ts'

/** Leaves the function, which has 5 seconds, time to record what became of the charge. */
const PROVIDER_TIMEOUT_MS = 3_000

/**
 * How long the provider remembers an idempotency key: a day, as Stripe does. A charge that was begun before that and
 * never heard of is not repeated; an operator has to look.
 */
const PROVIDER_KEY_VALID_SECONDS = 86_400

/** What says that this very charge is refused. No other answer does: one that may be our own mistake is not the order's. */
const REFUSED: readonly number[] = [400, 402, 422]

/** Our credentials or our URL are wrong, so that nothing can have been charged. */
const NOT_LET_IN: readonly number[] = [401, 403, 404]

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
        try {
          await step('charge', (context) => charge(providerUrl, payment, context), {
            keyValidSeconds: PROVIDER_KEY_VALID_SECONDS,
          })
        } catch (error) {
          // It has closed the step. An operation of several attempts could not be released, and would fail for good.
          throw isLambdaOnceError(error, 'NO_EFFECT') ? new RetryLater(error.message, { cause: error }) : error
        }
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
  if (REFUSED.includes(response.status)) throw new PermanentError(failure)
  throw NOT_LET_IN.includes(response.status) ? new NoEffectError(failure) : new Error(failure)
}
