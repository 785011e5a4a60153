import { Duration } from 'aws-cdk-lib'
import { type Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { IGrantable, IPrincipal } from 'aws-cdk-lib/aws-iam'
import {
  CfnEventSourceMapping,
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type IFunction,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda'
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { RELAY_CHECKS, type RelayFacts } from '../../lib/checks/service-checks.ts'
import { OUTBOX_PREFIX, SORT_KEY } from '../../lib/dynamodb/table-shape.ts'
import { checkAtSynth } from './checks/at-synth.ts'
import { refuseTableElsewhere } from './checks/same-region.ts'
import { type FunctionOrEntry, functionOrEntry } from './function/function-or-entry.ts'
import { grantSend, type OutboxTarget } from './outbox-target.ts'
import { grantSendTo } from './queue/grants.ts'
import { IdempotentQueue } from './queue/idempotent-queue.ts'
import { field, knownNumber, resolved, resolvedList, resourceOf } from './read/template-resource.ts'
import type { IdempotencyTable } from './table/idempotency-table.ts'

/** Properties of {@link OutboxRelay}. */
export interface OutboxRelayProps extends FunctionOrEntry {
  /** The table whose outbox is sent, with `stream: true`. */
  readonly table: IdempotencyTable
  /**
   * Where messages go. An `IdempotentQueue` keeps its records for the time a message may lie in the outbox, too.
   * @default - none; see `addTarget`
   */
  readonly targets?: readonly OutboxTarget[]
  /**
   * Where Lambda notes what it gave up on. The messages themselves stay in the outbox, and the reconciler sends them.
   * @default - a new queue
   */
  readonly deadLetterQueue?: IQueue
  /**
   * Changes in one invocation at most.
   * @default 100
   */
  readonly batchSize?: number
  /**
   * How long Lambda gathers changes for a batch.
   * @default Duration.seconds(0)
   */
  readonly maxBatchingWindow?: Duration
  /**
   * Batches of one shard at once, 1 to 10. Messages of one operation stay in order.
   * @default 1
   */
  readonly parallelizationFactor?: number
  /**
   * A reconciler for this table is deployed elsewhere.
   * @default false
   */
  readonly acknowledgeNoReconciler?: boolean
}

/** How long DynamoDB keeps a change in the stream. */
const STREAM_SECONDS = 86_400
const DEFAULT_BATCH_SIZE = 100
/** About a quarter of an hour with Lambda's back-off: an outage of a target, after which the reconciler has it. */
const RETRY_ATTEMPTS = 20
const DEFAULT_TIMEOUT = Duration.seconds(30)
const DEAD_LETTER_RETENTION = Duration.days(14)

/**
 * Sends what commits have written into the outbox: a function on the table's stream, which sees new outbox items and
 * nothing else. Needs a {@link Reconciler} on the same table.
 *
 * @example
 * new OutboxRelay(this, 'Relay', { table, entry: 'functions/outbox-relay.ts', targets: [{ queue: payments }] })
 */
export class OutboxRelay extends Construct implements IGrantable {
  /** The function that sends. */
  readonly function: IFunction
  /** Where Lambda notes what it gave up on. */
  readonly deadLetterQueue: IQueue
  /** Between the table's stream and the function. */
  readonly eventSourceMapping: EventSourceMapping
  /** The table whose outbox is sent. */
  readonly table: IdempotencyTable
  /** Whom grants are given to: the function's role. */
  readonly grantPrincipal: IPrincipal

  constructor(scope: Construct, id: string, props: OutboxRelayProps) {
    super(scope, id)
    const { table } = props
    this.table = table
    this.function = functionOrEntry(this, props, { timeout: DEFAULT_TIMEOUT, environment: table.environment })
    refuseTableElsewhere(this, table.table, this.function)
    this.grantPrincipal = this.function.grantPrincipal
    this.deadLetterQueue =
      props.deadLetterQueue ??
      new Queue(this, 'DeadLetters', {
        encryption: QueueEncryption.SQS_MANAGED,
        enforceSSL: true,
        retentionPeriod: DEAD_LETTER_RETENTION,
      })
    // Lambda sends there as the function.
    grantSendTo(this, this.deadLetterQueue)
    table.grantOutboxRelay(this)
    const eventSourceArn = table.addRelay()
    table.grantStream(this, eventSourceArn)
    this.eventSourceMapping = new EventSourceMapping(this, 'EventSourceMapping', {
      target: this.function,
      eventSourceArn,
      batchSize: props.batchSize ?? DEFAULT_BATCH_SIZE,
      ...(props.maxBatchingWindow && { maxBatchingWindow: props.maxBatchingWindow }),
      ...(props.parallelizationFactor && { parallelizationFactor: props.parallelizationFactor }),
      // From the beginning: what was committed while the mapping was being made is to be sent, too.
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [FilterCriteria.filter(NEW_OUTBOX_ITEMS)],
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      retryAttempts: RETRY_ATTEMPTS,
      onFailure: { bind: () => ({ destination: this.deadLetterQueue.queueArn }) },
    })
    for (const target of props.targets ?? []) this.addTarget(target)
    checkAtSynth(this, RELAY_CHECKS, () => [relayFacts(this, props.acknowledgeNoReconciler ?? false)])
  }

  /** Lets the relay send somewhere, and has an `IdempotentQueue` keep its records for the outbox's time as well. */
  addTarget(target: OutboxTarget): void {
    grantSend(this, target)
    if ('queue' in target && target.queue instanceof IdempotentQueue) {
      target.queue.coverOutbox(() => STREAM_SECONDS + this.table.reconcilerPeriodSeconds)
    }
  }

  /** How far the relay is behind, in milliseconds; after 24 h DynamoDB drops what was not read. */
  metricIteratorAge(props?: MetricOptions): Metric {
    return this.function.metric('IteratorAge', { statistic: Stats.MAXIMUM, ...props })
  }

  /** How often the relay ended with an error. */
  metricErrors(props?: MetricOptions): Metric {
    return this.function.metricErrors(props)
  }

  /** Batches that Lambda gave up on. */
  metricDeadLetters(props?: MetricOptions): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, ...props })
  }
}

const NEW_OUTBOX_ITEMS = {
  eventName: FilterRule.isEqual('INSERT'),
  dynamodb: { Keys: { [SORT_KEY]: { S: FilterRule.beginsWith(OUTBOX_PREFIX) } } },
}

function relayFacts(relay: OutboxRelay, acknowledgeNoReconciler: boolean): RelayFacts {
  const mapping = resourceOf<CfnEventSourceMapping>(
    relay.eventSourceMapping,
    CfnEventSourceMapping.CFN_RESOURCE_TYPE_NAME,
  )
  const within = (value: unknown) => mapping && resolved(mapping, value)
  const criteria = within(mapping?.filterCriteria)
  return {
    acknowledgeNoReconciler,
    reconcilers: relay.table.reconcilers,
    reportsBatchItemFailures: mapping?.functionResponseTypes?.includes('ReportBatchItemFailures') ?? false,
    startsAtHorizon: mapping?.startingPosition === StartingPosition.TRIM_HORIZON,
    filters: mapping ? resolvedList(mapping, field(criteria, 'filters')).length : 0,
    retryAttempts: knownNumber(mapping?.maximumRetryAttempts) ?? -1,
    hasFailureDestination: field(within(mapping?.destinationConfig), 'onFailure') !== undefined,
  }
}
