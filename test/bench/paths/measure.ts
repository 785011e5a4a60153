import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { itemSize } from '../../../lib/commit/item-size.ts'
import { dynamoStore } from '../../../lib/dynamodb/index.ts'
import { createIdempotency } from '../../../lib/index.ts'
import { fakeClock } from '../../core/fake-clock.ts'
import { createTable as createOperationsTable } from '../../stores/table.ts'
import { meter, type RequestUnits } from '../meter.ts'
import { SMALL_RESULT } from '../sides/orders.ts'
import { createTable } from '../tables.ts'
import { PATHS, PATHS_OF_A_RECONCILER, SHARDS, type Walk } from './walks.ts'

/** What one way through the protocol sends and consumes. */
export interface PathUnits {
  readonly path: string
  /** Whether a reconciler is used, so that the record and its messages are in the index. */
  readonly isIndexed: boolean
  readonly requests: readonly RequestUnits[]
}

/** Walks every path, with and without a reconciler. */
export async function measurePaths(endpoint: string): Promise<PathUnits[]> {
  const client = new DynamoDBClient({ endpoint })
  const users = await createTable(client, ['id'])
  const store = dynamoStore({ tableName: await createOperationsTable(client), client })
  let requests: RequestUnits[] = []
  let isCounting = true
  const begin = () => {
    requests = []
    isCounting = true
  }
  const end = () => {
    isCounting = false
  }
  const stop = meter(client, endpoint, (request) => {
    if (isCounting) requests.push(request)
  })
  const measured: PathUnits[] = []

  async function measure(paths: Readonly<Record<string, Walk>>, isIndexed: boolean): Promise<void> {
    const index = isIndexed ? { reconcilerShards: SHARDS, reconcilerRecovers: true } : {}
    const idempotency = createIdempotency({ store, namespace: 'bench', relay: true, ...index })
    for (const [path, walk] of Object.entries(paths)) {
      begin()
      await walk({ idempotency, store, users, begin, end })
      measured.push({ path, isIndexed, requests })
    }
  }

  // First of all, while nothing is due.
  await measure(PATHS_OF_A_RECONCILER, true)
  await measure(PATHS, false)
  await measure(PATHS, true)
  stop()
  client.destroy()
  return measured
}

/** How large a completed record with a small outcome is, in bytes. */
export async function measureRecord(endpoint: string): Promise<number> {
  const client = new DynamoDBClient({ endpoint })
  const tableName = await createTable(client, ['pk', 'sk'])
  // A number takes as much as it has digits that count, so the time is always the same.
  const clock = fakeClock(1_700_000_000_001)
  const idempotency = createIdempotency({ store: dynamoStore({ tableName, client }), namespace: 'payments', clock })
  const key = '00000000-0000-4000-8000-000000000000'
  await idempotency.run({ key, scope: ['tenant'], input: { amount: 100 } }, () => SMALL_RESULT)
  const { Items: [item = {}] = [] } = await client.send(new ScanCommand({ TableName: tableName }))
  client.destroy()
  return itemSize(item)
}

/** What all requests of a path consume. */
export function unitsOf({ requests }: PathUnits): Omit<RequestUnits, 'action'> {
  const sum = (of: (request: RequestUnits) => number) => requests.reduce((total, request) => total + of(request), 0)
  return {
    writeUnits: sum(({ writeUnits }) => writeUnits),
    indexUnits: sum(({ indexUnits }) => indexUnits),
    readUnits: sum(({ readUnits }) => readUnits),
  }
}

/** The actions of a path in a line, each with its number: `PutItem, 2 UpdateItem`. */
export function actionsOf({ requests }: PathUnits): string {
  const counted = Map.groupBy(requests, ({ action }) => action)
  return [...counted].map(([action, { length }]) => (length === 1 ? action : `${length} ${action}`)).join(', ')
}
