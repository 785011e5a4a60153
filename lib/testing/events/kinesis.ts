import type { KinesisStreamEvent, KinesisStreamRecord } from 'aws-lambda'
import { START_MS } from '../fake-clock.ts'
import { base64Of, checkDescribed } from './described.ts'
import { ACCOUNT, REGION } from './request.ts'

/** What a test says of a record of a Kinesis stream; the rest is filled in as Lambda does. */
export interface KinesisItem {
  /** Bytes and text are sent as they are, anything else as JSON. */
  readonly data: unknown
  /** @defaultValue 'partition-1' */
  readonly partitionKey?: string
  /** @defaultValue one after that of the record before */
  readonly sequenceNumber?: string
  /** @defaultValue 'shardId-000000000000' */
  readonly shard?: string
}

const FIRST_SEQUENCE = 49_600_000_000_000_000_000_000_000_000_000_000_000_000_000_000_000_000_000n

/**
 * An event of a Kinesis stream, as Lambda's event source mapping sends it.
 *
 * @example
 * const event = kinesisEvent({ data: { orderId: 'order-1' } })
 *
 * @throws InvalidOptionError when a record is described wrongly
 */
export function kinesisEvent(...items: readonly KinesisItem[]): KinesisStreamEvent {
  return { Records: items.map(record) }
}

function record(item: KinesisItem, index: number): KinesisStreamRecord {
  checkDescribed('kinesisEvent', item, ['data', 'partitionKey', 'sequenceNumber', 'shard'])
  const { data, partitionKey = 'partition-1', shard = 'shardId-000000000000' } = item
  const { sequenceNumber = String(FIRST_SEQUENCE + BigInt(index)) } = item
  return {
    kinesis: {
      kinesisSchemaVersion: '1.0',
      partitionKey,
      sequenceNumber,
      data: base64Of(data),
      approximateArrivalTimestamp: START_MS / 1000,
    },
    eventSource: 'aws:kinesis',
    eventVersion: '1.0',
    eventID: `${shard}:${sequenceNumber}`,
    eventName: 'aws:kinesis:record',
    invokeIdentityArn: `arn:aws:iam::${ACCOUNT}:role/consumer`,
    awsRegion: REGION,
    eventSourceARN: `arn:aws:kinesis:${REGION}:${ACCOUNT}:stream/stream`,
  }
}
