import {
  INDEX_ATTRIBUTES,
  INDEX_NAME,
  INDEX_PARTITION_KEY,
  INDEX_SORT_KEY,
  PARTITION_KEY,
  SORT_KEY,
  TTL_ATTRIBUTE,
} from '../dynamodb/table-shape.ts'
import type { Check } from './check.ts'

/** What is known of an index of the table. */
export interface TableIndex {
  readonly name: string
  /** As the table's keys. */
  readonly keys: readonly string[]
  /** What it carries beside the keys; absent: everything. */
  readonly attributes?: readonly string[]
}

/** What is known of a table that holds records. */
export interface TableFacts {
  /** Regions, the table's own included. */
  readonly regions: number
  readonly stronglyConsistent: boolean
  readonly acknowledgeHomeRegion: boolean
  /** The keys, partition key first, each with its type: `pk (S)`. */
  readonly keys: readonly string[]
  /** Absent: the table expires nothing. */
  readonly ttlAttribute?: string
  readonly indexes: readonly TableIndex[]
  /** What the stream carries, as CloudFormation names it. Absent: there is no stream. */
  readonly stream?: string
  readonly deletedWithStack: boolean
  readonly deletionProtection: boolean
  readonly pointInTimeRecovery: boolean
  /** Whether a reconciler is to find its work in this table. */
  readonly wantsIndex: boolean
  /** Whether a relay is to read this table's stream. */
  readonly wantsStream: boolean
}

const KEYS = `${PARTITION_KEY} (S), ${SORT_KEY} (S)`
const INDEX_KEYS = `${INDEX_PARTITION_KEY} (S), ${INDEX_SORT_KEY} (N)`

/** Everything that is refused or warned of where a table holds records. */
export const TABLE_CHECKS: readonly Check<TableFacts>[] = [
  {
    id: 'strongly-consistent-replicas',
    severity: 'refused',
    about: 'multi-region strong consistency: no TTL and no transactions there',
    find: ({ stronglyConsistent, regions }) =>
      stronglyConsistent
        ? `The table is strongly consistent over ${regions} regions, where DynamoDB has 0 of the two things needed: TTL and transactions. Use a table in one region, or replicas with eventual consistency and one home region per operation.`
        : undefined,
  },
  {
    id: 'replicas',
    severity: 'refused',
    about: 'replicas: two regions can both win a claim',
    acknowledgedBy: 'acknowledgeHomeRegion',
    find: ({ regions, stronglyConsistent, acknowledgeHomeRegion }) =>
      regions > 1 && !stronglyConsistent && !acknowledgeHomeRegion
        ? `The table has ${regions} regions, and a claim is exclusive in 1: with eventual consistency two regions can both win it. Send all deliveries of an operation to one home region and set acknowledgeHomeRegion: true, or leave the replicas out.`
        : undefined,
  },
  {
    id: 'other-keys',
    severity: 'refused',
    about: 'a table brought along whose keys are not `pk` and `sk`, both strings',
    find: ({ keys }) =>
      keys.join(', ') === KEYS
        ? undefined
        : `The table has ${keys.length} keys (${keys.join(', ')}), and records need 2 (${KEYS}). Give lambda-once a table of its own.`,
  },
  {
    id: 'other-ttl-attribute',
    severity: 'refused',
    about: 'a table brought along that does not expire by `expiresAt`',
    find: ({ ttlAttribute }) =>
      ttlAttribute === TTL_ATTRIBUTE
        ? undefined
        : `The table expires by ${ttlAttribute === undefined ? '0 attributes' : `1 attribute ("${ttlAttribute}")`}, and 1 is needed ("${TTL_ATTRIBUTE}"): records would never go. Set timeToLiveAttribute to "${TTL_ATTRIBUTE}".`,
  },
  {
    id: 'no-reconciler-index',
    severity: 'refused',
    about: 'a reconciler on a table without its index',
    find: ({ wantsIndex, indexes }) =>
      wantsIndex && !indexes.some(({ name }) => name === INDEX_NAME)
        ? `A reconciler works on this table, which has ${indexes.length} indexes and not the 1 it needs ("${INDEX_NAME}"). Set reconcilerIndex: true.`
        : undefined,
  },
  {
    id: 'other-reconciler-index',
    severity: 'refused',
    about: 'a table brought along whose index `due` has other keys, or lacks what a reconciler reads',
    find: ({ wantsIndex, indexes }) => {
      const index = indexes.find(({ name }) => name === INDEX_NAME)
      if (!wantsIndex || index === undefined) return undefined
      const lacking = INDEX_ATTRIBUTES.filter((name) => index.attributes?.includes(name) === false)
      return index.keys.join(', ') === INDEX_KEYS && lacking.length === 0
        ? undefined
        : `The index "${INDEX_NAME}" has ${index.keys.length} keys (${index.keys.join(', ')}) and lacks ${lacking.length} attributes, and a reconciler needs 2 (${INDEX_KEYS}) with ${INDEX_ATTRIBUTES.join(', ')}. Make the index anew with these.`
    },
  },
  {
    id: 'no-stream',
    severity: 'refused',
    about: 'an outbox relay on a table without a stream of new images',
    find: ({ wantsStream, stream }) =>
      wantsStream && !stream?.startsWith('NEW_')
        ? `An outbox relay reads this table, whose stream carries ${stream ?? 'nothing: it has 0 of the 1'}${stream === undefined ? ' needed' : ', not the new images'}: the relay would see no message. Set stream: true, or dynamoStream to NEW_IMAGE on a table brought along.`
        : undefined,
  },
  {
    id: 'records-can-be-lost',
    severity: 'warned',
    about: 'a table deleted with its stack, without deletion protection or without point-in-time recovery',
    find: ({ deletedWithStack, deletionProtection, pointInTimeRecovery }) => {
      const missing = [
        ...(deletedWithStack ? ['removalPolicy RETAIN'] : []),
        ...(deletionProtection ? [] : ['deletionProtection']),
        ...(pointInTimeRecovery ? [] : ['pointInTimeRecovery']),
      ]
      return missing.length > 0
        ? `${missing.length} of 3 protections of the table are off (${missing.join(', ')}): without its records everything that is delivered again is done again. Leave the defaults, except where nothing is at stake.`
        : undefined
    },
  },
]
