import type { CommitWrite } from '../order/commit-write.ts'

/** Where a message goes. */
export type OutboxTarget =
  | { readonly queueUrl: string }
  | { readonly topicArn: string }
  | { readonly eventBusName: string; readonly source: string; readonly detailType: string }
  /** A function that is invoked asynchronously. */
  | { readonly functionName: string }

/** A message that is sent when the commit it belongs to was written. */
export interface OutboxMessage {
  readonly to: OutboxTarget
  /** Sent as it is when it is a string, else as JSON. */
  readonly body: unknown
  /**
   * Tells the messages of one commit apart, whatever their order.
   * @defaultValue its place in the list
   */
  readonly name?: string
  /** String attributes of an SQS or SNS message; at most 8. */
  readonly attributes?: Readonly<Record<string, string>>
  /**
   * The message group of a FIFO queue or topic.
   * @defaultValue the operation's id: what one operation sends stays in order
   */
  readonly groupId?: string
  /** How long a standard queue holds it back, in seconds, at most 900. */
  readonly delaySeconds?: number
}

/** What is written together with the completion of the operation: everything, or nothing. */
export interface CommitPlan {
  readonly writes?: readonly CommitWrite[]
  /** Messages that are sent when, and only when, the commit was written. Needs an outbox relay. */
  readonly messages?: readonly OutboxMessage[]
  /** Evidence of the effect, kept longer than the record; read back with `idempotency.receipts`. */
  readonly receipt?: unknown
}
