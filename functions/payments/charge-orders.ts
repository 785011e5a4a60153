import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { type BatchContext, eachRecord, idempotentBatch } from '../../lib/batch/index.ts'
import {
  type Idempotency,
  isLambdaOnceError,
  type Operation,
  PermanentError,
  RetryLater,
  type Suspension,
} from '../../lib/index.ts'
import { type Charge, ChargeSchema } from '../shared/charge.ts'
import { PAYMENTS_SCOPE } from '../shared/idempotency.ts'
import { type Payment, PaymentSchema } from '../shared/payment.ts'
import { type Books, book } from './book.ts'
import { type Provider, ProviderBusyError } from './provider.ts'

/**
 * How long the provider remembers an idempotency key: a day, as Stripe does. A charge that was begun before that and
 * that it does not know is not repeated; an operator has to look.
 */
const PROVIDER_KEY_VALID_SECONDS = 86_400

/** What {@link paymentsWorker} works with. */
export interface PaymentsWorkerOptions {
  readonly idempotency: Idempotency
  readonly provider: Provider
  readonly books: Books
  /** The worker's own queue, where an order that waited is continued. */
  readonly queueUrl: string
}

type PaymentsWorker = middy.MiddyfiedHandler<SQSEvent, SQSBatchResponse, Error, BatchContext<Payment>>

/** The handler of the payments queue: charges each order once, and books it once. */
export function paymentsWorker({ idempotency, provider, books, queueUrl }: PaymentsWorkerOptions): PaymentsWorker {
  return middy<SQSEvent, SQSBatchResponse>()
    .use(
      idempotentBatch({
        idempotency,
        schema: PaymentSchema,
        // Not the message's id: a second message for an order, or one out of the dead-letter queue, has another one.
        key: ({ body }) => body.orderId,
        scope: PAYMENTS_SCOPE,
        redrive: { queueUrl },
      }),
    )
    .handler(eachRecord<Payment>(({ body }, operation) => pay(body, operation, provider, books)))
}

/** Charges the order, waits for the provider's last word if need be, and books it. Every delivery begins here. */
async function pay(
  payment: Payment,
  operation: Operation,
  provider: Provider,
  books: Books,
): Promise<string | Suspension> {
  try {
    const charge = await operation.step('charge', (step) => provider.charge(payment, step), {
      keyValidSeconds: PROVIDER_KEY_VALID_SECONDS,
      probe: (step) => provider.find(payment, step),
      receipt: ({ chargeId }) => ({ chargeId }),
    })
    const { chargeId, status } = newest(charge, (await operation.signals()).map(toCharge))
    if (status === 'pending') return operation.wait("the provider's confirmation")
    if (status === 'failed') throw new PermanentError(`The charge ${chargeId} has failed.`)
    return await book(operation, payment, chargeId, books)
  } catch (error) {
    // An outage of the provider spends none of the message's receives.
    if (error instanceof ProviderBusyError) return operation.delay({ seconds: error.seconds }, error.message)
    // It has closed the step. An operation of several attempts could not be released, and would fail for good.
    if (isLambdaOnceError(error, 'NO_EFFECT')) throw new RetryLater(error.message, { cause: error })
    throw error
  }
}

function toCharge(signal: unknown): Charge {
  return v.parse(ChargeSchema, signal)
}

/** The provider's last word: what it says may come twice, and in any order. */
function newest(answered: Charge, calledBack: readonly Charge[]): Charge {
  return calledBack.reduce((latest, one) => (one.version > latest.version ? one : latest), answered)
}
