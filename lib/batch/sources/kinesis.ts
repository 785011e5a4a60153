import { isUtf8 } from 'node:buffer'
import type { KinesisStreamRecord } from 'aws-lambda'
import { InvalidEventError } from '../../base/errors.ts'
import { kindOf, refuseUnknown, show } from '../../base/guards.ts'
import type { KeyInput } from '../../record/identity.ts'
import { type Content, type Envelope, type Opened, single } from '../../sources/content.ts'
import { fieldsOf, isObject, nonEmpty } from '../../sources/fields.ts'
import { notFrom } from '../../sources/origin.ts'
import { envelopeOption, type UnwrapOptions } from '../../sources/unwrap.ts'
import { reportShards, sequenceNumberOf, streamRecordsOf } from './shard.ts'
import type { Source } from './source.ts'

/**
 * Kinesis data streams. A body is the record's data, decoded; records of one shard run one after another, and after a
 * failure the shard is read again from there. The default key is the eventID (shard and sequence number).
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function kinesis<T = unknown>(options: UnwrapOptions<T> = {}): Source<KinesisStreamRecord, T> {
  refuseUnknown('kinesis', options, ['unwrap'])
  const unwrap = envelopeOption(options)

  return Object.freeze({
    name: 'Kinesis',

    records: (event: unknown): readonly KinesisStreamRecord[] =>
      streamRecordsOf('Kinesis', event).map((record, index) => checked(event, record, `Records[${index}]`)),

    identifier: ({ kinesis: { sequenceNumber } }: KinesisStreamRecord) => sequenceNumberOf(sequenceNumber),

    /** An eventID is shard and sequence number, with a colon between them. */
    group: ({ eventID, eventSourceARN }: KinesisStreamRecord) =>
      `${eventSourceARN} ${nonEmpty(eventID)?.split(':')[0] ?? ''}`,

    open: ({ kinesis: { data } }: KinesisStreamRecord) => opened(data, unwrap),

    parse(text: string, { kinesis: { data } }: KinesisStreamRecord): T {
      const bytes = Buffer.from(data, 'base64')
      if (!isUtf8(bytes)) throw new InvalidEventError(bytes.indexOf(AGGREGATED) === 0 ? NO_RECORD_OF_ITS_OWN : NO_TEXT)
      return unwrap === undefined ? (JSON.parse(text) as T) : unwrap.parse(text)
    },

    key: ({ eventID }: KinesisStreamRecord, { key }: Content, place: number | undefined): KeyInput =>
      key?.() ?? (place === undefined ? eventID : [eventID, place]),

    scope: ({ eventSourceARN }: KinesisStreamRecord) => eventSourceARN,

    report: reportShards,
  })
}

/**
 * How a record begins that the Kinesis Producer Library has put together out of several.
 * https://github.com/awslabs/amazon-kinesis-producer/blob/master/aggregation-format.md
 */
const AGGREGATED = Buffer.from('f3899ac2', 'hex')

const NO_TEXT = 'The data is no text: read record.kinesis.data in the option parse.'
const NO_RECORD_OF_ITS_OWN =
  'The data is an aggregate of the Kinesis Producer Library: take it apart in the option parse, or set AggregationEnabled to false at the producer. All of it is one operation.'

/** Bytes that are no text are left to the user's own `parse`, which finds them in the record. */
function opened(data: unknown, unwrap: Envelope | undefined): Opened {
  if (typeof data !== 'string' || data === '') return { kind: 'refused', message: 'The record has no data.' }
  const text = Buffer.from(data, 'base64').toString('utf8')
  if (unwrap === undefined) return single({ text, fingerprint: { text: data } })
  return unwrap.open(text)
}

function checked(event: unknown, record: unknown, path: string): KinesisStreamRecord {
  if (!isObject(record)) throw new InvalidEventError(`${path} is no record; got ${kindOf(record)}.`)
  const { eventSource, eventSourceARN, kinesis } = record
  if (eventSource !== 'aws:kinesis') throw notFrom('Kinesis', event, `${path}.eventSource is ${show(eventSource)}`)
  if (nonEmpty(eventSourceARN) === undefined) {
    throw new InvalidEventError(`${path}.eventSourceARN must name the stream; got ${show(eventSourceARN)}.`)
  }
  const { data } = fieldsOf(kinesis)
  if (typeof data === 'object' && data !== null) {
    throw new InvalidEventError(
      `${path}.kinesis.data is ${show(data)}: another middleware has parsed it already. Register idempotentBatch before it, or parse with the option parse.`,
    )
  }
  return { ...record, kinesis: { ...fieldsOf(kinesis) } } as unknown as KinesisStreamRecord
}
