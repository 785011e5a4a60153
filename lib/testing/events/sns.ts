import { randomUUID } from 'node:crypto'
import type { SNSEvent, SNSMessage, SQSEvent } from 'aws-lambda'
import { START_MS } from '../fake-clock.ts'
import { checkDescribed, textOf } from './described.ts'
import { ACCOUNT, REGION } from './request.ts'
import { type SqsMessage, sqsEvent } from './sqs.ts'

/** What a test says of a message of a topic; the rest is filled in as SNS does. */
export interface SnsNotification {
  /** Text is sent as it is, anything else as JSON. */
  readonly message: unknown
  /** @defaultValue a new one */
  readonly messageId?: string
  readonly subject?: string
  /** The message attribute `Idempotency-Key`. */
  readonly key?: string
  /** More message attributes, all of type String. */
  readonly attributes?: Readonly<Record<string, string>>
  /** @defaultValue that of a topic named "topic" */
  readonly topicArn?: string
}

const NAMES = ['message', 'messageId', 'subject', 'key', 'attributes', 'topicArn']

/**
 * The event by which SNS invokes a function. It brings one message at a time.
 *
 * @example
 * const event = snsEvent({ message: { orderId: 'order-1' } })
 *
 * @throws InvalidOptionError when a message is described wrongly
 */
export function snsEvent(...notifications: readonly SnsNotification[]): SNSEvent {
  return {
    Records: notifications.map((notification) => {
      const { SigningCertURL, UnsubscribeURL, ...message } = envelope('snsEvent', notification)
      return {
        EventVersion: '1.0',
        EventSubscriptionArn: `${message.TopicArn}:${randomUUID()}`,
        EventSource: 'aws:sns',
        Sns: { ...message, SigningCertUrl: SigningCertURL, UnsubscribeUrl: UnsubscribeURL } as unknown as SNSMessage,
      }
    }),
  }
}

/**
 * An event of a queue that is subscribed to a topic, without raw delivery: each message's body is SNS's envelope.
 *
 * @param queue - what else is said of the messages of the queue
 * @throws InvalidOptionError when a message is described wrongly
 */
export function snsInSqsEvent(
  notifications: readonly SnsNotification[],
  queue: Omit<SqsMessage, 'body'> = {},
): SQSEvent {
  return sqsEvent(
    ...notifications.map((notification) => ({
      ...queue,
      body: JSON.stringify(envelope('snsInSqsEvent', notification)),
    })),
  )
}

/** As it lies in a queue. To a function two of its names are written otherwise. */
function envelope(of: string, notification: SnsNotification) {
  checkDescribed(of, notification, NAMES)
  const { message, messageId = randomUUID(), subject, key, attributes = {} } = notification
  const { topicArn = `arn:aws:sns:${REGION}:${ACCOUNT}:topic` } = notification
  const given = Object.entries({ ...attributes, ...(key !== undefined && { 'Idempotency-Key': key }) })
  return {
    Type: 'Notification',
    MessageId: messageId,
    TopicArn: topicArn,
    ...(subject !== undefined && { Subject: subject }),
    Message: textOf(message),
    Timestamp: new Date(START_MS).toISOString(),
    SignatureVersion: '1',
    Signature: Buffer.from('signature').toString('base64'),
    SigningCertURL: `https://sns.${REGION}.amazonaws.com/certificate.pem`,
    UnsubscribeURL: `https://sns.${REGION}.amazonaws.com/?Action=Unsubscribe`,
    ...(given.length > 0 && {
      MessageAttributes: Object.fromEntries(given.map(([name, Value]) => [name, { Type: 'String', Value }])),
    }),
  }
}
