import type { Duration } from 'aws-cdk-lib'
import { CfnEventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { IConstruct } from 'constructs'
import type { DeadLetterFacts, QueueFacts } from '../../../lib/checks/queue-facts.ts'
import { LONGEST_RETENTION_SECONDS, longestRedeliverySeconds } from '../../../lib/checks/redelivery.ts'
import { functionNumbers, queueNumbers } from '../read/numbers.ts'
import { knownSeconds } from '../read/seconds.ts'
import { field, knownNumber, resolved, resolvedList, resourceOf } from '../read/template-resource.ts'
import type { IdempotentQueueProps } from './idempotent-queue.ts'

const DEFAULT_BATCH_SIZE = 10

/** A queue of which nothing but its ARN is known. */
export interface UnknownQueue {
  readonly fifo: boolean
}

/** A queue, its consumer and what lies between them, as they are when the template is built. */
export interface Wiring {
  readonly queue: IQueue | UnknownQueue
  readonly deadLetterQueue: IQueue | undefined
  readonly consumer: IFunction
  readonly mapping: IConstruct
  /** What is said of imported resources, and what is acknowledged. */
  readonly stated: Partial<IdempotentQueueProps>
  readonly lease: Duration | undefined
}

/** All that is known of it: the template's numbers first, and what is stated where the template has none. */
export function queueFacts(wiring: Wiring, outboxSeconds: number): QueueFacts {
  const { queue, mapping, stated, lease } = wiring
  const numbers = numbersOf(queue)
  const fn = functionNumbers(wiring.consumer)
  const source = resourceOf<CfnEventSourceMapping>(mapping, CfnEventSourceMapping.CFN_RESOURCE_TYPE_NAME)
  const filterCriteria = source && resolved(source, source.filterCriteria)
  const scaling = source && resolved(source, source.scalingConfig)
  return {
    fifo: queue.fifo,
    visibilitySeconds: numbers ? numbers.visibilitySeconds : knownSeconds(stated.visibilityTimeout),
    queueRetentionSeconds: numbers ? numbers.retentionSeconds : knownSeconds(stated.retentionPeriod),
    deadLetters: deadLetterFacts(wiring),
    functionTimeoutSeconds: fn.timeoutSeconds ?? knownSeconds(stated.consumerTimeout),
    reservedConcurrency: fn.reservedConcurrency,
    leaseSeconds: knownSeconds(lease),
    outboxSeconds,
    batchSize: knownNumber(source?.batchSize ?? DEFAULT_BATCH_SIZE),
    batchingWindowSeconds: knownNumber(source?.maximumBatchingWindowInSeconds ?? 0),
    maxConcurrency: knownNumber(field(scaling, 'maximumConcurrency') ?? stated.maxConcurrency),
    reportsBatchItemFailures: source?.functionResponseTypes?.includes('ReportBatchItemFailures') ?? false,
    filters: source ? resolvedList(source, field(filterCriteria, 'filters')).length : 0,
    acknowledgeDrop: stated.acknowledgeDrop ?? false,
    consumerHasRole: wiring.consumer.role !== undefined,
  }
}

/** The longest redelivery, in seconds. What is not known of a queue is taken to be the longest that SQS has. */
export function redeliverySeconds({ fifo, queueRetentionSeconds, deadLetters, outboxSeconds }: QueueFacts): number {
  return longestRedeliverySeconds({
    fifo,
    queueRetentionSeconds: queueRetentionSeconds ?? LONGEST_RETENTION_SECONDS,
    deadLetterRetentionSeconds: deadLetterSeconds(deadLetters),
    outboxSeconds,
  })
}

function deadLetterSeconds(deadLetters: DeadLetterFacts): number {
  if (deadLetters.kind === 'none') return 0
  return (deadLetters.kind === 'known' ? deadLetters.retentionSeconds : undefined) ?? LONGEST_RETENTION_SECONDS
}

function numbersOf(queue: IQueue | UnknownQueue): ReturnType<typeof queueNumbers> {
  return 'node' in queue ? queueNumbers(queue) : undefined
}

function deadLetterFacts({ queue, deadLetterQueue, stated }: Wiring): DeadLetterFacts {
  const numbers = numbersOf(queue)
  if (deadLetterQueue === undefined) return { kind: numbers ? 'none' : 'unknown' }
  const own = queueNumbers(deadLetterQueue)
  return {
    kind: 'known',
    fifo: deadLetterQueue.fifo,
    retentionSeconds: own ? own.retentionSeconds : knownSeconds(stated.deadLetterRetentionPeriod),
    maxReceiveCount: numbers ? numbers.maxReceiveCount : knownNumber(stated.maxReceiveCount),
  }
}
