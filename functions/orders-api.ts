import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { type Order, ordersApi } from './orders/place-order.ts'
import { requestPaymentOn } from './orders/request-payment.ts'
import { type Saved, whatIsSaved } from './orders/saved-order.ts'
import { environmentVariable } from './shared/environment.ts'
import { serviceIdempotency } from './shared/idempotency.ts'
import { PATIENCE } from './shared/patience.ts'

const ORDERS_TABLE = environmentVariable('ORDERS_TABLE')
const PAYMENTS_QUEUE_URL = environmentVariable('PAYMENTS_QUEUE_URL')

const documents = DynamoDBDocumentClient.from(new DynamoDBClient(PATIENCE))

async function saveOrder(order: Order): Promise<Saved> {
  try {
    await documents.send(
      new PutCommand({
        TableName: ORDERS_TABLE,
        Item: { ...order, status: 'pending', createdAt: new Date().toISOString() },
        ConditionExpression: 'attribute_not_exists(orderId)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    )
    return 'payment-due'
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException) || error.Item === undefined) throw error
    return whatIsSaved(unmarshall(error.Item), order, Date.now())
  }
}

async function notePaymentRequested(orderId: string): Promise<void> {
  await documents.send(
    new UpdateCommand({
      TableName: ORDERS_TABLE,
      Key: { orderId },
      UpdateExpression: 'SET paymentRequestedAt = :now',
      ConditionExpression: 'attribute_exists(orderId)',
      ExpressionAttributeValues: { ':now': new Date().toISOString() },
    }),
  )
}

export const handler = ordersApi({
  idempotency: serviceIdempotency('orders'),
  saveOrder,
  requestPayment: requestPaymentOn(new SQSClient(PATIENCE), PAYMENTS_QUEUE_URL),
  notePaymentRequested,
  // Lambda's own variable: the function that finishes an order whose client never came back is this one.
  functionName: environmentVariable('AWS_LAMBDA_FUNCTION_NAME'),
})
