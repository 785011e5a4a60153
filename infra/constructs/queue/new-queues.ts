import { Duration } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { ADVISED_RECEIVE_COUNT, VISIBILITY_PER_TIMEOUT } from '../checks/queue-checks.ts'
import { refuse } from '../checks/refuse.ts'
import { functionNumbers } from '../read/numbers.ts'
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
  const timeoutSeconds = props.consumerTimeout?.toSeconds() ?? functionNumbers(consumer).timeoutSeconds
  if (timeoutSeconds === undefined) {
    refuse(
      scope,
      'The consumer is imported, so its timeout is not known and no visibility timeout follows from it: set consumerTimeout.',
    )
  }
  return Duration.seconds(VISIBILITY_PER_TIMEOUT * timeoutSeconds + (props.maxBatchingWindow?.toSeconds() ?? 0))
}
