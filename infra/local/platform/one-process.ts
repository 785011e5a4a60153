import { isDeepStrictEqual } from 'node:util'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { APIGatewayProxyEventV2WithJWTAuthorizer, SQSEvent } from 'aws-lambda'
import { type Order, ordersApi } from '../../../functions/orders/place-order.ts'
import { requestPaymentOn } from '../../../functions/orders/request-payment.ts'
import { paymentsWorker } from '../../../functions/payments/charge-orders.ts'
import { idempotencyIn } from '../../../functions/shared/idempotency.ts'
import { memoryStore } from '../../../lib/memory/index.ts'
import { captureOutput } from '../lambda/captured-output.ts'
import { createInProcessFunction, type InProcessFunctionOptions } from '../lambda/in-process-function.ts'
import type { LocalModel } from '../template/model.ts'
import type { FunctionStart, Platform } from './platform.ts'

type OrderRows = Map<string, Order>

/** The platform that needs no Java: this project's functions in this very process, on the in-memory store. */
export function startOneProcess(): Platform {
  const store = memoryStore()
  const tables = new Map<string, OrderRows>()
  const output = captureOutput()
  const clients: SQSClient[] = []

  const rowsOf = (tableName: string): OrderRows => {
    const rows = tables.get(tableName)
    if (rows === undefined) throw new Error(`no table ${tableName} in the template`)
    return rows
  }

  /** The same function as in the bundle, given other neighbours. */
  const handlerOf = (start: FunctionStart): InProcessFunctionOptions['handler'] => {
    const { name, environment } = start.definition
    const variable = variables(name, { ...environment, ...start.overrides })
    const idempotency = (namespace: string) =>
      idempotencyIn(store, { namespace, retentionSeconds: Number(variable('RETENTION_SECONDS')) })
    if ('PAYMENT_PROVIDER_URL' in environment) {
      const providerUrl = variable('PAYMENT_PROVIDER_URL')
      const handler = paymentsWorker({ idempotency: idempotency('payments'), providerUrl })
      return (event, context) => handler(event as SQSEvent, context as Parameters<typeof handler>[1])
    }
    if ('ORDERS_TABLE' in environment) {
      const rows = rowsOf(variable('ORDERS_TABLE'))
      const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
      const sqs = new SQSClient({ endpoint: start.sqsEndpoint, region: start.region, credentials })
      clients.push(sqs)
      const handler = ordersApi({
        idempotency: idempotency('orders'),
        saveOrder: async (order) => saveOnce(rows, order),
        requestPayment: requestPaymentOn(sqs, variable('PAYMENTS_QUEUE_URL')),
      })
      return (event, context) =>
        handler(event as APIGatewayProxyEventV2WithJWTAuthorizer, context as Parameters<typeof handler>[1])
    }
    throw new Error(`${name} can only run in processes of its own, on DynamoDB`)
  }

  return Object.freeze({
    createTables: async ({ tables: definitions }: LocalModel) => {
      for (const { name } of definitions) tables.set(name, new Map())
    },
    startFunction: (start: FunctionStart) => createInProcessFunction({ ...start, output, handler: handlerOf(start) }),
    processesOf: () => undefined,
    items: async (tableName: string) => [...rowsOf(tableName).values()],
    stop: async () => {
      output.stop()
      for (const client of clients) client.destroy()
    },
  })
}

function variables(functionName: string, environment: { readonly [name: string]: string }): (name: string) => string {
  return (name) => {
    const value = environment[name]
    if (value === undefined) throw new Error(`${functionName} has no variable ${name} in the template`)
    return value
  }
}

/** What the condition on the row does in DynamoDB. */
function saveOnce(rows: OrderRows, order: Order): boolean {
  const existing = rows.get(order.orderId)
  if (existing !== undefined) return isDeepStrictEqual(existing, order)
  rows.set(order.orderId, order)
  return true
}
