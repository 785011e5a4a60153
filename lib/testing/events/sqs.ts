import { createHash, randomUUID } from 'node:crypto'
import type { SQSEvent, SQSRecord } from 'aws-lambda'
import { InvalidOptionError } from '../../base/errors.ts'
import { integerOption, refuseUnknown, show } from '../../base/guards.ts'
import { START_MS } from '../fake-clock.ts'
import { ACCOUNT, REGION } from './request.ts'

/** What a test says of a message; the rest is filled in as SQS does. */
export interface SqsMessage {
  /** Text is sent as it is, anything else as JSON. */
  readonly body: unknown
  /** @defaultValue a new one */
  readonly messageId?: string
  /** The message group. With one, the message comes from a FIFO queue. */
  readonly group?: string
  /** The message attribute `Idempotency-Key`. */
  readonly key?: string
  /** More message attributes, all of type String. */
  readonly attributes?: Readonly<Record<string, string>>
  /**
   * How often the message was received, with this delivery.
   * @defaultValue 1
   */
  readonly receiveCount?: number
  /** @defaultValue that of a queue named "queue", or "queue.fifo" when there is a group */
  readonly queueArn?: string
}

const MESSAGE_NAMES = ['body', 'messageId', 'group', 'key', 'attributes', 'receiveCount', 'queueArn']

/**
 * An event of an SQS queue, standard or FIFO, as Lambda's event source mapping sends it.
 *
 * @example
 * const event = sqsEvent({ body: { orderId: 'order-1' } }, { body: { orderId: 'order-2' } })
 *
 * @throws InvalidOptionError when a message is described wrongly
 */
export function sqsEvent(...messages: readonly SqsMessage[]): SQSEvent {
  return { Records: messages.map(sqsRecord) }
}

function sqsRecord(message: SqsMessage, index: number): SQSRecord {
  if (typeof message !== 'object' || message === null) {
    throw new InvalidOptionError(`sqsEvent takes messages such as { body: … }; got ${show(message)}.`)
  }
  refuseUnknown('a message of sqsEvent', message, MESSAGE_NAMES)
  const { group, key, attributes = {}, messageId = randomUUID() } = message
  const text = typeof message.body === 'string' ? message.body : (JSON.stringify(message.body) ?? '')
  const queue = group === undefined ? 'queue' : 'queue.fifo'
  const given = { ...attributes, ...(key !== undefined && { 'Idempotency-Key': key }) }
  return {
    messageId,
    receiptHandle: receipt(),
    body: text,
    attributes: {
      ApproximateReceiveCount: String(integerOption('receiveCount', message.receiveCount, 1, 1_000) ?? 1),
      SentTimestamp: String(START_MS),
      SenderId: 'AIDACKCEVSQ6C2EXAMPLE',
      ApproximateFirstReceiveTimestamp: String(START_MS + 1),
      ...(group !== undefined && {
        SequenceNumber: String(18_890_000_000_000_000_000n + BigInt(index)),
        MessageGroupId: group,
        MessageDeduplicationId: messageId,
      }),
    },
    messageAttributes: Object.fromEntries(
      Object.entries(given).map(([name, stringValue]) => [
        name,
        { stringValue, stringListValues: [], binaryListValues: [], dataType: 'String' as const },
      ]),
    ),
    md5OfBody: createHash('md5').update(text).digest('hex'),
    eventSource: 'aws:sqs',
    eventSourceARN: message.queueArn ?? `arn:aws:sqs:${REGION}:${ACCOUNT}:${queue}`,
    awsRegion: REGION,
  }
}

/** The same message as a later delivery brings it: the same id, another receipt, a higher count. */
export function receivedAgain(record: SQSRecord): SQSRecord {
  const count = Number(record.attributes.ApproximateReceiveCount) + 1
  return {
    ...record,
    receiptHandle: receipt(),
    attributes: { ...record.attributes, ApproximateReceiveCount: String(count) },
  }
}

function receipt(): string {
  return Buffer.from(`receipt-${randomUUID()}`).toString('base64')
}
