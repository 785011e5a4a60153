import { LambdaClient } from '@aws-sdk/client-lambda'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { APIGatewayProxyEventV2, APIGatewayProxyEventV2WithJWTAuthorizer, Context, SQSEvent } from 'aws-lambda'
import { ledgerWorker } from '../../../functions/ledger/apply-balances.ts'
import { type Order, ordersApi } from '../../../functions/orders/place-order.ts'
import { requestPaymentOn } from '../../../functions/orders/request-payment.ts'
import { type Saved, whatIsSaved } from '../../../functions/orders/saved-order.ts'
import { paymentsWorker } from '../../../functions/payments/charge-orders.ts'
import type { LastEntry } from '../../../functions/payments/ledger.ts'
import { providerAt } from '../../../functions/payments/provider.ts'
import { idempotencyIn, NAMESPACES, type Namespace } from '../../../functions/shared/idempotency.ts'
import { paymentWebhook } from '../../../functions/webhook/take-event.ts'
import { type MemoryStore, memoryStore } from '../../../lib/memory/index.ts'
import { createSender } from '../../../lib/outbox/index.ts'
import { captureOutput } from '../lambda/captured-output.ts'
import { createInProcessFunction, type InProcessFunctionOptions } from '../lambda/in-process-function.ts'
import { type PartName, partOf } from '../parts.ts'
import type { LocalFunction, LocalModel } from '../template/model.ts'
import { type MemoryRelay, startMemoryRelay } from './memory-relay.ts'
import { createMemoryTables, type MemoryTables } from './memory-tables.ts'
import type { FunctionStart, Platform } from './platform.ts'

type Handler = InProcessFunctionOptions['handler']

/** Also by which the books' reader finds the records. */
const TABLE_VARIABLE = 'IDEMPOTENCY_TABLE'

