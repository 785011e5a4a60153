/** What is known of a queue's dead letters. */
export type DeadLetterFacts =
  | { readonly kind: 'none' | 'unknown' }
  | {
      readonly kind: 'known'
      readonly fifo: boolean
      readonly retentionSeconds?: number
      readonly maxReceiveCount?: number
    }

/** What is known of a queue, the function that consumes it, and the mapping between them. Absent: not known. */
export interface QueueFacts {
  readonly fifo: boolean
  readonly visibilitySeconds?: number
  readonly queueRetentionSeconds?: number
  readonly deadLetters: DeadLetterFacts
  readonly functionTimeoutSeconds?: number
  readonly reservedConcurrency?: number
  /** Only when the application sets a lease of its own. */
  readonly leaseSeconds?: number
  /** How long a finished operation's record protects. */
  readonly recordRetentionSeconds?: number
  /** How long a message may lie in an outbox before it comes into the queue; 0 when no relay sends into it. */
  readonly outboxSeconds: number
  readonly batchSize?: number
  readonly batchingWindowSeconds?: number
  readonly maxConcurrency?: number
  readonly reportsBatchItemFailures: boolean
  readonly filters: number
  readonly acknowledgeDrop: boolean
  /** Whether the consumer has a role that can be granted the queue. */
  readonly consumerHasRole: boolean
}

/** Whether both numbers are known and the first is too low. */
export const below = (value: number | undefined, least: number | undefined): boolean =>
  value !== undefined && least !== undefined && value < least

/** Whether both numbers are known and the first is too high. */
export const over = (value: number | undefined, most: number | undefined): boolean => below(most, value)
