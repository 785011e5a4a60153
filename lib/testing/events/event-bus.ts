import { randomUUID } from 'node:crypto'
import type { EventBridgeEvent } from 'aws-lambda'
import { START_MS } from '../fake-clock.ts'
import { checkDescribed } from './described.ts'
import { ACCOUNT, REGION } from './request.ts'

/** What a test says of an event of a bus; the rest is filled in as EventBridge does. */
export interface EventBusOptions<D> {
  readonly detail: D
  /** @defaultValue 'OrderPlaced' */
  readonly detailType?: string
  /** @defaultValue 'shop.orders' */
  readonly source?: string
  /** @defaultValue a new one */
  readonly id?: string
  readonly resources?: readonly string[]
}

/**
 * An event of an EventBridge bus, or of a schedule.
 *
 * @example
 * const event = eventBusEvent({ detail: { orderId: 'order-1' } })
 *
 * @throws InvalidOptionError when it is described wrongly
 */
export function eventBusEvent<D>(options: EventBusOptions<D>): EventBridgeEvent<string, D> {
  checkDescribed('eventBusEvent', options, ['detail', 'detailType', 'source', 'id', 'resources'])
  const { detail, detailType = 'OrderPlaced', source = 'shop.orders', id = randomUUID(), resources = [] } = options
  return {
    version: '0',
    id,
    'detail-type': detailType,
    source,
    account: ACCOUNT,
    time: new Date(START_MS).toISOString(),
    region: REGION,
    resources: [...resources],
    detail,
  }
}
