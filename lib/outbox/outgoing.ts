import type { OutboxTarget } from '../operation/commit-plan.ts'

/** A message as it leaves the outbox. */
export interface OutgoingMessage {
  /** The same for every try to send it. */
  readonly messageId: string
  /** The operation that committed it. */
  readonly operationId: string
  readonly to: OutboxTarget
  readonly text: string
  readonly attributes: Readonly<Record<string, string>>
  readonly groupId?: string
  /** Not to be delivered before, in ms. */
  readonly notBeforeMs?: number
}

/** What became of one try to send a message. */
export type SendResult =
  | { readonly kind: 'sent' }
  /** Its target will never take it. `reason` is the service's name for why. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Nobody knows whether it was sent, or it may be sent later. */
  | { readonly kind: 'failed'; readonly error: unknown }

/** One service that takes messages. */
export interface Route {
  /** What one call takes. */
  readonly maxMessages: number
  readonly maxBytes: number
  /** Messages with the same answer can go in one call. */
  batchKey(message: OutgoingMessage): string
  /**
   * Sends messages of one batch key in one call, and answers for each in order.
   * @throws the SDK's error when the call failed as a whole
   */
  send(messages: readonly OutgoingMessage[], signal: AbortSignal | undefined): Promise<readonly SendResult[]>
}
