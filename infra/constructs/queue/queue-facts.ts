import type { Duration } from 'aws-cdk-lib'
import { CfnEventSourceMapping, type EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { DeadLetterFacts, QueueFacts } from '../checks/queue-facts.ts'
import { longestRedeliverySeconds } from '../checks/redelivery.ts'
import { functionNumbers, queueNumbers } from '../read/numbers.ts'
import { field, knownNumber, resolved, resolvedList, resourceOf } from '../read/template-resource.ts'
import type { IdempotentQueueProps } from './idempotent-queue.ts'

const DEFAULT_BATCH_SIZE = 10

/** A queue, its consumer and what lies between them, as they are when the template is built. */
export interface Wiring {
  readonly queue: IQueue
  readonly deadLetterQueue: IQueue | undefined
  readonly consumer: IFunction
  readonly mapping: EventSourceMapping
  /** What is said of imported resources, and what is acknowledged. */
  readonly stated: Partial<IdempotentQueueProps>
  readonly lease: Duration | undefined
}

/** The dead letters of a queue that was brought along: its own when this app makes it, else what is stated. */
export function queuesBroughtAlong(
  queue: IQueue,
  stated: IdempotentQueueProps,
): { readonly queue: IQueue; readonly deadLetterQueue: IQueue | undefined } {
  return { queue, deadLetterQueue: queueNumbers(queue)?.deadLetterQueue?.queue ?? stated.deadLetterQueue }
}

/** All that is known of it: the template's numbers first, and what is stated where the template has none. */
export function queueFacts(wiring: Wiring, outboxSeconds: number): QueueFacts {
  const { queue, mapping, stated, lease } = wiring
  const numbers = queueNumbers(queue)
  const fn = functionNumbers(wiring.consumer)
  const source = resourceOf<CfnEventSourceMapping>(mapping, CfnEventSourceMapping.CFN_RESOURCE_TYPE_NAME)
  const filterCriteria = source && resolved(source, source.filterCriteria)
  return {
    fifo: queue.fifo,
    visibilitySeconds: numbers ? numbers.visibilitySeconds : stated.visibilityTimeout?.toSeconds(),
    queueRetentionSeconds: numbers ? numbers.retentionSeconds : stated.retentionPeriod?.toSeconds(),
    deadLetters: deadLetterFacts(wiring),
    functionTimeoutSeconds: fn.timeoutSeconds ?? stated.consumerTimeout?.toSeconds(),
    reservedConcurrency: fn.reservedConcurrency,
    leaseSeconds: lease?.toSeconds(),
    outboxSeconds,
    batchSize: knownNumber(source?.batchSize) ?? DEFAULT_BATCH_SIZE,
    batchingWindowSeconds: knownNumber(source?.maximumBatchingWindowInSeconds) ?? 0,
    maxConcurrency:
      knownNumber(field(source && resolved(source, source.scalingConfig), 'maximumConcurrency')) ??
      stated.maxConcurrency,
    reportsBatchItemFailures: source?.functionResponseTypes?.includes('ReportBatchItemFailures') ?? false,
    filters: source ? resolvedList(source, field(filterCriteria, 'filters')).length : 0,
    acknowledgeDrop: stated.acknowledgeDrop ?? false,
    consumerHasRole: wiring.consumer.role !== undefined,
  }
}

/** The longest redelivery, in seconds; undefined when a queue's retention is not known. */
export function redeliverySeconds({
  fifo,
  queueRetentionSeconds,
  deadLetters,
  outboxSeconds,
}: QueueFacts): number | undefined {
  if (queueRetentionSeconds === undefined) return undefined
  const deadLetterRetentionSeconds = deadLetters.kind === 'known' ? (deadLetters.retentionSeconds ?? 0) : 0
  return longestRedeliverySeconds({ fifo, queueRetentionSeconds, deadLetterRetentionSeconds, outboxSeconds })
}

function deadLetterFacts({ queue, deadLetterQueue, stated }: Wiring): DeadLetterFacts {
  const numbers = queueNumbers(queue)
  if (deadLetterQueue === undefined) return { kind: numbers ? 'none' : 'unknown' }
  const own = queueNumbers(deadLetterQueue)
  return {
    kind: 'known',
    fifo: deadLetterQueue.fifo,
    retentionSeconds: own ? own.retentionSeconds : stated.deadLetterRetentionPeriod?.toSeconds(),
    maxReceiveCount: numbers?.deadLetterQueue?.maxReceiveCount ?? stated.maxReceiveCount,
  }
}
