import type { Context, SQSEvent, SQSRecord } from 'aws-lambda'

export const QUEUE_ARN = 'arn:aws:sqs:eu-central-1:111122223333:payments'
export const FIFO_ARN = `${QUEUE_ARN}.fifo`

/** A message as SQS delivers it, with what matters to the test. The body is sent as JSON unless it is text. */
export function message(
  messageId: string,
  given: { body?: unknown; group?: string; key?: string; attributes?: object } & Partial<
    Omit<SQSRecord, 'body' | 'attributes'>
  > = {},
): SQSRecord {
  const { body = { id: messageId }, group, key, attributes, ...rest } = given
  return {
    messageId,
    receiptHandle: `receipt-${crypto.randomUUID()}`,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1700000000000',
      SenderId: 'AIDAEXAMPLE',
      ApproximateFirstReceiveTimestamp: '1700000000001',
      ...(group !== undefined && { MessageGroupId: group, SequenceNumber: '1', MessageDeduplicationId: messageId }),
      ...attributes,
    },
    messageAttributes: key === undefined ? {} : { 'Idempotency-Key': { stringValue: key, dataType: 'String' } },
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: group === undefined ? QUEUE_ARN : FIFO_ARN,
    awsRegion: 'eu-central-1',
    ...rest,
  }
}

export function event(...Records: SQSRecord[]): SQSEvent {
  return { Records }
}

/** The same messages, as a later delivery brings them: other receipts, a higher count. */
export function redelivered({ Records }: SQSEvent): SQSEvent {
  return {
    Records: Records.map((record) => ({
      ...record,
      receiptHandle: `receipt-${crypto.randomUUID()}`,
      attributes: { ...record.attributes, ApproximateReceiveCount: '2' },
    })),
  }
}

/** Lambda's context, as far as it is looked at. */
export function invocation(remainingMs: () => unknown = () => 30_000): Context {
  return { awsRequestId: crypto.randomUUID(), getRemainingTimeInMillis: remainingMs } as unknown as Context
}
