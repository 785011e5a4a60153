import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { SQSEvent, SQSRecord } from 'aws-lambda'
import { afterEach, inject, vi } from 'vitest'
import { batchHandler, type ParsedBatchOptions, type RecordFailure } from '../../lib/batch/index.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, type IdempotencyOptions, type Operation } from '../../lib/index.ts'
import { type BatchFault, withStatementFaults } from '../stores/statement-faults.ts'
import { createTable, localClient } from '../stores/table.ts'
import { watchedClient } from '../stores/wire.ts'
import { identifiers } from './set-up.ts'
import { invocation, message } from './sqs-event.ts'

export const endpoint: string = inject('dynamoDbEndpoint')
export const tableName: string = await createTable(localClient(endpoint))
const clients: DynamoDBClient[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
  vi.restoreAllMocks()
})

interface Given {
  work?: (id: string, operation: Operation) => unknown
  options?: Partial<ParsedBatchOptions<{ id: string }>>
  core?: Partial<IdempotencyOptions>
  faults?: BatchFault[]
  at?: string
  table?: string
}

/** A queue's consumer on the real engine, and what goes over its wire. Each has a namespace of its own. */
export function setUp({
  work = () => undefined,
  options = {},
  core = {},
  faults = [],
  at = endpoint,
  table,
}: Given = {}) {
  const { client, sent } = watchedClient(at)
  clients.push(client)
  const batches = withStatementFaults(client, faults)
  const failures: RecordFailure[] = []
  const ran: string[] = []
  const idempotency = createIdempotency({
    store: dynamoStore({ tableName: table ?? tableName, client }),
    namespace: `n${crypto.randomUUID()}`,
    ...core,
  })
  const handler = batchHandler<{ id: string }>(
    { idempotency, onFailure: (failure) => failures.push(failure), ...options },
    async ({ body }, operation) => {
      ran.push(body.id)
      return work(body.id, operation)
    },
  )
  return {
    ran,
    batches,
    reasons: () => failures.splice(0).map(({ why }) => why),
    /** What is reported, and the requests it took. */
    async deliver(batch: SQSEvent, context = invocation()) {
      sent.length = 0
      const failed = identifiers(await handler(batch, context))
      return { failed, requests: [...sent] }
    },
  }
}

/** Messages `m0`, `m1` and so on. */
export const messages = (count: number, given: Parameters<typeof message>[1] = {}): SQSRecord[] =>
  Array.from({ length: count }, (_, index) => message(`m${index}`, given))
export const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`)
export const TOGETHER = 'BatchExecuteStatement'
export const times = (count: number, request: string): string[] => Array.from({ length: count }, () => request)
