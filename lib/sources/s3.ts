import type { S3EventRecord } from 'aws-lambda'
import { hashOfParts } from '../record/identity.ts'
import { type Content, type Envelope, type Opened, unlessTooDeep } from './content.ts'
import { type Fields, fieldsOf, isObject, jsonOf, nonEmpty } from './fields.ts'

/** The message by which S3 tries a new configuration: there is nothing to do in it. */
export function isS3TestEvent(value: unknown): boolean {
  const { Service, Event } = fieldsOf(value)
  return Service === 'Amazon S3' && Event === 's3:TestEvent'
}

/** A record of an S3 notification, or `undefined` when it names no object. */
export function s3RecordOf(value: unknown): Fields | undefined {
  const record = fieldsOf(value)
  const { bucket, object } = fieldsOf(record.s3)
  const isWhole = nonEmpty(fieldsOf(bucket).name) !== undefined && nonEmpty(fieldsOf(object).key) !== undefined
  return record.eventSource === 'aws:s3' && isWhole ? record : undefined
}

/**
 * One change of one object. The sequencer tells changes of one object apart and stays when S3 delivers a change twice;
 * changes that have none (of tags, of an ACL, a restore) are told apart by the request that made them. A hash, because
 * an object's name may be longer than a key. `undefined`: nothing tells it from another change.
 */
export function s3RecordKey({ eventName, s3, responseElements }: Fields): string | undefined {
  const { bucket, object } = fieldsOf(s3)
  const { key, versionId, sequencer } = fieldsOf(object)
  return objectChange({
    bucket: fieldsOf(bucket).name,
    key,
    versionId,
    what: eventName,
    order: sequencer ?? fieldsOf(responseElements)['x-amz-request-id'],
  })
}

/** The same for an event that S3 sends to EventBridge. */
export function s3BusEventKey(event: Fields): string | undefined {
  const detail = fieldsOf(event.detail)
  const { key, 'version-id': versionId, sequencer } = fieldsOf(detail.object)
  return objectChange({
    bucket: fieldsOf(detail.bucket).name,
    key,
    versionId,
    what: event['detail-type'],
    order: sequencer ?? detail['request-id'],
  })
}

function objectChange(change: {
  readonly bucket: unknown
  readonly key: unknown
  readonly versionId: unknown
  readonly what: unknown
  readonly order: unknown
}): string | undefined {
  const bucket = nonEmpty(change.bucket)
  const key = nonEmpty(change.key)
  const order = nonEmpty(change.order)
  if (bucket === undefined || key === undefined || order === undefined) return undefined
  const parts = [bucket, key, nonEmpty(change.versionId) ?? '', nonEmpty(change.what) ?? '', order]
  return parts.every((part) => part.isWellFormed()) ? hashOfParts(parts) : undefined
}

/** What counts of a change: what became of which object. */
export function s3RecordMeaning({ eventName, s3 }: Fields): unknown {
  const { bucket, object } = fieldsOf(s3)
  return [eventName, fieldsOf(bucket).name, object]
}

/**
 * Takes an S3 notification apart: each of its records is a content. A test event has none.
 */
export function s3Notification(): Envelope<S3EventRecord> {
  return Object.freeze({
    open(text: string): Opened {
      const value = jsonOf(text)
      if (isS3TestEvent(value)) return { kind: 'contents', contents: [] }
      const { Records } = fieldsOf(value)
      const found = Array.isArray(Records) ? Records.map(s3RecordOf) : []
      const records = found.filter((record) => record !== undefined)
      if (records.length === 0 || records.length < found.length) {
        return { kind: 'refused', message: 'The body is no notification of S3.' }
      }
      return unlessTooDeep(() => ({ kind: 'contents', contents: records.map(contentOf) }))
    },
    // S3's own form, which `open` has looked at.
    parse: (text: string) => JSON.parse(text) as S3EventRecord,
  })
}

function contentOf(record: Fields): Content {
  const key = s3RecordKey(record)
  return {
    text: JSON.stringify(record),
    fingerprint: { value: s3RecordMeaning(record) },
    ...(key !== undefined && { key: () => key }),
  }
}

/** Whether an event of EventBridge tells of a change of an object. */
export function isS3BusEvent(event: unknown): event is Fields {
  return isObject(event) && event.source === 'aws.s3' && isObject(event.detail)
}
