import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { InvalidEventError } from '../../base/errors.ts'
import { kindOf, oneOf, refuseUnknown, show } from '../../base/guards.ts'
import type { KeyInput } from '../../record/identity.ts'
import { type Opened, single, unlessTooDeep } from '../../sources/content.ts'
import { type Fields, fieldsOf, isObject, nonEmpty } from '../../sources/fields.ts'
import { notFrom } from '../../sources/origin.ts'
import { reportShards, sequenceNumberOf, streamRecordsOf } from './shard.ts'
import type { Source } from './source.ts'

/** A record of a table's stream, with what is always there. */
export type StreamRecord = DynamoDBRecord & { readonly eventSourceARN: string }

/**
 * What became of an item. `EXPIRE` is a removal by the table's TTL, which the stream shows as a `REMOVE`. Integers
 * beyond 2^53 are `bigint`; binary attributes are base64 texts, as Lambda delivers them.
 */
export interface ItemChange {
  readonly kind: 'INSERT' | 'MODIFY' | 'REMOVE' | 'EXPIRE'
  readonly keys: Readonly<Record<string, unknown>>
  /** Absent after a removal, and where the stream's view type leaves it out. */
  readonly newImage?: Readonly<Record<string, unknown>>
  /** Absent for an insert, and where the stream's view type leaves it out. */
  readonly oldImage?: Readonly<Record<string, unknown>>
}

/** Options of {@link dynamoStream}. */
export interface DynamoStreamOptions {
  /**
   * What becomes of removals by TTL: handled, as an `ItemChange` of kind `EXPIRE`, or passed over.
   * @defaultValue 'handle'
   */
  readonly ttlRemovals?: 'handle' | 'skip'
}

/**
 * Streams of DynamoDB tables. A body is the {@link ItemChange}; records run one after another, and after a failure the
 * shard is read again from there. The default key is the eventID.
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function dynamoStream(options: DynamoStreamOptions = {}): Source<StreamRecord, ItemChange> {
  refuseUnknown('dynamoStream', options, ['ttlRemovals'])
  const ttlRemovals = oneOf('ttlRemovals', options.ttlRemovals, ['handle', 'skip'])

  return Object.freeze({
    name: 'a DynamoDB stream',

    records: (event: unknown): readonly StreamRecord[] =>
      streamRecordsOf('a DynamoDB stream', event).map((record, index) => checked(event, record, `Records[${index}]`)),

    identifier: ({ dynamodb }: StreamRecord) => sequenceNumberOf(fieldsOf(dynamodb).SequenceNumber),

    // A record does not name its shard, and a batch has only records of one.
    group: ({ eventSourceARN }: StreamRecord) => eventSourceARN,

    open(record: StreamRecord): Opened {
      if (ttlRemovals === 'skip' && isTtlRemoval(record)) return { kind: 'contents', contents: [] }
      const { Keys, NewImage, OldImage } = fieldsOf(record.dynamodb)
      if (!isObject(Keys)) return { kind: 'refused', message: 'The record does not name its item.' }
      const change = [record.eventName, Keys, NewImage, OldImage]
      return unlessTooDeep(() => single({ text: JSON.stringify(change), fingerprint: { value: change } }))
    },

    parse: (_text: string, record: StreamRecord) => changeOf(record),

    key: ({ eventID }: StreamRecord): KeyInput => eventID,

    scope: ({ eventSourceARN }: StreamRecord) => eventSourceARN,

    report: reportShards,
  })
}

/**
 * Whether the table's TTL has removed the item, not a user.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html
 */
export function isTtlRemoval({ eventName, userIdentity }: Pick<DynamoDBRecord, 'eventName' | 'userIdentity'>): boolean {
  const { type, principalId } = fieldsOf(userIdentity)
  return eventName === 'REMOVE' && type === 'Service' && principalId === 'dynamodb.amazonaws.com'
}

/** @throws when an image is none, or the kind of the change is unknown: the record is poison. */
function changeOf(record: StreamRecord): ItemChange {
  const { eventName, dynamodb } = record
  if (eventName !== 'INSERT' && eventName !== 'MODIFY' && eventName !== 'REMOVE') {
    throw new InvalidEventError(`The kind of change is unknown; got ${show(eventName)}.`)
  }
  const { Keys, NewImage, OldImage } = fieldsOf(dynamodb)
  return {
    kind: isTtlRemoval(record) ? 'EXPIRE' : eventName,
    keys: plain(Keys),
    ...(isObject(NewImage) && { newImage: plain(NewImage) }),
    ...(isObject(OldImage) && { oldImage: plain(OldImage) }),
  }
}

function plain(image: unknown): Fields {
  return unmarshall(image as Parameters<typeof unmarshall>[0], { wrapNumbers: numberOf })
}

function numberOf(digits: string): number | bigint {
  const number = Number(digits)
  return Number.isInteger(number) && !Number.isSafeInteger(number) && /^-?\d+$/.test(digits) ? BigInt(digits) : number
}

function checked(event: unknown, record: unknown, path: string): StreamRecord {
  if (!isObject(record)) throw new InvalidEventError(`${path} is no record; got ${kindOf(record)}.`)
  const { eventSource, eventSourceARN } = record
  if (eventSource !== 'aws:dynamodb') {
    throw notFrom('a DynamoDB stream', event, `${path}.eventSource is ${show(eventSource)}`)
  }
  const stream = nonEmpty(eventSourceARN)
  if (stream !== undefined) return { ...record, eventSourceARN: stream }
  throw new InvalidEventError(`${path}.eventSourceARN must name the stream; got ${show(eventSourceARN)}.`)
}
