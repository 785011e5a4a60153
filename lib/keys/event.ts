import { hashOfParts } from '../record/identity.ts'
import { fieldsOf, nonEmpty } from '../sources/fields.ts'
import { isS3BusEvent, s3BusEventKey, s3RecordKey, s3RecordOf } from '../sources/s3.ts'
import type { KeySelector } from './selector.ts'

/** What carries an id of its event: an event of EventBridge, or a record of a stream. */
export type WithEventId =
  | { readonly id: string; readonly 'detail-type': string }
  | { readonly eventID?: string | undefined }

/**
 * The id of an EventBridge event, or the eventID of a record of Kinesis or a DynamoDB stream. It survives retries; an
 * EventBridge replay, and a producer that calls PutEvents again, make a new one.
 */
export function eventId(): KeySelector<WithEventId> {
  return (event) => {
    const { 'detail-type': detailType, id, eventID } = fieldsOf(event)
    return nonEmpty(detailType === undefined ? eventID : id)
  }
}

/** What tells of a change of an object: a record of an S3 notification, its event, or S3's event on EventBridge. */
export type S3Change =
  | { readonly s3: object }
  | { readonly Records: readonly { readonly s3: object }[] }
  | { readonly source: string; readonly detail: object }

/**
 * One change of one object: bucket, key, version, kind of change and sequencer, as one hash, since an object's key may
 * be longer than an idempotency key. The same object written again is another change.
 */
export function s3Object(): KeySelector<S3Change> {
  return (change) => {
    if (isS3BusEvent(change)) return s3BusEventKey(change)
    const { Records } = fieldsOf(change)
    const records: readonly unknown[] = Array.isArray(Records) ? Records : [change]
    const [record] = records
    const found = records.length === 1 ? s3RecordOf(record) : undefined
    return found === undefined ? undefined : s3RecordKey(found)
  }
}

/** A record of Kinesis or of a DynamoDB stream. */
export type WithSequenceNumber =
  | { readonly eventSourceARN: string; readonly kinesis: { readonly sequenceNumber: string } }
  | {
      readonly eventSourceARN?: string | undefined
      readonly dynamodb?: { readonly SequenceNumber?: string | undefined } | undefined
    }

/** The record's place in its stream: stream and sequence number, as one hash. */
export function streamRecord(): KeySelector<WithSequenceNumber> {
  return (record) => {
    const { eventSourceARN, kinesis, dynamodb } = fieldsOf(record)
    const stream = nonEmpty(eventSourceARN)
    const number = nonEmpty(fieldsOf(kinesis).sequenceNumber ?? fieldsOf(dynamodb).SequenceNumber)
    return stream === undefined || number === undefined ? undefined : hashOfParts([stream, number])
  }
}
