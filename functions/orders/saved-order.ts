import { isDeepStrictEqual } from 'node:util'
import type { Order } from './place-order.ts'

/** What is to be done about the payment of an order that is saved now, or was before. */
export type Saved =
  /** Ask for it. */
  | 'payment-due'
  /** Nothing: it was asked for. */
  | 'payment-requested'
  /** It may have been asked for, so long ago that asking again could be a second charge. */
  | 'payment-unknown'
  /** There is another order under this id. */
  | 'other-order'

/**
 * How long after an order was saved its payment may be asked for again. The payments worker remembers each order for
 * this much longer than any message can stay in its queues, so that until then a repetition is no second charge.
 */
const REPEATABLE_MS = 86_400_000

/**
 * What the row that is already there says. The row never expires, but all that keeps a repetition from being a second
 * charge does: so it has to say itself that the payment was asked for. It is told after the message was sent; a crash in
 * between leaves a row that does not say it, which is believed only while a second message would do no harm.
 */
export function whatIsSaved(row: Record<string, unknown>, order: Order, nowMs: number): Saved {
  const { status: _status, chargeId: _chargeId, createdAt, paymentRequestedAt, ...existing } = row
  if (!isDeepStrictEqual(existing, order)) return 'other-order'
  if (paymentRequestedAt !== undefined) return 'payment-requested'
  return nowMs - Date.parse(String(createdAt)) < REPEATABLE_MS ? 'payment-due' : 'payment-unknown'
}
