import { PARTS, type PartName } from '../parts.ts'
import type { LocalFunction, LocalJwtAuthorizer, LocalModel, LocalQueue } from '../template/model.ts'

/** What the job needs to know of the template by its part in the play. */
export interface Roles {
  /** The functions that are there. */
  readonly functions: ReadonlyMap<PartName, LocalFunction>
  readonly authorizer: LocalJwtAuthorizer
  /** The tables, by what is in them. */
  readonly tables: Readonly<Record<'operations' | 'orders' | 'ledger' | 'balances', string>>
  readonly paymentsQueue: LocalQueue
  readonly deadLetterQueue: LocalQueue
  /** Where the ledger worker hears of paid orders. */
  readonly paidOrdersQueue: LocalQueue
  /** Every queue that some function works off. */
  readonly workedQueues: readonly LocalQueue[]
  /** The dead-letter queues of those. */
  readonly deadLetterQueues: readonly LocalQueue[]
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
  const ledgerWorker = need(functions.get('ledger-worker'), 'a function with the variable BALANCES_TABLE')
  const variable = ({ name, environment }: LocalFunction, of: string): string =>
    need(environment[of], `the variable ${of} on ${name}`)
  const queueWith = (queueArn: string): LocalQueue =>
    need(
      model.queues.find(({ arn }) => arn === queueArn),
      `the queue ${queueArn}`,
    )
  const queueOf = ({ name }: LocalFunction): LocalQueue =>
    queueWith(
      need(model.queueMappings.find(({ functionName }) => functionName === name)?.queueArn, `a queue for ${name}`),
    )
  const deadLettersOf = ({ name, redrive }: LocalQueue): LocalQueue =>
    queueWith(need(redrive, `a redrive policy on ${name}`).deadLetterQueueArn)
  const paymentsQueue = queueOf(worker)
  const workedQueues = [...new Set(model.queueMappings.map(({ queueArn }) => queueWith(queueArn)))]
  return {
    functions,
    authorizer: need(route?.authorizer, 'a JWT authorizer on POST /orders'),
    tables: {
      operations: variable(api, 'IDEMPOTENCY_TABLE'),
      orders: variable(api, 'ORDERS_TABLE'),
      ledger: variable(worker, 'LEDGER_TABLE'),
      balances: variable(ledgerWorker, 'BALANCES_TABLE'),
    },
    paymentsQueue,
    deadLetterQueue: deadLettersOf(paymentsQueue),
    paidOrdersQueue: queueOf(ledgerWorker),
    workedQueues,
    deadLetterQueues: workedQueues.filter(({ redrive }) => redrive !== undefined).map(deadLettersOf),
  }
}
