import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { Payment } from '../shared/payment.ts'

/** Asks for payments on a queue: one message for each order. */
export function requestPaymentOn(sqs: SQSClient, queueUrl: string): (payment: Payment) => Promise<void> {
  return async (payment) => {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(payment),
        MessageAttributes: { 'Idempotency-Key': { DataType: 'String', StringValue: payment.orderId } },
      }),
    )
  }
}
