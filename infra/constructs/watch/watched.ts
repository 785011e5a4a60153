import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IdempotentApi } from '../idempotent-api.ts'
import type { OutboxRelay } from '../outbox-relay.ts'
import type { IdempotentQueue } from '../queue/idempotent-queue.ts'
import type { Reconciler } from '../reconciler.ts'
import type { IdempotencyTable } from '../table/idempotency-table.ts'

/** Everything that alarms and widgets are about. */
export interface Watched {
  readonly table: IdempotencyTable
  /** Operation namespaces, as `createIdempotency` names them. */
  readonly namespaces: readonly string[]
  readonly queues: readonly IdempotentQueue[]
  readonly functions: readonly IFunction[]
  readonly api?: IdempotentApi
  readonly relay?: OutboxRelay
  readonly reconciler?: Reconciler
}
