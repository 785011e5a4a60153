import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, type Idempotency, type OperationEvent, type Store } from '../../lib/index.ts'
import { environmentVariable, numberVariable } from './environment.ts'

/** Idempotency as every function of the service uses it; the namespace keeps their operations apart. */
export function serviceIdempotency(namespace: string): Idempotency {
  // The template computes it from the queues: an operation protects until its message can no longer come again.
  const retentionSeconds = numberVariable('RETENTION_SECONDS')
  return idempotencyIn(dynamoStore({ tableName: environmentVariable('IDEMPOTENCY_TABLE') }), {
    namespace,
    retentionSeconds,
  })
}

/** The same on any store. */
export function idempotencyIn(
  store: Store,
  { namespace, retentionSeconds }: { readonly namespace: string; readonly retentionSeconds: number },
): Idempotency {
  return createIdempotency({
    store,
    namespace,
    retentionSeconds,
    // A message waits in the dead-letter queue as long as this; what its operation has already done must wait with it.
    unfinishedRetentionSeconds: retentionSeconds,
    observer: logEvent,
  })
}

/** One JSON line per event, for metric filters. Straight to stdout: Lambda's console puts a prefix before each line. */
function logEvent({ type, ...rest }: OperationEvent): void {
  const details = 'error' in rest ? { ...rest, error: String(rest.error) } : rest
  process.stdout.write(`${JSON.stringify({ event: type, ...details })}\n`)
}
