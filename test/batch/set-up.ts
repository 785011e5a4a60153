import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { type BatchRecord, batchHandler, type ParsedBatchOptions, type RecordFailure } from '../../lib/batch/index.ts'
import { createIdempotency, type IdempotencyOptions, type Operation, type OperationEvent } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { invocation } from './sqs-event.ts'

export type Body = { id: string }

/** A queue's consumer over a store in memory, and all that can be seen of it. */
export function setUp({
  options = {},
  core = {},
  work = () => undefined,
}: {
  options?: Partial<ParsedBatchOptions<Body>>
  core?: Partial<IdempotencyOptions>
  work?: (id: string, operation: Operation, record: BatchRecord<Body>) => unknown
} = {}) {
  const memory = memoryStore()
  const clock = fakeClock()
  const events: OperationEvent[] = []
  const failures: RecordFailure[] = []
  const ran: string[] = []
  const idempotency = createIdempotency({
    store: memory,
    clock,
    namespace: 'payments',
    observer: (seen) => events.push(seen),
    ...core,
  })
  const handler = batchHandler<Body>(
    { idempotency, onFailure: (failure) => failures.push(failure), ...options },
    async (record, operation) => {
      ran.push(record.body.id)
      return work(record.body.id, operation, record)
    },
  )
  return {
    memory,
    clock,
    events,
    failures,
    ran,
    idempotency,
    statuses: () => memory.records().map(({ status }) => status),
    types: () => events.map(({ type }) => type),
    reasons: () => failures.map(({ why }) => why),
    deliver: async (batch: SQSEvent, context: Context = invocation()) => identifiers(await handler(batch, context)),
    handler,
  }
}

export function identifiers({ batchItemFailures }: SQSBatchResponse): string[] {
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
}

/** A promise that somebody else keeps, for works that are to run at the same time. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: () => resolve() }
}
