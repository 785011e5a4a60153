import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import * as v from 'valibot'
import { idempotentHttp, type OperationContext } from '../lib/http/index.ts'
import { type Operation, RetryLater } from '../lib/index.ts'
import { environmentVariable } from './shared/environment.ts'
import { serviceIdempotency } from './shared/idempotency.ts'
import { CurrencySchema, type Payment } from './shared/payment.ts'

const ORDERS_TABLE = environmentVariable('ORDERS_TABLE')
const PAYMENTS_QUEUE_URL = environmentVariable('PAYMENTS_QUEUE_URL')

/** By default a client waits for an answer without end; this leaves the function, which has 10 seconds, time to say so. */
const PATIENCE = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
}
const documents = DynamoDBDocumentClient.from(new DynamoDBClient(PATIENCE))
const sqs = new SQSClient(PATIENCE)

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

type Order = v.InferOutput<typeof OrderSchema> & { readonly orderId: string; readonly totalCents: number }

async function placeOrder(
  event: APIGatewayProxyEventV2WithJWTAuthorizer,
  { operation }: OperationContext,
): Promise<APIGatewayProxyStructuredResultV2> {
  const parsed = v.safeParse(BodySchema, event.isBase64Encoded ? fromBase64(event.body) : event.body)
  if (!parsed.success) {
    // Nothing has happened, so the corrected request may come under the same key.
    operation.release()
    return badRequest(parsed.issues)
  }
  const { currency, items } = parsed.output
  const totalCents = items.reduce((sum, { quantity, unitPriceCents }) => sum + quantity * unitPriceCents, 0)
  const orderId = orderIdOf(operation)
  try {
    if (!(await saveOrder({ orderId, totalCents, ...parsed.output }))) return keyUsedBefore()
    await requestPayment({ orderId, amountCents: totalCents, currency })
  } catch (error) {
    // Both effects are safe to repeat under this operation: the row is the same one, and the worker charges an order
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

/** Writes the order, unless an earlier attempt has. `false`: there is another order under this id. */
async function saveOrder(order: Order): Promise<boolean> {
  try {
    await documents.send(
      new PutCommand({
        TableName: ORDERS_TABLE,
        Item: { ...order, status: 'pending', createdAt: new Date().toISOString() },
        ConditionExpression: 'attribute_not_exists(orderId)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    )
    return true
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException) || error.Item === undefined) throw error
    // The row outlives the idempotency record, so a key that comes again after its retention meets it, too.
    const { status: _status, createdAt: _createdAt, ...existing } = unmarshall(error.Item)
    return isDeepStrictEqual(existing, order)
  }
}

async function requestPayment(payment: Payment): Promise<void> {
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: PAYMENTS_QUEUE_URL,
      MessageBody: JSON.stringify(payment),
      MessageAttributes: { 'Idempotency-Key': { DataType: 'String', StringValue: payment.orderId } },
    }),
  )
}

function badRequest(issues: readonly v.InferIssue<typeof BodySchema>[]): APIGatewayProxyStructuredResultV2 {
  const errors = issues.map((issue) => ({ path: v.getDotPath(issue) ?? '', detail: issue.message }))
  return problem(400, 'The request body is not a valid order.', { errors })
}

function keyUsedBefore(): APIGatewayProxyStructuredResultV2 {
  return problem(422, 'The idempotency key was used before for another order.')
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

export const handler = middy<APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyStructuredResultV2>()
  .use(idempotentHttp({ idempotency: serviceIdempotency('orders') }))
  .handler(placeOrder)
