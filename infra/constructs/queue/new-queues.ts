import { Duration } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { ADVISED_RECEIVE_COUNT, VISIBILITY_PER_TIMEOUT } from '../../../lib/checks/queue-checks.ts'
import { refuse, refuseBeside } from '../checks/refuse.ts'
import { functionNumbers, queueNumbers } from '../read/numbers.ts'
import { knownSeconds, requiredSeconds } from '../read/seconds.ts'
import type { IdempotentQueueProps } from './idempotent-queue.ts'

const RETENTION = Duration.days(4)
/** SQS's maximum: dead letters wait for people. */
const DEAD_LETTER_RETENTION = Duration.days(14)

/** A queue and its dead letters, encrypted, over TLS only, without fixed names. */
export function newQueues(
  scope: Construct,
  consumer: IFunction,
  props: IdempotentQueueProps,
): { readonly queue: Queue; readonly deadLetterQueue: IQueue } {
  const { fifo, contentBasedDeduplication, encryptionKey } = props
  if (contentBasedDeduplication !== undefined && !fifo) {
    refuse(scope, 'contentBasedDeduplication is set, and the queue is no FIFO queue: set fifo: true, or leave it out.')
  }
  if (props.deadLetterQueue && queueNumbers(props.deadLetterQueue)) {
    refuseBeside(scope, 'deadLetterQueue', { deadLetterRetentionPeriod: props.deadLetterRetentionPeriod })
  }
  const guarded = {
    enforceSSL: true,
    ...(encryptionKey
      ? { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey }
      : { encryption: QueueEncryption.SQS_MANAGED }),
    // CloudFormation takes no `false` here.
    ...(fifo && { fifo }),
  }
  const deadLetterQueue =
    props.deadLetterQueue ??
    new Queue(scope, 'DeadLetters', {
      ...guarded,
      retentionPeriod: props.deadLetterRetentionPeriod ?? DEAD_LETTER_RETENTION,
    })
  const queue = new Queue(scope, 'Default', {
    ...guarded,
    ...(fifo && contentBasedDeduplication !== undefined && { contentBasedDeduplication }),
    visibilityTimeout: props.visibilityTimeout ?? advisedVisibility(scope, consumer, props),
    retentionPeriod: props.retentionPeriod ?? RETENTION,
    deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: props.maxReceiveCount ?? ADVISED_RECEIVE_COUNT },
  })
  return { queue, deadLetterQueue }
}

function advisedVisibility(scope: Construct, consumer: IFunction, props: IdempotentQueueProps): Duration {
  const timeoutSeconds = functionNumbers(consumer).timeoutSeconds ?? knownSeconds(props.consumerTimeout)
  if (timeoutSeconds === undefined) {
    refuse(
      scope,
      'The consumer is imported, or its timeout is a token, so that no visibility timeout follows from it: set consumerTimeout.',
    )
  }
  const { maxBatchingWindow: window } = props
  const isSet = window !== undefined && (window.isUnresolved() || window.toMilliseconds() > 0)
  const windowSeconds = isSet ? requiredSeconds(scope, 'maxBatchingWindow', window) : 0
  return Duration.seconds(VISIBILITY_PER_TIMEOUT * timeoutSeconds + windowSeconds)
}
