import { SQSClient } from '@aws-sdk/client-sqs'
import type { APIGatewayProxyEventV2WithJWTAuthorizer, SQSEvent } from 'aws-lambda'
import { type Order, ordersApi } from '../../../functions/orders/place-order.ts'
import { requestPaymentOn } from '../../../functions/orders/request-payment.ts'
import { type Saved, whatIsSaved } from '../../../functions/orders/saved-order.ts'
import { paymentsWorker } from '../../../functions/payments/charge-orders.ts'
import { idempotencyIn } from '../../../functions/shared/idempotency.ts'
import { memoryStore } from '../../../lib/memory/index.ts'
import { captureOutput } from '../lambda/captured-output.ts'
import { createInProcessFunction, type InProcessFunctionOptions } from '../lambda/in-process-function.ts'
import { type PartName, partOf } from '../parts.ts'
import type { LocalFunction, LocalModel } from '../template/model.ts'
import type { FunctionStart, Platform } from './platform.ts'

type OrderRow = Order & { readonly createdAt: string; readonly paymentRequestedAt?: string }
type OrderRows = Map<string, OrderRow>
type Handler = InProcessFunctionOptions['handler']

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

  const variablesOf = ({ definition, overrides }: FunctionStart) =>
    variables(definition.name, { ...definition.environment, ...overrides })
  const idempotencyOf = (start: FunctionStart, namespace: string) =>
    idempotencyIn(store, { namespace, retentionSeconds: Number(variablesOf(start)('RETENTION_SECONDS')) })

  // The same functions as in the bundles, given other neighbours. A part without an entry needs processes of its own.
  const handlers: { readonly [Name in PartName]?: (start: FunctionStart) => Handler } = {
    'orders-api': (start) => {
      const variable = variablesOf(start)
      const rows = rowsOf(variable('ORDERS_TABLE'))
      const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
      const sqs = new SQSClient({ endpoint: start.sqsEndpoint, region: start.model.region, credentials })
      clients.push(sqs)
      const handler = ordersApi({
        idempotency: idempotencyOf(start, 'orders'),
        saveOrder: async (order) => saveOnce(rows, order),
        requestPayment: requestPaymentOn(sqs, variable('PAYMENTS_QUEUE_URL')),
        notePaymentRequested: async (orderId) => notePaymentRequested(rows, orderId),
      })
      return (event, context) =>
        handler(event as APIGatewayProxyEventV2WithJWTAuthorizer, context as Parameters<typeof handler>[1])
    },
    'payments-worker': (start) => {
      const providerUrl = variablesOf(start)('PAYMENT_PROVIDER_URL')
      const handler = paymentsWorker({ idempotency: idempotencyOf(start, 'payments'), providerUrl })
      return (event, context) => handler(event as SQSEvent, context as Parameters<typeof handler>[1])
    },
  }
  const handlerFor = (definition: LocalFunction, model: LocalModel) => {
    const part = partOf(definition, model)
    return part && handlers[part]
  }

  return Object.freeze({
    dynamoDbEndpoint: undefined,
    canRun: (definition: LocalFunction, model: LocalModel) => handlerFor(definition, model) !== undefined,
    createTables: async ({ tables: definitions }: LocalModel) => {
      for (const { name } of definitions) tables.set(name, new Map())
    },
    startFunction: (start: FunctionStart) => {
      const handler = handlerFor(start.definition, start.model)
      if (handler === undefined) throw new Error(`${start.definition.name} can only run in processes of its own`)
      return createInProcessFunction({ ...start, output, handler: handler(start) })
    },
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
function saveOnce(rows: OrderRows, order: Order): Saved {
  const existing = rows.get(order.orderId)
  if (existing !== undefined) return whatIsSaved(existing, order, Date.now())
  rows.set(order.orderId, { ...order, createdAt: new Date().toISOString() })
  return 'payment-due'
}

function notePaymentRequested(rows: OrderRows, orderId: string): void {
  const row = rows.get(orderId)
  if (row === undefined) throw new Error(`no order ${orderId}`)
  rows.set(orderId, { ...row, paymentRequestedAt: new Date().toISOString() })
}
