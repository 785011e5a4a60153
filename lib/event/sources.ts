import type { Context, EventBridgeEvent, S3Event, SNSEvent } from 'aws-lambda'
import { InvalidEventError } from '../base/errors.ts'
import { refuseUnknown } from '../base/guards.ts'
import { requestIdOf } from '../base/invocation.ts'
import { hashOfParts, type KeyInput, normalizeKey, writtenKey } from '../record/identity.ts'
import { busEventKey, busEventMeaning, busEventOf } from '../sources/eventbridge.ts'
import { fieldsOf } from '../sources/fields.ts'
import { notFrom, recordsOf } from '../sources/origin.ts'
import { isS3TestEvent, s3RecordKey, s3RecordMeaning, s3RecordOf } from '../sources/s3.ts'
import { notificationContents, notificationOf } from '../sources/sns.ts'
import { envelopeOption, type UnwrapOptions } from '../sources/unwrap.ts'
import type { EventParts, EventSource } from './source.ts'

/**
 * Rules of EventBridge that invoke the function. The default key is `detail.metadata.idempotencyKey`, which an
 * outbox relay writes, else the event's id; the default scope is account and source.
 */
export function eventBridge<Detail = unknown, DetailType extends string = string>(): EventSource<
  EventBridgeEvent<DetailType, Detail>
> {
  return Object.freeze({
    name: 'EventBridge',
    isInvocation: false,
    read(event: unknown): EventParts<EventBridgeEvent<DetailType, Detail>> {
      const found = busEventOf(event)
      if (found === undefined) throw notFrom('EventBridge', event, 'it has no id, source, detail-type and detail')
      return {
        // Which detail a rule lets through is what the user says.
        event: event as EventBridgeEvent<DetailType, Detail>,
        key: () => busEventKey(found),
        scope: [found.account, found.source],
        fingerprint: { value: busEventMeaning(fieldsOf(event)) },
      }
    },
  })
}

/**
 * Topics of SNS that invoke the function. The default key is the message's attribute `Idempotency-Key`, else what the
 * envelope that is taken off names it by, else the id of the message; the default scope is the topic.
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function sns(options: UnwrapOptions<unknown> = {}): EventSource<SNSEvent> {
  refuseUnknown('sns', options, ['unwrap'])
  const unwrap = envelopeOption(options)

  return Object.freeze({
    name: 'SNS',
    isInvocation: false,
    read(event: unknown): EventParts<SNSEvent> | undefined {
      const notifications = recordsOf('SNS', event).map((record, index) => {
        const found = notificationOf(fieldsOf(record).Sns)
        if (found === undefined) throw notFrom('SNS', event, `Records[${index}] is no notification`)
        return found
      })
      const [first] = notifications
      if (first === undefined) throw notFrom('SNS', event, 'its list of Records is empty')
      const contents = notifications.flatMap((notification) => {
        const opened = notificationContents(notification, unwrap)
        if (opened.kind === 'contents') return opened.contents
        throw new InvalidEventError(opened.message.replace('The body', 'The message'))
      })
      const [content, ...others] = contents
      if (content === undefined) return undefined
      return {
        event: event as SNSEvent,
        key: () => keyOfAll(contents.map(({ key }) => key?.())),
        scope: first.TopicArn,
        fingerprint: others.length === 0 ? content.fingerprint : { value: contents.map(({ text }) => text) },
      }
    },
  })
}

/**
 * Notifications of S3 that invoke the function. The default key is the change of the object (bucket, key, version, kind
 * of change, sequencer); the default scope is the bucket.
 */
export function s3(): EventSource<S3Event> {
  return Object.freeze({
    name: 'S3',
    isInvocation: false,
    read(event: unknown): EventParts<S3Event> | undefined {
      if (isS3TestEvent(event)) return undefined
      const records = recordsOf('S3', event).map((record, index) => {
        const found = s3RecordOf(record)
        if (found === undefined) throw notFrom('S3', event, `Records[${index}] names no object`)
        return found
      })
      const [first] = records
      if (first === undefined) throw notFrom('S3', event, 'its list of Records is empty')
      return {
        event: event as S3Event,
        key: () => keyOfAll(records.map(s3RecordKey)),
        scope: String(fieldsOf(fieldsOf(first.s3).bucket).name),
        fingerprint: { value: records.map(s3RecordMeaning) },
      }
    },
  })
}

/**
 * Any event of a function that is invoked asynchronously (`InvocationType: 'Event'`, a destination, a schedule). The
 * default key is the invocation's request id: it protects from Lambda's own retries and from nothing else, so give a
 * `key` where the event has a business id.
 */
export function asyncInvoke<E = unknown>(): EventSource<E> {
  return Object.freeze({
    name: 'an asynchronous invocation',
    isInvocation: true,
    read(event: unknown, context: Context): EventParts<E> {
      return {
        // What it is invoked with is what the user says.
        event: event as E,
        key: () => requestIdOf(context),
        scope: 'asynchronous invocation',
        fingerprint: { value: event },
      }
    },
  })
}

/** One key for an event of several records, which come together again when the invocation is retried. */
function keyOfAll(keys: readonly KeyInput[]): KeyInput {
  if (keys.length === 1) return keys[0]
  const parts = keys.map(normalizeKey)
  return parts.every((part) => part !== undefined) ? hashOfParts(parts.map(writtenKey)) : undefined
}
