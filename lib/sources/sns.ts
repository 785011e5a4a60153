import type { KeyInput } from '../record/identity.ts'
import { bare, type Content, type Envelope, type Opened } from './content.ts'
import { type Fields, fieldsOf, isObject, jsonOf, nonEmpty } from './fields.ts'
import { attributeText, KEY_ATTRIBUTE } from './key-attribute.ts'

/** A message that SNS delivers, as far as it is looked at. */
interface Notification {
  readonly MessageId: string
  readonly TopicArn: string
  readonly Message: string
  readonly MessageAttributes: Fields
}

/**
 * The value as a message of SNS. A text of the user's own may have a `Type: "Notification"`, so all that SNS always
 * sends has to be there.
 */
export function notificationOf(value: unknown): Notification | undefined {
  const { Type, MessageId, TopicArn, Message, MessageAttributes } = fieldsOf(value)
  if (Type !== 'Notification' || typeof Message !== 'string') return undefined
  const id = nonEmpty(MessageId)
  const topic = nonEmpty(TopicArn)
  if (id === undefined || topic === undefined) return undefined
  return { MessageId: id, TopicArn: topic, Message, MessageAttributes: fieldsOf(MessageAttributes) }
}

/**
 * The key that a publisher has given, else the id that SNS gives to each publish, which its own retries keep.
 * @throws InvalidKeyError when the publisher's attribute cannot be a key
 */
export function notificationKey({ MessageAttributes, MessageId }: Notification): string {
  const given = attributeText(MessageAttributes, KEY_ATTRIBUTE, (attribute) => {
    const { Type, Value } = fieldsOf(attribute)
    return Type === 'String' ? Value : undefined
  })
  return given ?? MessageId
}

/** What the message carries, with the message's key where its own envelope names none. */
export function notificationContents(notification: Notification, inner: Envelope | undefined): Opened {
  const opened = inner === undefined ? bare(notification.Message) : inner.open(notification.Message)
  if (opened.kind === 'refused') return opened
  const [first, ...others] = opened.contents
  // Several contents cannot share one key.
  if (first === undefined || others.length > 0 || first.key !== undefined) return opened
  const key = (): KeyInput => notificationKey(notification)
  return { kind: 'contents', contents: [{ ...first, key } satisfies Content] }
}

/**
 * Takes off the envelope that SNS puts around a message for a queue. With raw message delivery there is none, and the
 * text is the message itself: both are read, so that the subscription may change.
 *
 * @param inner - what is in the message, such as `s3Notification()`
 */
export function snsNotification<T = unknown>(inner?: Envelope<T>): Envelope<T> {
  return Object.freeze({
    open(text: string): Opened {
      const value = jsonOf(text)
      const notification = isObject(value) ? notificationOf(value) : undefined
      if (notification !== undefined) return notificationContents(notification, inner)
      return inner === undefined ? bare(text) : inner.open(text)
    },
    // Without an inner envelope the type is what the user says of it.
    parse: (text: string) => (inner === undefined ? (JSON.parse(text) as T) : inner.parse(text)),
  })
}
