import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'

/**
 * What Lambda does to hand a queue's messages to a function.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
 */
export const CONSUME_ACTIONS: readonly string[] = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage']

/** What a message needs to get into a queue. */
export const SEND_ACTIONS: readonly string[] = ['sqs:SendMessage']

/** Lets Lambda hand the queue's messages to a function; CDK's own grant allows two actions more. */
export function grantConsume(grantee: IGrantable, queue: IQueue): Grant {
  queue.encryptionMasterKey?.grant(grantee, 'kms:Decrypt')
  return queue.grant(grantee, ...CONSUME_ACTIONS)
}

/** Lets somebody send messages; CDK's own grant allows reading the queue's attributes as well. */
export function grantSendTo(grantee: IGrantable, queue: IQueue): Grant {
  // SQS asks for both: a data key for the message, and the one before decrypted to use it again.
  queue.encryptionMasterKey?.grant(grantee, 'kms:Decrypt', 'kms:GenerateDataKey')
  return queue.grant(grantee, ...SEND_ACTIONS)
}
