import { isUtf8 } from 'node:buffer'
import type { KinesisStreamRecord } from 'aws-lambda'
import { InvalidEventError } from '../../base/errors.ts'
import { refuseUnknown, show } from '../../base/guards.ts'
import type { KeyInput } from '../../record/identity.ts'
import { type Content, type Envelope, type Opened, single } from '../../sources/content.ts'
import { fieldsOf, isObject, nonEmpty } from '../../sources/fields.ts'
import { notFrom } from '../../sources/origin.ts'
import { reportShards, sequenceNumberOf, streamRecordsOf } from './shard.ts'
import type { Source } from './source.ts'
import { envelopeOption, type UnwrapOptions } from './unwrap.ts'

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
      if (!isUtf8(Buffer.from(data, 'base64'))) throw new InvalidEventError('The data is no text; parse it.')
      return unwrap === undefined ? (JSON.parse(text) as T) : unwrap.parse(text)
    },

    key: ({ eventID }: KinesisStreamRecord, { key }: Content, place: number | undefined): KeyInput =>
      key?.() ?? (place === undefined ? eventID : [eventID, place]),

    scope: ({ eventSourceARN }: KinesisStreamRecord) => eventSourceARN,

    report: reportShards,
  })
}

/** Bytes that are no text are left to the user's own `parse`, which finds them in the record. */
function opened(data: unknown, unwrap: Envelope | undefined): Opened {
  if (typeof data !== 'string' || data === '') return { kind: 'refused', message: 'The record has no data.' }
  const text = Buffer.from(data, 'base64').toString('utf8')
  if (unwrap === undefined) return single({ text, fingerprint: { text: data } })
  return unwrap.open(text)
}

function checked(event: unknown, record: unknown, path: string): KinesisStreamRecord {
  if (!isObject(record)) throw new InvalidEventError(`${path} is no record; got ${show(record)}.`)
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
