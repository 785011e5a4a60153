import type { MSKEvent, MSKRecord } from 'aws-lambda'
import { START_MS } from '../fake-clock.ts'
import { base64Of, checkDescribed } from './described.ts'
import { ACCOUNT, REGION } from './request.ts'

/** What a test says of a record of a topic; the rest is filled in as Lambda does. */
export interface KafkaItem {
  /** Bytes and text are sent as they are, anything else as JSON. `null`: the record deletes its key. */
  readonly value: unknown
  /** The record's key. */
  readonly recordKey?: string
  readonly headers?: Readonly<Record<string, string>>
  /** @defaultValue 'topic' */
  readonly topic?: string
  /** @defaultValue 0 */
  readonly partition?: number
  /** @defaultValue one after that of the record before in its partition */
  readonly offset?: number
}

const NAMES = ['value', 'recordKey', 'headers', 'topic', 'partition', 'offset']

/**
 * An event of topics of a Kafka cluster of Amazon MSK, as Lambda's event source mapping sends it.
 *
 * @example
 * const event = kafkaEvent({ value: { orderId: 'order-1' } }, { value: { orderId: 'order-2' }, partition: 1 })
 *
 * @throws InvalidOptionError when a record is described wrongly
 */
export function kafkaEvent(...items: readonly KafkaItem[]): MSKEvent {
  const records: Record<string, MSKRecord[]> = {}
  for (const item of items) {
    checkDescribed('kafkaEvent', item, NAMES)
    const { value, recordKey, headers = {}, topic = 'topic', partition = 0 } = item
    const name = `${topic}-${partition}`
    const before = records[name] ?? []
    const offset = item.offset ?? (before.at(-1)?.offset ?? -1) + 1
    const made = {
      topic,
      partition,
      offset,
      timestamp: START_MS,
      timestampType: 'CREATE_TIME' as const,
      ...(recordKey !== undefined && { key: base64Of(recordKey) }),
      ...(value !== null && { value: base64Of(value) }),
      headers: Object.entries(headers).map(([name, text]) => ({ [name]: [...Buffer.from(text)] })),
    }
    // Of a record that deletes its key Lambda leaves the value out, which its type does not know.
    records[name] = [...before, made as MSKRecord]
  }
  return {
    eventSource: 'aws:kafka',
    eventSourceArn: `arn:aws:kafka:${REGION}:${ACCOUNT}:cluster/cluster/11111111-2222-3333-4444-555555555555-1`,
    bootstrapServers: 'b-1.cluster.example:9098,b-2.cluster.example:9098',
    records,
  }
}
