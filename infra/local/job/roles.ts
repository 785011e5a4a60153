import { PARTS, type PartName } from '../parts.ts'
import type { LocalFunction, LocalJwtAuthorizer, LocalModel, LocalQueue } from '../template/model.ts'

/** What the job needs to know of the template by its part in the play. */
export interface Roles {
  /** The functions that are there. */
  readonly functions: ReadonlyMap<PartName, LocalFunction>
  readonly authorizer: LocalJwtAuthorizer
  readonly ordersTable: string
  readonly paymentsQueue: LocalQueue
  readonly deadLetterQueue: LocalQueue
  /** Every queue that some function works off. */
  readonly workedQueues: readonly LocalQueue[]
}

/** Finds the roles in a model. @throws Error naming what the template lacks. */
export function findRoles(model: LocalModel): Roles {
  const need = <Value>(value: Value | undefined, what: string): Value => {
    if (value === undefined) throw new Error(`the job needs ${what} in the template`)
    return value
  }
  const functions = new Map(
    PARTS.flatMap(({ name, find }) => {
      const found = find(model)
      return found ? [[name, found] as const] : []
    }),
  )
  const route = model.routes.find(({ routeKey }) => routeKey === 'POST /orders')
  const api = need(functions.get('orders-api'), 'a route POST /orders with its function')
  const worker = need(functions.get('payments-worker'), 'a function with the variable PAYMENT_PROVIDER_URL')
  const mapping = need(
    model.queueMappings.find(({ functionName }) => functionName === worker.name),
    `a queue for ${worker.name}`,
  )
  const queueWith = (queueArn: string): LocalQueue =>
    need(
      model.queues.find(({ arn }) => arn === queueArn),
      `the queue ${queueArn}`,
    )
  const paymentsQueue = queueWith(mapping.queueArn)
  const redrive = need(paymentsQueue.redrive, `a redrive policy on ${paymentsQueue.name}`)
  return {
    functions,
    authorizer: need(route?.authorizer, 'a JWT authorizer on POST /orders'),
    ordersTable: need(api.environment.ORDERS_TABLE, `the variable ORDERS_TABLE on ${api.name}`),
    paymentsQueue,
    deadLetterQueue: queueWith(redrive.deadLetterQueueArn),
    workedQueues: [...new Set(model.queueMappings.map(({ queueArn }) => queueWith(queueArn)))],
  }
}
