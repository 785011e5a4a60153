import type { OutboxTarget } from '../operation/commit-plan.ts'
import type { StoredValue } from '../record/record.ts'

/** A message as it lies in the outbox. */
export interface OutboxEntry {
  /** The same for every try to send it: its deduplication id and its `Idempotency-Key`. */
  readonly messageId: string
  readonly to: OutboxTarget
  readonly body: StoredValue
  readonly attributes?: Readonly<Record<string, string>>
  readonly groupId?: string
  /** Not to be delivered before, in ms. */
  readonly notBeforeMs?: number
  /** Its place among the messages of its commit. */
  readonly position: number
  readonly createdAtMs: number
  /** `pending` until it was sent; `stuck` when its target refuses it. Neither ever expires. */
  readonly state: 'pending' | 'dispatched' | 'stuck'
}

/** A checked message, with its body as it will be sent. */
export interface ReadyMessage {
  readonly messageId: string
  readonly to: OutboxTarget
  readonly text: string
  readonly attributes: Readonly<Record<string, string>>
  readonly groupId: string | undefined
  readonly delaySeconds: number
}

/** Attribute and header under which a message carries its id. */
export const MESSAGE_KEY_ATTRIBUTE = 'Idempotency-Key'
/** Attribute under which a message names the operation that sent it. */
export const OPERATION_ATTRIBUTE = 'Operation-Id'
/** Attribute by which a message says that it continues a suspended operation, and which continuation it is. */
export const CONTINUATION_ATTRIBUTE = 'Continuation-Id'

/**
 * What a message may have, in bytes: SQS and asynchronous invocations take 1 MiB, SNS 256 KiB; for EventBridge the limit
 * that holds in every region.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
 * @see https://docs.aws.amazon.com/sns/latest/dg/sns-message-attributes.html
 */
export const LIMIT_BYTES = {
  queueUrl: 1_048_576,
  functionName: 1_048_576,
  topicArn: 262_144,
  eventBusName: 262_144,
} as const

/** Left for what is added on the way: ids, the envelope of an event. */
export const RESERVED_BYTES = 1_024

/** Whether the target keeps an order within message groups. */
export function isFifo(to: OutboxTarget): boolean {
  const name = 'queueUrl' in to ? to.queueUrl : 'topicArn' in to ? to.topicArn : ''
  return name.endsWith('.fifo')
}
