/** How long a queue and its dead-letter queue keep a message. */
export interface Keeping {
  readonly fifo: boolean
  readonly queueRetentionSeconds: number
  /** 0 without a dead-letter queue. */
  readonly deadLetterRetentionSeconds: number
  /** How long a message may lie in the outbox before it is sent, in seconds. */
  readonly outboxSeconds: number
}

/**
 * A delivery may be received at the very end of its retention, run for as long as a function may (15 minutes), and the
 * clocks of two machines differ.
 */
export const RETENTION_MARGIN_SECONDS = 3_600

/** SQS keeps no message longer: 14 days. */
export const LONGEST_RETENTION_SECONDS = 1_209_600

/**
 * The longest time between an operation's first delivery and its last, with one redrive on the last day: in the dead
 * letters, and then once more in the source. A standard queue's dead letters count from when the message was first sent;
 * in a FIFO queue the count starts anew, so that its time in the source comes on top.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
 */
export function longestRedeliverySeconds(keeping: Keeping): number {
  const { fifo, queueRetentionSeconds, deadLetterRetentionSeconds, outboxSeconds } = keeping
  const beforeDeadLetters = fifo && deadLetterRetentionSeconds > 0 ? queueRetentionSeconds : 0
  return outboxSeconds + beforeDeadLetters + deadLetterRetentionSeconds + queueRetentionSeconds
}
