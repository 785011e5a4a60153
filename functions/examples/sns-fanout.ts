import type { SNSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { eventHandler, sns } from '../../lib/event/index.ts'
import type { Idempotency } from '../../lib/index.ts'

const OrderPlacedSchema = v.pipe(v.string(), v.parseJson(), v.object({ orderId: v.string(), cents: v.number() }))

/** What the topic tells its subscribers. */
export type OrderPlaced = v.InferOutput<typeof OrderPlacedSchema>

/** What a subscriber works with. */
export interface SubscriberOptions {
  /**
   * With a namespace of the subscriber's own. Under a shared one the first subscriber's work would count as the
   * second's: both get the same message, under the same id.
   */
  readonly idempotency: Idempotency
  /** The subscriber's effect, behind a key that its third party honours. */
  readonly act: (order: OrderPlaced, idempotencyKey: string) => Promise<void>
}

/**
 * One of several functions that a topic invokes. SNS delivers to each at least once; each does its part once for every
 * message, whatever the others do.
 */
export function subscriber({ idempotency, act }: SubscriberOptions) {
  return eventHandler({ idempotency, source: sns() }, async ({ Records: [record] }: SNSEvent, { operation }) => {
    const order = v.parse(OrderPlacedSchema, record?.Sns.Message)
    await operation.step('act', ({ idempotencyKey }) => act(order, idempotencyKey))
  })
}
