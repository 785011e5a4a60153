import { isUtf8 } from 'node:buffer'
import type { MSKRecord } from 'aws-lambda'
import { InvalidEventError } from '../../base/errors.ts'
import { kindOf, show } from '../../base/guards.ts'
import { hashOfParts, type KeyInput, type Scope } from '../../record/identity.ts'
import { type Opened, single } from '../../sources/content.ts'
import { fieldsOf, isObject, nonEmpty } from '../../sources/fields.ts'
import { notFrom } from '../../sources/origin.ts'
import { lowestOfGroup } from './report.ts'
import type { Source, TopicPosition } from './source.ts'

/** A record of a topic, and the cluster it comes from. */
export type TopicRecord = MSKRecord & {
  /** The cluster's ARN, or the addresses of a self-managed cluster. */
  readonly cluster: readonly string[]
}

/**
 * Topics of Amazon MSK and of self-managed Kafka clusters. A body is the record's value, decoded; that of a tombstone is
 * `null`. Records of one partition run one after another, and after a failure the partition is read again from there.
 * The default key is topic, partition, offset and time.
 *
 * Lambda honours the answer only of event source mappings in provisioned mode with `ReportBatchItemFailures`.
 * https://docs.aws.amazon.com/lambda/latest/dg/kafka-retry-configurations.html
 */
export function kafka(): Source<TopicRecord> {
  return Object.freeze({
    name: 'Kafka',

    records(event: unknown): readonly TopicRecord[] {
      const { eventSource, eventSourceArn, bootstrapServers, records } = fieldsOf(event)
      if (eventSource !== 'aws:kafka' && eventSource !== 'SelfManagedKafka') {
        throw notFrom('Kafka', event, `its eventSource is ${show(eventSource)}`)
      }
      if (!isObject(records)) throw notFrom('Kafka', event, `it has no records by topic (got ${show(records)})`)
      const servers = nonEmpty(bootstrapServers)?.split(',').sort() ?? []
      const arn = nonEmpty(eventSourceArn)
      const cluster = arn === undefined ? [String(eventSource), ...servers] : [arn]
      return Object.entries(records).flatMap(([partition, list]) => {
        if (!Array.isArray(list))
          throw new InvalidEventError(`records["${partition}"] is no list; got ${kindOf(list)}.`)
        return list.map((record: unknown, index) => checked(record, `records["${partition}"][${index}]`, cluster))
      })
    },

    identifier: positionOf,

    group: (record: TopicRecord) => positionOf(record)?.partition ?? '',

    open({ value }: TopicRecord): Opened {
      if (value === null || value === undefined) return single({ text: 'null', fingerprint: { value: null } })
      return single({ text: Buffer.from(value, 'base64').toString('utf8'), fingerprint: { text: value } })
    },

    parse(text: string, { value }: TopicRecord): unknown {
      if (!isUtf8(Buffer.from(value ?? '', 'base64')))
        throw new InvalidEventError('The value is no text: read record.value in the option parse.')
      return JSON.parse(text)
    },

    /** A topic that is made anew counts from 0 again, so the time is a part of it. A hash, because a topic's name may be nearly as long as a key. */
    key: ({ topic, partition, offset, timestamp }: TopicRecord): KeyInput =>
      hashOfParts([topic, partition, offset, timestamp].map(String)),

    scope: ({ cluster }: TopicRecord): Scope => cluster,

    report: reportPartitions,
  })
}

const reportPartitions: ReturnType<typeof lowestOfGroup> = /* @__PURE__ */ lowestOfGroup((identifier) =>
  BigInt((identifier as TopicPosition).offset),
)

function positionOf({ topic, partition, offset }: TopicRecord): TopicPosition | undefined {
  const isPlace = nonEmpty(topic) !== undefined && Number.isSafeInteger(partition) && Number.isSafeInteger(offset)
  return isPlace ? { partition: `${topic}-${partition}`, offset } : undefined
}

function checked(record: unknown, path: string, cluster: readonly string[]): TopicRecord {
  if (!isObject(record)) throw new InvalidEventError(`${path} is no record; got ${kindOf(record)}.`)
  const { value } = record
  if (value !== null && value !== undefined && typeof value !== 'string') {
    throw new InvalidEventError(
      `${path}.value is ${show(value)}: another middleware has parsed it already. Register idempotentBatch before it, or parse with the option parse.`,
    )
  }
  return { ...record, cluster } as unknown as TopicRecord
}
