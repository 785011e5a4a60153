import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { PlacedOrder } from './audit.ts'
import type { PostOrder } from './client.ts'
import type { PlannedOrder } from './plan.ts'

// How many orders are on their way at once; each has up to five clients.
const ORDERS_AT_ONCE = 20
// So many orders without a single one created are no bad luck but a service that does not run.
const HOPELESS_ORDERS = 10

/** What became of the posts that were meant to be refused. */
export interface RefusedPosts {
  /** In words, those that were not refused as they should have been. */
  readonly problems: readonly string[]
}

/** Options of {@link placeOrders}. */
export interface PlaceOrdersOptions {
  readonly orders: readonly PlannedOrder[]
  readonly post: PostOrder
  readonly tokenOf: (principal: string) => string
  readonly onPlaced: (order: PlannedOrder) => void
  readonly signal: AbortSignal
}

/** Has every order posted by all of its clients, good posts and bad ones, and collects what they were told. */
export async function placeOrders(
  options: PlaceOrdersOptions,
): Promise<{ readonly placed: readonly PlacedOrder[] } & RefusedPosts> {
  const { orders, post, tokenOf, onPlaced, signal } = options
  const problems: string[] = []
  let failedOrders = 0
  let anyCreated = false

  const expectStatus = async (
    order: PlannedOrder,
    what: string,
    expected: number,
    answer: Promise<{ status: number }>,
  ) => {
    const { status } = await answer
    if (status !== expected) problems.push(`order ${order.index} ${what}: answered ${status}, not ${expected}`)
  }

  const place = async (order: PlannedOrder): Promise<PlacedOrder> => {
    const { key, body } = order
    const token = tokenOf(order.principal)
    const goodPosts = order.copyDelaysMs.map(async (delayMs) => {
      await sleep(delayMs, undefined, { signal })
      return post({ body, key, token, abandons: order.abandons })
    })
    const [copies] = await Promise.all([
      Promise.all(goodPosts),
      order.alsoWithoutKey && expectStatus(order, 'without a key', 400, post({ body, token })),
      order.alsoWithoutToken && expectStatus(order, 'without a token', 401, post({ body, key })),
    ])
    if (order.thenOtherBody) {
      // Only now: sent earlier it could win the claim, and would then be the order.
      const other = { ...body, customerId: `${body.customerId}-other` }
      await expectStatus(order, 'with another body', 422, post({ body: other, key, token }))
    }
    if (copies.some(({ status }) => status === 201)) anyCreated = true
    else if (!order.abandons) failedOrders += 1
    if (!anyCreated && failedOrders >= HOPELESS_ORDERS) {
      throw new Error(
        `none of ${failedOrders} orders was accepted, the last answer was ${copies.at(-1)?.status}: see the logs`,
      )
    }
    onPlaced(order)
    return { order, copies }
  }

  const limit = pLimit(ORDERS_AT_ONCE)
  const placed = await Promise.all(orders.map((order) => limit(() => place(order))))
  return { placed, problems }
}
