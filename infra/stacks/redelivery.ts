import { Duration } from 'aws-cdk-lib'

/** How long the payments queue keeps a message that nobody has managed to work off. */
export const QUEUE_RETENTION: Duration = Duration.days(4)

/**
 * How long the dead-letter queue keeps it. SQS's maximum, and longer than the source's: a standard queue counts from
 * when the message was first sent, so that an equal retention could delete it as soon as it arrives.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
 */
export const DEAD_LETTER_RETENTION: Duration = Duration.days(14)

/**
 * How long an operation has to protect: until the last possible delivery of its message, which may be moved back from
 * the dead-letter queue on its last day and then wait once more in the source.
 */
export const OPERATION_RETENTION: Duration = QUEUE_RETENTION.plus(DEAD_LETTER_RETENTION)
