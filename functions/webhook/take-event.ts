import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import * as v from 'valibot'
import { type Idempotency, isLambdaOnceError, RetryLater } from '../../lib/index.ts'
import { ChargeSchema } from '../shared/charge.ts'
import { PAYMENTS_SCOPE } from '../shared/idempotency.ts'
import { isSigned } from './signature.ts'

const text = v.pipe(v.string(), v.nonEmpty(), v.maxLength(255))
const EventSchema = v.object({ id: text, orderId: text, charge: ChargeSchema })
const BodySchema = v.pipe(v.string(), v.parseJson(), EventSchema)

/** What {@link paymentWebhook} works with. */
export interface PaymentWebhookOptions {
  /** Of the provider's events. */
  readonly events: Idempotency
  /** Of the payments, one of which waits for the event. */
  readonly payments: Idempotency
  /** What the provider signs with. */
  readonly secret: string
}

type PaymentWebhook = (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2>

/**
 * The handler of `POST /webhooks/payments`, which the payment provider calls about its charges, more than once and in any
 * order. Each of its events wakes the payment that waits for it, once.
 */
export function paymentWebhook({ events, payments, secret }: PaymentWebhookOptions): PaymentWebhook {
  return async ({ headers, body = '', isBase64Encoded }, context) => {
    const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
    // Before anything is claimed: a stranger must not cost a write, nor take an event's place.
    if (!isSigned(secret, headers['payment-signature'], bytes, Date.now())) return { statusCode: 401 }
    const parsed = v.safeParse(BodySchema, bytes.toString())
    if (!parsed.success) return { statusCode: 400 }
    const { id, orderId, charge } = parsed.output
    try {
      await events.run({ key: id, input: parsed.output, context }, async () => {
        try {
          // Under the event's id: a crash right after it is followed by a repetition that changes nothing.
          const result = await payments.signal({ key: orderId, scope: PAYMENTS_SCOPE }, charge, { id })
          if (result !== 'not-found') return result
        } catch (cause) {
          throw new RetryLater('The event could not be handed on now.', { cause })
        }
        throw new RetryLater(`No payment of ${orderId} is known.`)
      })
      return { statusCode: 204 }
    } catch (error) {
      console.error(error)
      // Everything but a success makes the provider call again.
      return { statusCode: isLambdaOnceError(error, 'MISMATCH') ? 422 : 503 }
    }
  }
}
