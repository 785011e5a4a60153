import { batchHandler, type RecordFailure, type Source } from '../../lib/batch/index.ts'
import type { EventContext } from '../../lib/event/index.ts'
import { createIdempotency, type Idempotency, type Operation, type OperationEvent } from '../../lib/index.ts'
import { type MemoryStore, memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'

/** Lambda's context. Typed as the handler sees it, since Middy's types ask for that of whoever calls. */
export function invocation(awsRequestId: string = crypto.randomUUID()): EventContext {
  return { awsRequestId, getRemainingTimeInMillis: () => 30_000 } as unknown as EventContext
}

/** A store in memory, idempotency over it, and what can be seen of both. */
export function world(namespace = 'orders') {
  const store: MemoryStore = memoryStore()
  const clock = fakeClock()
  const events: OperationEvent[] = []
  const idempotency: Idempotency = createIdempotency({ store, clock, namespace, observer: (seen) => events.push(seen) })
  return { store, clock, events, idempotency, statuses: () => store.records().map(({ status }) => status) }
}

/** The consumer of a source, and what it has seen: bodies, keys and failures. */
export function consumer<R, D>(
  source: Source<R, D>,
  {
    work = () => undefined,
    options = {},
  }: { work?: (body: D, operation: Operation) => unknown; options?: Record<string, unknown> } = {},
) {
  const there = world()
  const bodies: D[] = []
  const keys: string[] = []
  const failures: RecordFailure<R>[] = []
  const handler = batchHandler<D, R>(
    {
      idempotency: there.idempotency,
      source,
      onFailure: (failure: RecordFailure<R>) => failures.push(failure),
      ...options,
    } as never,
    (record, operation) => {
      bodies.push(record.body)
      keys.push(operation.key)
      return work(record.body, operation)
    },
  )
  return {
    ...there,
    bodies,
    keys,
    failures,
    reasons: () => failures.map(({ why }) => why),
    deliver: async (event: unknown): Promise<unknown[]> =>
      (await handler(event as never, invocation())).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier),
  }
}
