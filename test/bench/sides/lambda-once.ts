import { batchHandler } from '../../../lib/batch/index.ts'
import { dynamoStore } from '../../../lib/dynamodb/index.ts'
import { createIdempotency } from '../../../lib/index.ts'
import type { Order, Side, SideSettings } from './side.ts'

/** lambda-once as its README says, with the defaults. */
export function createSide({ client, tableName, result, concurrency }: SideSettings): Side {
  const idempotency = createIdempotency({ store: dynamoStore({ tableName, client }), namespace: 'orders' })
  return {
    once: (order, context) => idempotency.run({ key: order.id, input: order, context }, result),
    batch: batchHandler<Order>({ idempotency, concurrency }, ({ body }) => body.id && result()),
  }
}
