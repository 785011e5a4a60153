import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { IConstruct } from 'constructs'
import { refuseBeside } from '../checks/refuse.ts'
import { queueNumbers } from '../read/numbers.ts'
import type { IdempotentQueueProps } from './idempotent-queue.ts'

/** A queue and its dead letters, as far as there are any. */
export interface QueuePair {
  readonly queue: IQueue
  readonly deadLetterQueue: IQueue | undefined
}

/**
 * A queue that exists: one of this app with its own dead letters, an imported one with what is stated of it.
 *
 * @throws Error naming the properties that belong to a queue's making, or that contradict one of this app
 */
export function broughtAlong(scope: IConstruct, queue: IQueue, props: IdempotentQueueProps): QueuePair {
  const { encryptionKey, contentBasedDeduplication, fifo } = props
  refuseBeside(scope, 'queue', { encryptionKey, contentBasedDeduplication, fifo })
  const numbers = queueNumbers(queue)
  if (numbers === undefined) return { queue, deadLetterQueue: props.deadLetterQueue }
  const { visibilityTimeout, retentionPeriod, deadLetterQueue, deadLetterRetentionPeriod, maxReceiveCount } = props
  // They would be believed where the template says otherwise.
  refuseBeside(scope, 'queue', {
    visibilityTimeout,
    retentionPeriod,
    deadLetterQueue,
    deadLetterRetentionPeriod:
      numbers.deadLetterQueue && queueNumbers(numbers.deadLetterQueue) && deadLetterRetentionPeriod,
    maxReceiveCount,
  })
  return { queue, deadLetterQueue: numbers.deadLetterQueue }
}