/** The platform that needs no Java: this project's functions in this very process, on the in-memory store. */
export function startOneProcess(): Platform {
  const tables = createMemoryTables()
  const store = memoryStore({ transact: tables.transact })
  const output = captureOutput()
  const stopping: (() => Promise<void> | void)[] = []
  let operationsTable: string | undefined
  let relay: MemoryRelay | undefined

  const variablesOf = ({ definition, overrides }: FunctionStart) =>
    variables(definition.name, { ...definition.environment, ...overrides })
  const settingsOf = (start: FunctionStart) => {
    const variable = variablesOf(start)
    return {
      retentionSeconds: Number(variable('RETENTION_SECONDS')),
      reconcilerShards: Number(variable('RECONCILER_SHARDS')),
    }
  }
  const idempotencyOf = (start: FunctionStart, namespace: Namespace) =>
    idempotencyIn(store, namespace, settingsOf(start))
  const clientsOf = ({ model: { region }, sqsEndpoint, lambdaEndpoint }: FunctionStart) => {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
    const sqs = new SQSClient({ endpoint: sqsEndpoint, region, credentials })
    const lambda = new LambdaClient({ endpoint: lambdaEndpoint, region, credentials })
    stopping.push(
      () => sqs.destroy(),
      () => lambda.destroy(),
    )
    return { sqs, lambda }
  }

  // The same functions as in the bundles, given other neighbours. A part without an entry needs processes of its own.
  const handlers: { readonly [Name in PartName]?: (start: FunctionStart) => Handler } = {
    'orders-api': (start) => {
      const variable = variablesOf(start)
      const ordersTable = variable('ORDERS_TABLE')
      tables.items(ordersTable)
      const handler = ordersApi({
        idempotency: idempotencyOf(start, 'orders'),
        saveOrder: async (order) => saveOnce(tables, ordersTable, order),
        requestPayment: requestPaymentOn(clientsOf(start).sqs, variable('PAYMENTS_QUEUE_URL')),
        notePaymentRequested: async (orderId) => notePaymentRequested(tables, ordersTable, orderId),
        functionName: start.definition.name,
      })
      return (event, context) =>
        handler(event as APIGatewayProxyEventV2WithJWTAuthorizer, context as Parameters<typeof handler>[1])
    },
    'payments-worker': (start) => {
      const variable = variablesOf(start)
      const ledgerTable = variable('LEDGER_TABLE')
      const handler = paymentsWorker({
        idempotency: idempotencyOf(start, 'payments'),
        provider: providerAt(variable('PAYMENT_PROVIDER_URL')),
        books: {
          ledgerTable,
          lastEntry: async (account) => lastEntryIn(tables, ledgerTable, account),
          ordersTable: variable('ORDERS_TABLE'),
          orderPaidQueueUrl: variable('ORDER_PAID_QUEUE_URL'),
        },
        queueUrl: variable('PAYMENTS_QUEUE_URL'),
      })
      return (event, context) => handler(event as SQSEvent, context as Parameters<typeof handler>[1])
    },
    'payment-webhook': (start) => {
      const handler = paymentWebhook({
        events: idempotencyOf(start, 'payment-events'),
        payments: idempotencyOf(start, 'payments'),
        secret: variablesOf(start)('PAYMENT_WEBHOOK_SECRET'),
      })
      return (event, context) => handler(event as APIGatewayProxyEventV2, context as Context)
    },
    'ledger-worker': (start) => {
      const handler = ledgerWorker({
        idempotency: idempotencyOf(start, 'balances'),
        balancesTable: variablesOf(start)('BALANCES_TABLE'),
      })
      return (event, context) => handler(event as SQSEvent, context as Parameters<typeof handler>[1])
    },
  }
  const handlerFor = (definition: LocalFunction, model: LocalModel) => {
    const part = partOf(definition, model)
    return part && handlers[part]
  }

  return Object.freeze({
    dynamoDbEndpoint: undefined,
    store,
    canRun: (definition: LocalFunction, model: LocalModel) => handlerFor(definition, model) !== undefined,
    createTables: async ({ tables: definitions }: LocalModel) => tables.create(definitions),
    startFunction: (start: FunctionStart) => {
      const handler = handlerFor(start.definition, start.model)
      if (handler === undefined) throw new Error(`${start.definition.name} can only run in processes of its own`)
      operationsTable ??= start.definition.environment[TABLE_VARIABLE]
      const started = handler(start)
      relay ??= startMemoryRelay({
        store,
        sender: createSender(clientsOf(start)),
        namespaces: NAMESPACES,
        reconcilerShards: settingsOf(start).reconcilerShards,
        onSent: () => start.onLine('{"event":"outbox-dispatched"}'),
      })
      return createInProcessFunction({ ...start, output, handler: started })
    },
    processesOf: () => undefined,
    items: async (tableName: string) =>
      tableName === operationsTable ? operationItems(store) : tables.items(tableName),
    stop: async () => {
      output.stop()
      await relay?.stop()
      for (const stop of stopping) await stop()
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

/** The items as they would lie in DynamoDB. */
async function operationItems(store: MemoryStore): Promise<Record<string, unknown>[]> {
  const items = store.records().map(async ({ id, ...record }) => {
    const beside = await store.listBeside(id, '')
    return [{ ...record, pk: id, sk: 'op' }, ...beside.map(({ sk, attributes }) => ({ ...attributes, pk: id, sk }))]
  })
  return (await Promise.all(items)).flat()
}

function saveOnce(tables: MemoryTables, tableName: string, order: Order): Saved {
  const existing = tables.get(tableName, { orderId: order.orderId })
  if (existing !== undefined) return whatIsSaved(existing, order, Date.now())
  tables.put(tableName, { ...order, status: 'pending', createdAt: new Date().toISOString() })
  return 'payment-due'
}

function notePaymentRequested(tables: MemoryTables, tableName: string, orderId: string): void {
  const row = tables.get(tableName, { orderId })
  if (row === undefined) throw new Error(`no order ${orderId}`)
  tables.put(tableName, { ...row, paymentRequestedAt: new Date().toISOString() })
}

function lastEntryIn(tables: MemoryTables, tableName: string, account: string): LastEntry | undefined {
  const entries = tables.items(tableName).filter((item) => item.account === account)
  const [last] = entries.sort((one, other) => Number(other.sequence) - Number(one.sequence))
  return last && { sequence: Number(last.sequence), balanceCents: Number(last.balanceCents) }
}
