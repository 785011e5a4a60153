import type { Duration } from 'aws-cdk-lib'
import { type Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { EventSourceMapping, IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { checkAtSynth } from '../checks/at-synth.ts'
import { QUEUE_CHECKS } from '../checks/queue-checks.ts'
import { refuse, refuseBeside } from '../checks/refuse.ts'
import { IdempotentFunction } from '../idempotent-function.ts'
import type { IdempotencyTable } from '../table/idempotency-table.ts'
import { mappingOf } from './mapping.ts'
import { newQueues } from './new-queues.ts'
import { queueFacts, queuesBroughtAlong, redeliverySeconds } from './queue-facts.ts'

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
   * A queue that exists already. One of this app is checked by its own numbers; of an imported one state them here.
   * @default - a new queue with a dead-letter queue
   */
  readonly queue?: IQueue
  /**
   * The dead-letter queue of a new queue, or that of an imported one.
   * @default - a new one
   */
  readonly deadLetterQueue?: IQueue
  /** @default false */
  readonly fifo?: boolean
  /** @default false */
  readonly contentBasedDeduplication?: boolean
  /** @default - six times the consumer's timeout, and the batching window */
  readonly visibilityTimeout?: Duration
  /** @default Duration.days(4) */
  readonly retentionPeriod?: Duration
  /** @default Duration.days(14) */
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
  /** @default 10 */
  readonly batchSize?: number
  /** @default - none */
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
  readonly queue: IQueue
  /** Absent only when a queue was brought along that has none, or an imported one whose is not stated. */
  readonly deadLetterQueue?: IQueue
  readonly consumer: IFunction
  readonly eventSourceMapping: EventSourceMapping
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

    if (props.queue !== undefined) {
      const { encryptionKey, contentBasedDeduplication, fifo } = props
      refuseBeside(this, 'queue', { encryptionKey, contentBasedDeduplication, fifo })
    }
    const { queue, deadLetterQueue } = props.queue
      ? queuesBroughtAlong(props.queue, props)
      : newQueues(this, this.consumer, props)
    this.queue = queue
    if (deadLetterQueue !== undefined) this.deadLetterQueue = deadLetterQueue

    this.eventSourceMapping = mappingOf(this, this.consumer, queue, props)
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
    this.queue.encryptionMasterKey?.grant(grantee, 'kms:Decrypt', 'kms:GenerateDataKey')
    return this.queue.grant(grantee, 'sqs:SendMessage')
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
