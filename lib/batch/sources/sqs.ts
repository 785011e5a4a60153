import type { SQSRecord } from 'aws-lambda'
import { InvalidEventError } from '../../base/errors.ts'
import { kindOf, refuseUnknown, show } from '../../base/guards.ts'
import type { KeyInput } from '../../record/identity.ts'
import { bare, type Content } from '../../sources/content.ts'
import { fieldsOf, isObject, nonEmpty } from '../../sources/fields.ts'
import { attributeText, KEY_ATTRIBUTE } from '../../sources/key-attribute.ts'
import { notFrom, recordsOf } from '../../sources/origin.ts'
import { envelopeOption, type UnwrapOptions } from '../../sources/unwrap.ts'
import { continued, redriveOf } from '../continuation.ts'
import { eachOnce } from './report.ts'
import type { Source } from './source.ts'

/**
 * Standard and FIFO queues. The default key is the message attribute `Idempotency-Key`, else what the envelope that is
 * taken off names the message by, else the messageId.
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function sqs<T = unknown>(options: UnwrapOptions<T> = {}): Source<SQSRecord, T> {
  refuseUnknown('sqs', options, ['unwrap'])
  const unwrap = envelopeOption(options)

  return Object.freeze({
    name: 'SQS',
    queue: { resend: redriveOf, isRedelivered, continued },

    records: (event: unknown): readonly SQSRecord[] =>
      recordsOf('SQS', event).map((record, index) => checked(event, record, `Records[${index}]`)),

    identifier: ({ messageId }: SQSRecord) => nonEmpty(messageId),

    /**
     * A group id alone does not make a FIFO message: on standard queues it only asks for fairness between tenants.
     * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
     */
    group({ eventSourceARN, attributes: { SequenceNumber, MessageGroupId } }: SQSRecord): string | undefined {
      const isFifo = eventSourceARN.endsWith('.fifo') || SequenceNumber !== undefined
      return isFifo ? (MessageGroupId ?? '') : undefined
    },

    open({ body }: SQSRecord) {
      const text = nonEmpty(body)
      if (text === undefined) return { kind: 'refused' as const, message: 'The record has no body.' }
      return unwrap === undefined ? bare(text) : unwrap.open(text)
    },

    // Without an envelope the type is what the user says of it.
    parse: (text: string) => (unwrap === undefined ? (JSON.parse(text) as T) : unwrap.parse(text)),

    key({ messageAttributes, messageId }: SQSRecord, { key }: Content, place: number | undefined): KeyInput {
      const given = attributeText(messageAttributes, KEY_ATTRIBUTE, (attribute) => fieldsOf(attribute).stringValue)
      if (place === undefined) return given ?? key?.() ?? messageId
      return key?.() ?? [given ?? messageId, place]
    },

    /** A message keeps its identity on its way into a dead-letter queue. */
    scope: ({ attributes, eventSourceARN }: SQSRecord) => attributes.DeadLetterQueueSourceArn ?? eventSourceARN,

    report: eachOnce,
  })
}

function isRedelivered({ attributes }: SQSRecord): boolean {
  return Number(attributes.ApproximateReceiveCount) > 1
}

function checked(event: unknown, record: unknown, path: string): SQSRecord {
  if (!isObject(record)) throw new InvalidEventError(`${path} is no record; got ${kindOf(record)}.`)
  const { eventSource, eventSourceARN, body, attributes, messageAttributes } = record
  if (eventSource !== 'aws:sqs') throw notFrom('SQS', event, `${path}.eventSource is ${show(eventSource)}`)
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
    attributes: fieldsOf(attributes),
    messageAttributes: fieldsOf(messageAttributes),
  } as unknown as SQSRecord
}
