import { SQSClient } from '@aws-sdk/client-sqs'
import type { ScheduledEvent } from 'aws-lambda'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import { sqsEvent } from '../../infra/local/event-source-mapping/sqs-event.ts'
import type { InvocableFunction } from '../../infra/local/lambda/invocation.ts'
import { startInvokeApi } from '../../infra/local/lambda/invoke-api.ts'
import { startProvider } from './payment-provider.ts'
import {
  batchOf,
  invoker,
  messageOf,
  orderEvent,
  relayed,
  useIdempotencyTable,
  useOrdersTable,
  usePaymentsQueue,
  useTable,
} from './service.ts'

/** A lease, and the minute in which a redelivery usually comes. */
const DUE_MS = 120_000
const QUEUE_ARN = 'arn:aws:sqs:eu-central-1:000000000000:payments'

const [emulator, provider] = await Promise.all([startSqsEmulator(), startProvider()])
await useIdempotencyTable()
const orders = await useOrdersTable()
const ledger = await useTable('LEDGER_TABLE', { account: 'S', sequence: 'N' })
const queue = await usePaymentsQueue(emulator.endpoint)
process.env.PAYMENT_PROVIDER_URL = provider.url
process.env.ORDER_PAID_QUEUE_URL = 'http://127.0.0.1:1/000000000000/order-paid.fifo'
const invoked: unknown[] = []
const lambda = await startInvokeApi((name) =>
  name === process.env.AWS_LAMBDA_FUNCTION_NAME
    ? ({
        invoke: async (event: unknown) => ({ kind: 'returned', payload: invoked.push(event) }),
      } as unknown as InvocableFunction)
    : undefined,
)
process.env.AWS_ENDPOINT_URL_LAMBDA = lambda.endpoint
const post = invoker((await import('../../functions/orders-api.ts')).handler)
const deliver = invoker((await import('../../functions/payments-worker.ts')).handler)
const reconcile = invoker((await import('../../functions/reconciler.ts')).handler)
const run = () => reconcile({} as ScheduledEvent)
afterAll(() => Promise.all([emulator.stop(), provider.stop(), lambda.stop()]))

/** What a process does that is killed: it never comes back, as far as anybody sees. */
const forEver = () => new Promise<never>(() => undefined)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(console, 'error').mockReturnValue()
  for (const list of [provider.fates, provider.keys, provider.charges, provider.lookups, invoked]) list.length = 0
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('the reconciler', () => {
  test('has an order finished whose process died and whose client never came back', async () => {
    const body = {
      customerId: `customer-${crypto.randomUUID()}`,
      items: [{ sku: 'book', quantity: 1, unitPriceCents: 500 }],
      currency: 'EUR',
    }
    const dead = Promise.withResolvers<void>()
    vi.spyOn(SQSClient.prototype, 'send').mockImplementationOnce(() => {
      dead.resolve()
      return forEver()
    })
    void post(orderEvent({ key: crypto.randomUUID(), body }))
    await dead.promise
    expect(await run()).toMatchObject({ orders: { redriven: 0 } })

    vi.setSystemTime(Date.now() + DUE_MS)
    expect(await run()).toMatchObject({ orders: { examined: 1, redriven: 1 }, payments: { examined: 0 } })
    await expect.poll(() => invoked).toHaveLength(1)
    expect(await post(invoked[0] as Parameters<typeof post>[0])).toMatchObject({ statusCode: 201 })
    expect((await orders.rows()).filter(({ customerId }) => customerId === body.customerId)).toHaveLength(1)
    expect(await queue.receive()).toHaveLength(1)

    // It is done: nothing of it is found again.
    vi.setSystemTime(Date.now() + 10 * DUE_MS)
    expect(await run()).toMatchObject({ orders: { examined: 0 } })
  })

  test('has a payment finished whose worker died between the charge and its record, and whose message is gone: one charge', async () => {
    const orderId = `order-${crypto.randomUUID()}`
    await orders.add(orderId)
    const order = { orderId, customerId: `customer-${orderId}`, amountCents: 700, currency: 'EUR' }
    provider.fates.push({ status: 503 }, { after: forEver() })
    expect(await deliver(batchOf(messageOf(order)))).toEqual({ batchItemFailures: [] })
    const [continuation] = await relayed()
    vi.setSystemTime(continuation!.notBeforeMs)
    void deliver(batchOf(continuation!))
    await provider.called(2)
    expect(provider.charges).toHaveLength(1)

    vi.setSystemTime(Date.now() + DUE_MS)
    expect(await run()).toMatchObject({ payments: { examined: 1, redriven: 1 } })
    const messages = await queue.receive()
    expect(messages).toHaveLength(1)
    expect(await deliver(sqsEvent(messages, QUEUE_ARN))).toEqual({ batchItemFailures: [] })
    // Each attempt after the first has asked: there was nothing, and then there was.
    expect(provider.lookups).toEqual([orderId, orderId])
    expect(provider.charges).toHaveLength(1)
    expect((await ledger.rows()).filter((entry) => entry.orderId === orderId)).toHaveLength(1)
    expect((await orders.rows()).find((row) => row.orderId === orderId)).toMatchObject({ status: 'paid' })
  })

  test('tells what it did with each family of operations', async () => {
    const lines = vi.mocked(process.stdout.write).mock.calls
    lines.length = 0
    await run()
    expect(lines.map(([line]) => JSON.parse(String(line)))).toMatchObject(
      ['orders', 'payments', 'payment-events', 'balances'].map((namespace) => ({ event: 'reconciled', namespace })),
    )
  })
})
