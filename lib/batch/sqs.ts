import type { SQSRecord } from 'aws-lambda'
import { InvalidEventError, InvalidKeyError } from '../core/errors.ts'
import { show } from '../core/guards.ts'
import type { KeyInput } from '../core/identity.ts'
import type { Source } from './source.ts'

/** Name of the message attribute that carries the key. */
export const KEY_ATTRIBUTE = 'Idempotency-Key'

/** Standard and FIFO queues. */
export const sqs: Source<SQSRecord> = Object.freeze({
  records(event: unknown): readonly SQSRecord[] {
    const records: unknown = isObject(event) ? event.Records : undefined
    if (!Array.isArray(records)) {
      throw new InvalidEventError(`The event has no list of Records (got ${show(records)}): it does not come from SQS.`)
    }
    return records.map((record: unknown, index) => checked(record, `Records[${index}]`))
  },

  identifier: ({ messageId }: SQSRecord) => nonEmpty(messageId),

  /**
   * A group id alone does not make a FIFO message: on standard queues it only asks for fairness between tenants.
   * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
   */
  group({ eventSourceARN, attributes: { SequenceNumber, MessageGroupId } }: SQSRecord): string | undefined {
    const isFifo = eventSourceARN.endsWith('.fifo') || SequenceNumber !== undefined
    return isFifo ? (MessageGroupId ?? '') : undefined
  },

  body: ({ body }: SQSRecord) => nonEmpty(body),

  key(record: SQSRecord): KeyInput {
    const named = Object.entries(record.messageAttributes).filter(
      ([name]) => name.toLowerCase() === KEY_ATTRIBUTE.toLowerCase(),
    )
    if (named.length === 0) return record.messageId
    const values = new Set(named.map(([, attribute]) => attribute?.stringValue))
    const [value] = values
    if (values.size === 1 && typeof value === 'string') return value
    throw new InvalidKeyError(`The message attribute ${KEY_ATTRIBUTE} must be one value of type String.`)
  },

  /** A message keeps its identity on its way into a dead-letter queue. */
  scope: ({ attributes, eventSourceARN }: SQSRecord) => attributes.DeadLetterQueueSourceArn ?? eventSourceARN,
})

function checked(record: unknown, path: string): SQSRecord {
  if (!isObject(record)) throw new InvalidEventError(`${path} is no record; got ${show(record)}.`)
  const { eventSource, eventSourceARN, body, attributes, messageAttributes } = record
  if (eventSource !== 'aws:sqs') {
    throw new InvalidEventError(`${path}.eventSource must be "aws:sqs"; got ${show(eventSource)}.`)
  }
  if (typeof eventSourceARN !== 'string' || eventSourceARN === '') {
    throw new InvalidEventError(`${path}.eventSourceARN must name the queue; got ${show(eventSourceARN)}.`)
  }
  if (typeof body === 'object' && body !== null) {
    throw new InvalidEventError(
      `${path}.body is ${show(body)}: another middleware has parsed it already. Register idempotentBatch before it, or parse with the option parse.`,
    )
  }
  return {
    ...record,
    attributes: isObject(attributes) ? attributes : {},
    messageAttributes: isObject(messageAttributes) ? messageAttributes : {},
  } as unknown as SQSRecord
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
