import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, type Idempotency, type OperationEvent, type Store } from '../../lib/index.ts'
import { environmentVariable, numberVariable } from './environment.ts'
import { logLine } from './log.ts'

/** The families of operations that the service has; each keeps its keys to itself. */
export const NAMESPACES = ['orders', 'payments', 'payment-events', 'balances'] as const

/** One of them. */
export type Namespace = (typeof NAMESPACES)[number]

/**
 * Who asks for payments: the scope of their operations. Said, and not left to the queue's ARN, because the webhook has to
 * name the operation that it wakes.
 */
export const PAYMENTS_SCOPE = 'orders'

/** What the template decides of an operation's records. */
export interface RecordSettings {
  /** How long an operation protects: until its message can no longer come again. */
  readonly retentionSeconds: number
  /** Over how many shards the reconciler's index is spread; the same wherever operations run. */
  readonly reconcilerShards: number
}

/** Idempotency as every function of the service uses it. */
export function serviceIdempotency(namespace: Namespace): Idempotency {
  return idempotencyIn(dynamoStore({ tableName: environmentVariable('IDEMPOTENCY_TABLE') }), namespace, {
    // The template computes it from the queues.
    retentionSeconds: numberVariable('RETENTION_SECONDS'),
    reconcilerShards: numberVariable('RECONCILER_SHARDS'),
  })
}

/** The same on any store. */
export function idempotencyIn(
  store: Store,
  namespace: Namespace,
  { retentionSeconds, reconcilerShards }: RecordSettings,
): Idempotency {
  return createIdempotency({
    store,
    namespace,
    retentionSeconds,
    relay: true,
    reconcilerShards,
    observer: logEvent,
  })
}

function logEvent({ type, ...details }: OperationEvent): void {
  logLine(type, details)
}
