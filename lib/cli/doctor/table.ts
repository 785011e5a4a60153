import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb'
import {
  INDEX_NAME,
  INDEX_PARTITION_KEY,
  INDEX_SORT_KEY,
  PARTITION_KEY,
  SORT_KEY,
  TTL_ATTRIBUTE,
} from '../../dynamodb/table-shape.ts'
import type { Connection } from '../connection.ts'
import { type Finding, finding } from './finding.ts'

/** What is deployed beside the table, as far as the person knows. */
export interface Expectation {
  readonly relay: boolean
  readonly reconciler: boolean
}

/** What DynamoDB tells of a table. Absent: it did not say, or may not be asked. */
export interface TableFacts {
  readonly table: TableDescription
  readonly ttl: { readonly status?: string; readonly attribute?: string } | undefined
  readonly pointInTimeRecovery: string | undefined
}

/** @throws the SDK's error when the table itself cannot be described */
export async function readTable({ client, tableName: TableName }: Connection): Promise<TableFacts> {
  const { Table = {} } = await client.send(new DescribeTableCommand({ TableName }))
  const [ttl, backups] = await Promise.all([
    client.send(new DescribeTimeToLiveCommand({ TableName })).catch(() => undefined),
    client.send(new DescribeContinuousBackupsCommand({ TableName })).catch(() => undefined),
  ])
  const { TimeToLiveStatus, AttributeName } = ttl?.TimeToLiveDescription ?? {}
  return {
    table: Table,
    ttl: ttl && {
      ...(TimeToLiveStatus !== undefined && { status: TimeToLiveStatus }),
      ...(AttributeName !== undefined && { attribute: AttributeName }),
    },
    pointInTimeRecovery:
      backups?.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus,
  }
}

/** Judges a table by what the store, a relay and a reconciler need of it. */
export function tableFindings(facts: TableFacts, expectation: Expectation): readonly Finding[] {
  return [
    keysFinding(facts),
    ttlFinding(facts),
    indexFinding(facts, expectation),
    streamFinding(facts, expectation),
    recoveryFinding(facts),
    protectionFinding(facts),
    regionsFinding(facts),
  ]
}

type KeySchema = TableDescription['KeySchema']

function keysOf({ AttributeDefinitions = [] }: TableDescription, schema: KeySchema = []): string {
  const keys = schema.map(({ AttributeName, KeyType }) => {
    const type = AttributeDefinitions.find((definition) => definition.AttributeName === AttributeName)?.AttributeType
    return `${KeyType === 'HASH' ? 'partition' : 'sort'} key ${AttributeName} (${type})`
  })
  return keys.join(', ')
}

function keysFinding({ table }: TableFacts): Finding {
  const needed = `partition key ${PARTITION_KEY} (S), sort key ${SORT_KEY} (S)`
  const found = keysOf(table, table.KeySchema)
  return found === needed
    ? finding('keys', 'ok', `${found}.`)
    : finding(
        'keys',
        'problem',
        `It has ${found}; lambda-once needs ${needed}. Keys cannot be changed: make a table of its own.`,
      )
}

function ttlFinding({ ttl }: TableFacts): Finding {
  if (ttl === undefined) {
    return finding('ttl', 'skipped', 'Not known: that takes dynamodb:DescribeTimeToLive.')
  }
  const { status, attribute } = ttl
  if (attribute !== undefined && attribute !== TTL_ATTRIBUTE) {
    return finding(
      'ttl',
      'problem',
      `Items expire by "${attribute}", which records do not have: they are never deleted. Turn it off, and on again for "${TTL_ATTRIBUTE}".`,
    )
  }
  if (status === 'ENABLED' || status === 'ENABLING') return finding('ttl', 'ok', `Items expire by "${TTL_ATTRIBUTE}".`)
  return finding(
    'ttl',
    'problem',
    `Off: records are never deleted, and the table grows. Turn it on for "${TTL_ATTRIBUTE}".`,
  )
}

function indexFinding({ table }: TableFacts, { reconciler }: Expectation): Finding {
  const index = table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === INDEX_NAME)
  const needed = `partition key ${INDEX_PARTITION_KEY} (S), sort key ${INDEX_SORT_KEY} (N)`
  if (index === undefined) {
    return reconciler
      ? finding(
          'index',
          'problem',
          `There is no index "${INDEX_NAME}", in which a reconciler finds its work: ${needed}.`,
        )
      : finding('index', 'info', `No index "${INDEX_NAME}": a reconciler could not work on this table.`)
  }
  const found = keysOf(table, index.KeySchema)
  if (found !== needed) {
    return finding('index', 'problem', `The index "${INDEX_NAME}" has ${found}; it needs ${needed}. Make it anew.`)
  }
  if (index.IndexStatus !== undefined && index.IndexStatus !== 'ACTIVE') {
    return finding('index', 'warning', `The index "${INDEX_NAME}" is ${index.IndexStatus}: wait until it is ACTIVE.`)
  }
  return finding('index', 'ok', `The index "${INDEX_NAME}" is there, with ${found}.`)
}

function streamFinding({ table: { StreamSpecification } }: TableFacts, { relay }: Expectation): Finding {
  const view = StreamSpecification?.StreamEnabled ? StreamSpecification.StreamViewType : undefined
  if (view?.startsWith('NEW_')) return finding('stream', 'ok', `The stream carries new images (${view}).`)
  const lacks = view === undefined ? 'There is no stream' : `The stream carries ${view}, not new images`
  return relay
    ? finding('stream', 'problem', `${lacks}: the relay sees no message, and none is sent. Set it to NEW_IMAGE.`)
    : finding('stream', 'info', `${lacks}: an outbox relay could not work on this table.`)
}

function recoveryFinding({ pointInTimeRecovery }: TableFacts): Finding {
  if (pointInTimeRecovery === undefined) {
    return finding(
      'point-in-time-recovery',
      'skipped',
      'Not known: that takes dynamodb:DescribeContinuousBackups, which a local engine lacks.',
    )
  }
  return pointInTimeRecovery === 'ENABLED'
    ? finding('point-in-time-recovery', 'ok', 'On.')
    : finding(
        'point-in-time-recovery',
        'warning',
        'Off: without its records everything that is delivered again is done again. Turn it on.',
      )
}

function protectionFinding({ table: { DeletionProtectionEnabled } }: TableFacts): Finding {
  return DeletionProtectionEnabled
    ? finding('deletion-protection', 'ok', 'On.')
    : finding(
        'deletion-protection',
        'warning',
        'Off: one call deletes the table, and with it all protection. Turn it on, except where nothing is at stake.',
      )
}

function regionsFinding({ table: { Replicas = [] } }: TableFacts): Finding {
  return Replicas.length === 0
    ? finding('regions', 'ok', 'One region: a claim is exclusive.')
    : finding(
        'regions',
        'warning',
        `${Replicas.length} replicas (${Replicas.map(({ RegionName }) => RegionName).join(', ')}): two regions can both win a claim. Send all deliveries of an operation to one home region.`,
      )
}
