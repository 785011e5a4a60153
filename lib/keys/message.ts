import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import { type Fields, fieldsOf, nonEmpty } from '../sources/fields.ts'
import { attributeText } from '../sources/key-attribute.ts'
import type { KeySelector } from './selector.ts'

/** A message of a queue. */
export interface QueueMessage {
  readonly messageId: string
  readonly messageAttributes: object
  readonly attributes: { readonly MessageDeduplicationId?: string | undefined }
}

/** The event by which SNS invokes a function; it has one record. */
export interface TopicEvent {
  readonly Records: readonly { readonly Sns: { readonly MessageId: string; readonly MessageAttributes: object } }[]
}

/**
 * A String attribute of a message, of SQS or SNS. Its name's case does not matter.
 *
 * @throws InvalidOptionError when the name is none; the selector throws InvalidKeyError when the attribute is of
 * another type
 */
export function messageAttribute(name: string): KeySelector<Pick<QueueMessage, 'messageAttributes'> | TopicEvent> {
  if (nonEmpty(name) === undefined) {
    throw new InvalidOptionError(`messageAttribute(name) takes an attribute's name; got ${show(name)}.`)
  }
  return (message) => {
    const { Records, messageAttributes } = fieldsOf(message)
    const attributes = Records === undefined ? messageAttributes : notification(Records).MessageAttributes
    return attributeText(fieldsOf(attributes), name, (attribute) => {
      const { stringValue, Type, Value } = fieldsOf(attribute)
      return Type === 'String' ? Value : stringValue
    })
  }
}

/**
 * The id that SQS or SNS has given to the message. It survives redeliveries and the way into a dead-letter queue; a
 * redrive out of it, and a producer that sends twice, make a new one.
 */
export function messageId(): KeySelector<Pick<QueueMessage, 'messageId'> | TopicEvent> {
  return (message) => {
    const { Records, messageId: id } = fieldsOf(message)
    return nonEmpty(Records === undefined ? id : notification(Records).MessageId)
  }
}

/**
 * The deduplication id of a FIFO message. Only for producers that give one of their own: that of a queue with
 * content-based deduplication is a hash of the body, by which two messages that are meant to be equal would be one, for
 * as long as the record is kept. A move into a FIFO dead-letter queue replaces it.
 */
export function dedupId(): KeySelector<Pick<QueueMessage, 'attributes'>> {
  return (message) => nonEmpty(fieldsOf(fieldsOf(message).attributes).MessageDeduplicationId)
}

function notification(Records: unknown): Fields {
  const [record] = Array.isArray(Records) ? Records : []
  return fieldsOf(fieldsOf(record).Sns)
}
