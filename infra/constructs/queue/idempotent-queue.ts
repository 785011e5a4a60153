import type { Duration } from 'aws-cdk-lib'
import { type Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { EventSourceMapping, IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { QUEUE_CHECKS } from '../../../lib/checks/queue-checks.ts'
import { checkAtSynth } from '../checks/at-synth.ts'
import { refuse } from '../checks/refuse.ts'
import { refuseOtherRegion, refuseTableElsewhere } from '../checks/same-region.ts'
import { IdempotentFunction } from '../idempotent-function.ts'
import { requiredSeconds } from '../read/seconds.ts'
import type { IdempotencyTable } from '../table/idempotency-table.ts'
import { broughtAlong } from './brought-along.ts'
import { grantSendTo } from './grants.ts'
import { mappingOf } from './mapping.ts'
import { newQueues } from './new-queues.ts'
import { queueFacts, redeliverySeconds } from './queue-facts.ts'

/** Properties of {@link IdempotentQueue}. */
export interface IdempotentQueueProps {
  /** The function that consumes the queue. Any other than an `IdempotentFunction` needs `table`. */
  readonly consumer: IdempotentFunction | IFunction
  /**
   * The table with the consumer's records, whose retention is held against the queue.
   * @default - the table of the `IdempotentFunction`
   */
  readonly table?: IdempotencyTable
  /**
   * A queue that exists already. One of this app is checked by its own numbers; of an imported one state them here: what
   * is not known is warned of, and taken to be SQS's longest where the records' retention follows from it.
   * @default - a new queue with a dead-letter queue
   */
  readonly queue?: IQueue
  /**
   * The dead-letter queue of a new queue, or that of an imported one.
   * @default - a new one
   */
  readonly deadLetterQueue?: IQueue
  /**
   * Whether the new queue, and its dead letters, keep the order of each message group.
   * @default false
   */
  readonly fifo?: boolean
  /**
   * Whether SQS takes the hash of a body for its deduplication id, which drops a second, intended message of the same body.
   * @default false
   */
  readonly contentBasedDeduplication?: boolean
  /**
   * How long a received message is hidden from others.
   * @default - six times the consumer's timeout, and the batching window
   */
  readonly visibilityTimeout?: Duration
  /**
   * How long a message waits in the queue at most.
   * @default Duration.days(4)
   */
  readonly retentionPeriod?: Duration
  /**
   * How long a message waits among the dead letters at most. Of an imported queue: how long it does.
   * @default Duration.days(14)
   */
  readonly deadLetterRetentionPeriod?: Duration
  /**
   * How often a message is received before it goes to the dead letters.
   * @default 5
   */
  readonly maxReceiveCount?: number
  /**
   * A customer managed key for both queues.
   * @default - keys that SQS manages
   */
  readonly encryptionKey?: IKey
  /**
   * Messages in one invocation at most.
   * @default 10
   */
  readonly batchSize?: number
  /**
   * How long Lambda gathers messages for a batch.
   * @default - none
   */
  readonly maxBatchingWindow?: Duration
  /**
   * How many batches may be with the consumer at once, from 2.
   * @default - as many as Lambda gives
   */
  readonly maxConcurrency?: number
  /**
   * Patterns of which a message must match one, else it is deleted. Needs `acknowledgeDrop`.
   * @default - none
   */
  readonly filters?: Record<string, unknown>[]
  /**
   * Messages that match no filter may be deleted.
   * @default false
   */
  readonly acknowledgeDrop?: boolean
  /**
   * The consumer's timeout, when it is imported.
   * @default - the function's own
   */
  readonly consumerTimeout?: Duration
  /**
   * The lease that the consumer's application sets.
   * @default - that of the `IdempotentFunction`
   */
  readonly lease?: Duration
}

/**
 * A queue with its dead-letter queue that feeds a function which is safe to run more than once. What would make a message
 * run twice, or get lost, is refused when the template is built.
 *
 * @example
 * const payments = new IdempotentQueue(this, 'Payments', { consumer: worker })
 */
export class IdempotentQueue extends Construct {
  /** The queue itself. */
  readonly queue: IQueue
  /** Absent only when a queue was brought along that has none, or an imported one whose is not stated. */
  readonly deadLetterQueue?: IQueue
  /** The function that it feeds. */
  readonly consumer: IFunction
  /** Between both. */
  readonly eventSourceMapping: EventSourceMapping
  /** The table with the consumer's records. */
  readonly table: IdempotencyTable
  #outboxSeconds: () => number = () => 0

  constructor(scope: Construct, id: string, props: IdempotentQueueProps) {
    super(scope, id)
    const { consumer } = props
    const isIdempotent = consumer instanceof IdempotentFunction
    this.consumer = isIdempotent ? consumer.function : consumer
    this.table =
      props.table ??
      (isIdempotent
        ? consumer.table
        : refuse(this, 'The consumer is no IdempotentFunction, so its table is not known: set table.'))
    const lease = props.lease ?? (isIdempotent ? consumer.lease : undefined)
    if (lease !== undefined) requiredSeconds(this, 'lease', lease)

    const { queue, deadLetterQueue } = props.queue
      ? broughtAlong(this, props.queue, props)
      : newQueues(this, this.consumer, props)
    this.queue = queue
    if (deadLetterQueue !== undefined) this.deadLetterQueue = deadLetterQueue

    refuseTableElsewhere(this, this.table.table, this.consumer)
    const fed = { name: 'consumer', env: this.consumer.env }
    refuseOtherRegion(this, { name: 'queue', env: queue.env }, fed, 'Lambda polls queues of its own region only.')
    this.eventSourceMapping = mappingOf(this, this.consumer, queue, props)
    // Granted already where it is true, and not used where it is false.
    if (isIdempotent && consumer.groupCommit === undefined) this.table.grantGroupCommit(consumer)
    const known = {
      queue,
      deadLetterQueue,
      consumer: this.consumer,
      mapping: this.eventSourceMapping,
      stated: props,
      lease,
    }
    this.table.coverRedelivery(() => redeliverySeconds(queueFacts(known, this.#outboxSeconds())))
    checkAtSynth(this, QUEUE_CHECKS, () => [
      { ...queueFacts(known, this.#outboxSeconds()), recordRetentionSeconds: this.table.knownRetentionSeconds() },
    ])
  }

  /** Makes the records outlive the time a message may lie in an outbox before it is sent here, in seconds. */
  coverOutbox(seconds: () => number): void {
    this.#outboxSeconds = seconds
  }

  /** Lets somebody send messages, and nothing else. */
  grantSendMessages(grantee: IGrantable): Grant {
    return grantSendTo(grantee, this.queue)
  }

  /** Messages that wait to be received. */
  metricBacklog(props?: MetricOptions): Metric {
    return this.queue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, ...props })
  }

  /** How long the oldest message has been waiting or coming again, in seconds. */
  metricOldestMessageAge(props?: MetricOptions): Metric {
    return this.queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, ...props })
  }

  /** Messages that were worked off. */
  metricWorkedOff(props?: MetricOptions): Metric {
    return this.queue.metricNumberOfMessagesDeleted({ statistic: Stats.SUM, ...props })
  }

  /** Messages that lie in the dead letters; undefined when the queue's dead letters are not known. */
  metricDeadLetters(props?: MetricOptions): Metric | undefined {
    return this.deadLetterQueue?.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, ...props })
  }
}
