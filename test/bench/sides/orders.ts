import { randomBytes } from 'node:crypto'
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda'
import type { Order } from './side.ts'

/** How a large result is filled: as JSON of orders is, or with text that hardly compresses. */
export type ResultText = 'json' | 'random'

/** What a handler returns where its size is not the subject. */
export const SMALL_RESULT = Object.freeze({ paymentId: 'pay_7Q2mXv9cKd', status: 'captured', cents: 12_950 })

const QUEUE_ARN = 'arn:aws:sqs:eu-central-1:111122223333:orders'

export function orderOf(id: string): Order {
  return {
    id,
    customer: 'customer-4711',
    currency: 'EUR',
    items: [
      { sku: 'chair-oak', quantity: 2, cents: 4_990 },
      { sku: 'lamp-brass', quantity: 1, cents: 2_970 },
    ],
  }
}

/** A batch of messages, one order in each. */
export function batchOf(ids: readonly string[]): SQSEvent {
  return { Records: ids.map(messageOf) }
}

/** The same batch as the queue delivers it a second time. */
export function redelivered({ Records }: SQSEvent): SQSEvent {
  return {
    Records: Records.map((record) => ({
      ...record,
      attributes: { ...record.attributes, ApproximateReceiveCount: '2' },
    })),
  }
}

function messageOf(messageId: string): SQSRecord {
  return {
    messageId,
    receiptHandle: `receipt-${messageId}`,
    body: JSON.stringify(orderOf(messageId)),
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1700000000000',
      SenderId: 'AIDAEXAMPLE',
      ApproximateFirstReceiveTimestamp: '1700000000001',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: QUEUE_ARN,
    awsRegion: 'eu-central-1',
  }
}

/** Lambda's context, as far as either side looks at it. */
export function invocationContext(): Context {
  return {
    awsRequestId: crypto.randomUUID(),
    functionName: 'orders',
    getRemainingTimeInMillis: () => 30_000,
  } as unknown as Context
}

/** A result of about so many bytes as JSON. */
export function resultOf(bytes: number, text: ResultText): unknown {
  if (text === 'random') return { text: randomText(bytes) }
  const orders: Order[] = []
  for (let size = 0; size < bytes; ) {
    const order = { ...orderOf(crypto.randomUUID()), customer: `customer-${randomText(8)}` }
    orders.push(order)
    size += JSON.stringify(order).length + 1
  }
  return { orders }
}

function randomText(length: number): string {
  return randomBytes(length).toString('base64url').slice(0, length)
}
