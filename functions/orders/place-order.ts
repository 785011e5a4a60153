import { createHash } from 'node:crypto'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import * as v from 'valibot'
import { idempotentHttp, type OperationContext } from '../../lib/http/index.ts'
import { type Idempotency, type Operation, RetryLater } from '../../lib/index.ts'
import { CurrencySchema, type Payment } from '../shared/payment.ts'
import type { Saved } from './saved-order.ts'

// The upper bounds keep every total a whole number that JavaScript can count to.
const wholeNumber = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most))
const text = v.pipe(v.string(), v.nonEmpty(), v.maxLength(100))

const OrderSchema = v.strictObject({
  customerId: text,
  items: v.pipe(
    v.array(v.strictObject({ sku: text, quantity: wholeNumber(10_000), unitPriceCents: wholeNumber(100_000_000) })),
    v.minLength(1),
    v.maxLength(100),
  ),
  currency: CurrencySchema,
})
const BodySchema = v.pipe(v.string(), v.parseJson(), OrderSchema)

/** An order as it is kept, but for what changes later. */
export type Order = v.InferOutput<typeof OrderSchema> & { readonly orderId: string; readonly totalCents: number }

/** What placing an order does to the world; all of it must be safe to repeat for the same order. */
export interface OrderEffects {
  /** Writes the order, unless an earlier attempt has. */
  readonly saveOrder: (order: Order) => Promise<Saved>
  readonly requestPayment: (payment: Payment) => Promise<void>
  /** Writes down, for longer than any key is remembered, that the payment was asked for. */
  readonly notePaymentRequested: (orderId: string) => Promise<void>
}

/** What {@link ordersApi} works with. */
export interface OrdersApiOptions extends OrderEffects {
  readonly idempotency: Idempotency
  /** The API's own function: the reconciler invokes it with an order whose client never came back. */
  readonly functionName: string
}

type OrdersApi = middy.MiddyfiedHandler<
  APIGatewayProxyEventV2WithJWTAuthorizer,
  APIGatewayProxyStructuredResultV2,
  Error,
  Context & OperationContext
>

/** The handler of `POST /orders`: takes an order once per idempotency key and has it paid. */
export function ordersApi({ idempotency, functionName, ...effects }: OrdersApiOptions): OrdersApi {
  return middy<APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyStructuredResultV2>()
    .use(idempotentHttp({ idempotency, redrive: { functionName } }))
    .handler((event, { operation }) => placeOrder(event, operation, effects))
}

async function placeOrder(
  event: APIGatewayProxyEventV2WithJWTAuthorizer,
  operation: Operation,
  { saveOrder, requestPayment, notePaymentRequested }: OrderEffects,
): Promise<APIGatewayProxyStructuredResultV2> {
  const parsed = v.safeParse(BodySchema, event.isBase64Encoded ? fromBase64(event.body) : event.body)
  if (!parsed.success) {
    // Nothing has happened, so the corrected request may come under the same key.
    operation.release()
    return badRequest(parsed.issues)
  }
  const { customerId, currency, items } = parsed.output
  const totalCents = items.reduce((sum, { quantity, unitPriceCents }) => sum + quantity * unitPriceCents, 0)
  const orderId = orderIdOf(operation)
  try {
    const saved = await saveOrder({ orderId, totalCents, ...parsed.output })
    if (saved === 'other-order') return keyUsedBefore()
    if (saved === 'payment-unknown') {
      console.error(`It is not known whether the payment of ${orderId} was asked for. Look it up and note it.`)
      // Nothing was done now: once somebody has looked, the same request gets another answer.
      operation.release()
      return paymentUnknown()
    }
    if (saved === 'payment-due') {
      await requestPayment({ orderId, customerId, amountCents: totalCents, currency })
      await notePaymentRequested(orderId)
    }
  } catch (error) {
    // All effects are safe to repeat under this operation: the row is the same one, and the worker charges an order
    // once however often it is told. So whatever went wrong, the next try may simply do it all again.
    console.error(error)
    throw new RetryLater('The order could not be placed now.', { cause: error })
  }
  return {
    statusCode: 201,
    headers: { 'Content-Type': 'application/json', Location: `/orders/${orderId}` },
    body: JSON.stringify({ orderId, totalCents, currency, status: 'pending' }),
  }
}

/** The same for every attempt of the operation, so that a re-run writes the same row. */
function orderIdOf({ id }: Operation): string {
  return `ord_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
}

function badRequest(issues: readonly v.InferIssue<typeof BodySchema>[]): APIGatewayProxyStructuredResultV2 {
  const errors = issues.map((issue) => ({ path: v.getDotPath(issue) ?? '', detail: issue.message }))
  return problem(400, 'The request body is not a valid order.', { errors })
}

function keyUsedBefore(): APIGatewayProxyStructuredResultV2 {
  return problem(422, 'The idempotency key was used before for another order.')
}

function paymentUnknown(): APIGatewayProxyStructuredResultV2 {
  return problem(409, 'The order was placed before, and it is not known whether its payment was asked for.')
}

/** A problem document, RFC 9457. */
function problem(status: number, detail: string, more: object = {}): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode: status,
    headers: { 'Content-Type': 'application/problem+json' },
    body: JSON.stringify({ type: 'about:blank', status, detail, ...more }),
  }
}

function fromBase64(body: string | undefined): string | undefined {
  return body && Buffer.from(body, 'base64').toString()
}
