import type { LocalFunction, LocalJwtAuthorizer, LocalModel, LocalQueue } from '../template/model.ts'

/** What the job needs to know of the template by its part in the play. */
export interface Roles {
  readonly authorizer: LocalJwtAuthorizer
  readonly ordersTable: string
  readonly worker: LocalFunction
  readonly paymentsQueue: LocalQueue
  readonly deadLetterQueue: LocalQueue
  readonly maxReceiveCount: number
}

/** Finds the roles in a model. @throws Error naming what the template lacks. */
export function findRoles(model: LocalModel): Roles {
  const need = <Value>(value: Value | undefined, what: string): Value => {
    if (value === undefined) throw new Error(`the job needs ${what} in the template`)
    return value
  }
  const route = need(
    model.routes.find(({ routeKey }) => routeKey === 'POST /orders'),
    'a route POST /orders',
  )
  const api = need(
    model.functions.find(({ name }) => name === route.functionName),
    `the function of POST /orders (${route.functionName})`,
  )
  const worker = need(
    model.functions.find(({ environment }) => 'PAYMENT_PROVIDER_URL' in environment),
    'a function with the variable PAYMENT_PROVIDER_URL',
  )
  const mapping = need(
    model.mappings.find(({ functionName }) => functionName === worker.name),
    `a queue for ${worker.name}`,
  )
  const paymentsQueue = need(
    model.queues.find(({ arn }) => arn === mapping.queueArn),
    `the queue ${mapping.queueArn}`,
  )
  const redrive = need(paymentsQueue.redrive, `a redrive policy on ${paymentsQueue.name}`)
  return {
    authorizer: need(route.authorizer, 'a JWT authorizer on POST /orders'),
    ordersTable: need(api.environment.ORDERS_TABLE, `the variable ORDERS_TABLE on ${api.name}`),
    worker,
    paymentsQueue,
    deadLetterQueue: need(
      model.queues.find(({ arn }) => arn === redrive.deadLetterQueueArn),
      `the queue ${redrive.deadLetterQueueArn}`,
    ),
    maxReceiveCount: redrive.maxReceiveCount,
  }
}
