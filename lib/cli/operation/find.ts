import { fromBesideItem, toRecord } from '../../dynamodb/items.ts'
import { INDEX_NAME } from '../../dynamodb/table-shape.ts'
import { type OperationRecord, OUTBOX_PREFIX, RECORD_SORT_KEY } from '../../record/record.ts'
import type { Connection } from '../connection.ts'
import { CliFailure, EXIT } from '../exit.ts'
import { type Item, type Progress, type Scanned, type Search, scan } from '../scan.ts'
import { messageOf, type StoredMessage } from './read.ts'
import { headingOf, inNamespace, type Listable, searchFor, troubleOf } from './search.ts'
import { type Standing, standingOf } from './standing.ts'
import { messageView, recordView, type Viewing } from './view.ts'

/** What is looked for. */
export interface Query {
  readonly wanted: readonly Listable[]
  readonly namespace: string | undefined
  /** Stop after so many. */
  readonly limit: number
  /** Read the reconciler's index in place of the table. */
  readonly viaIndex: boolean
}

/** What was found. */
export interface Findings {
  readonly records: readonly { readonly record: OperationRecord; readonly standing: Standing }[]
  readonly messages: readonly {
    readonly id: string
    readonly message: StoredMessage
    readonly trouble: 'stuck' | 'overdue'
  }[]
  readonly scanned: Scanned
}

/** Finds operations and messages by their state. @throws CliFailure when the index is asked for what is not in it */
export async function findOperations(
  connection: Connection,
  query: Query,
  nowMs: number,
  progress: Progress,
): Promise<Findings> {
  const { wanted, namespace, limit, viaIndex } = query
  const records: Findings['records'][number][] = []
  const messages: Findings['messages'][number][] = []
  const take = async (item: Item): Promise<boolean> => {
    if (item.sk === RECORD_SORT_KEY) {
      const record = toRecord({ ...item })
      const standing = standingOf(record, nowMs)
      const heading = headingOf(standing)
      if (heading !== undefined && wanted.includes(heading)) records.push({ record, standing })
    } else if (typeof item.sk === 'string' && item.sk.startsWith(OUTBOX_PREFIX)) {
      const message = messageOf(fromBesideItem({ ...item }))
      const trouble = troubleOf(message, nowMs)
      if (trouble !== undefined) messages.push({ id: String(item.pk), message, trouble })
    }
    return records.length + messages.length < limit
  }
  const scanned = viaIndex
    ? await scanIndex(connection, query, take, progress)
    : await scan(connection, searchFor(wanted, namespace), take, progress)
  return { records, messages, scanned }
}

/** What was found, for machines. */
export async function findingsView(
  viewing: Viewing,
  { records, messages, scanned }: Findings,
): Promise<Readonly<Record<string, unknown>>> {
  return {
    operations: await Promise.all(records.map(({ record }) => recordView(viewing, record))),
    messages: await Promise.all(
      messages.map(async ({ id, message, trouble }) => ({ id, trouble, ...(await messageView(viewing, message)) })),
    ),
    itemsRead: scanned.items,
    isComplete: scanned.isComplete,
  }
}

/** The index names what is unfinished; how it stands is in the table. */
async function scanIndex(
  connection: Connection,
  { wanted, namespace }: Query,
  take: (item: Item) => Promise<boolean>,
  progress: Progress,
): Promise<Scanned> {
  const absent = wanted.filter((name) => ['stuck', 'failed', 'completed'].includes(name))
  const [first] = absent
  if (first !== undefined) {
    throw new CliFailure(
      EXIT.usage,
      `What is ${first} is not in the index. Leave --index out, or say which of --stale --unknown --waiting --retryable --running you want.`,
    )
  }
  const search: Search = {
    IndexName: INDEX_NAME,
    FilterExpression: inNamespace(['#sk = :record'], namespace),
    ExpressionAttributeNames: { '#sk': 'sk', ...(namespace !== undefined && { '#pk': 'pk' }) },
    ExpressionAttributeValues: {
      ':record': RECORD_SORT_KEY,
      ...(namespace !== undefined && { ':namespace': `${namespace}#` }),
    },
  }
  return scan(
    connection,
    search,
    async ({ pk }) => {
      const record = await connection.store.get(String(pk))
      if (record === undefined) return true
      const { id, ...attributes } = record
      return take({ ...attributes, pk: id, sk: RECORD_SORT_KEY })
    },
    progress,
  )
}
