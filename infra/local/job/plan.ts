/** The body of `POST /orders`. */
export interface OrderBody {
  readonly customerId: string
  readonly items: readonly { readonly sku: string; readonly quantity: number; readonly unitPriceCents: number }[]
  readonly currency: string
}

/** One order that somebody means to place exactly once, and how badly they go about it. */
export interface PlannedOrder {
  readonly index: number
  readonly principal: string
  readonly key: string
  readonly body: OrderBody
  readonly totalCents: number
  /** When each of the 1–5 clients posts it, after the first. */
  readonly copyDelaysMs: readonly number[]
  /** Its only client posts it once and never comes back, whatever the answer. */
  readonly abandons: boolean
  /** Posts it again with another body under the same key. */
  readonly thenOtherBody: boolean
  /** Posts it without a key as well. */
  readonly alsoWithoutKey: boolean
  /** Posts it without a token as well. */
  readonly alsoWithoutToken: boolean
}

/** The callers; their tokens differ in the subject. */
export const PRINCIPALS = ['alice', 'bob', 'carol', 'dave']

/**
 * Of the first orders of a run, so many, 0–1, some are abandoned: among the first, because what nobody comes back for is
 * finished more than a minute later.
 */
export const ABANDONED_SHARE = 0.1

const MOST_COPIES = 5
// Several payments for each account, so that they contend for its balance.
const ORDERS_PER_CUSTOMER = 8
// Half of the copies come while the first is being worked on, the rest after it.
const COPY_SPREAD_MS = 600

/** Plans the orders of a run; the same random source plans the same orders. */
export function planOrders(count: number, random: () => number): PlannedOrder[] {
  const below = (limit: number): number => Math.floor(random() * limit)
  const orders: PlannedOrder[] = []
  for (let index = 0; index < count; index += 1) {
    const previous = orders[index - 1]
    // Every tenth order has the very key and body of the one before it, from another caller: two orders, not one.
    const twin = index % 10 === 9 ? previous : undefined
    const abandons = index < count * ABANDONED_SHARE && index % 10 < 8
    const customer = below(Math.ceil(count / ORDERS_PER_CUSTOMER))
    const body = twin?.body ?? {
      customerId: abandons ? `abandoner-${index}` : `customer-${customer}`,
      items: Array.from({ length: 1 + below(3) }, (_, item) => ({
        sku: `sku-${item}-${below(100)}`,
        quantity: 1 + below(4),
        unitPriceCents: 100 + below(5000),
      })),
      currency: 'EUR',
    }
    orders.push({
      index,
      principal: PRINCIPALS[index % PRINCIPALS.length] ?? '',
      key: twin?.key ?? `order-${index}-${below(1e9).toString(36)}`,
      body,
      totalCents: body.items.reduce((sum, { quantity, unitPriceCents }) => sum + quantity * unitPriceCents, 0),
      copyDelaysMs: Array.from({ length: abandons ? 1 : 1 + below(MOST_COPIES) }, (_, copy) =>
        copy === 0 ? 0 : below(COPY_SPREAD_MS),
      ),
      abandons,
      thenOtherBody: index % 8 === 3 && !abandons,
      alsoWithoutKey: index % 16 === 5 && !abandons,
      alsoWithoutToken: index % 32 === 7 && !abandons,
    })
  }
  return orders
}
