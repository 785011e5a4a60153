import { afterAll, expect, test, vi } from 'vitest'
import { startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import { sqsEvent } from '../../infra/local/event-source-mapping/sqs-event.ts'
import { startProvider } from './payment-provider.ts'
import {
  batchOf,
  invoker,
  orderEvent,
  relayed,
  useIdempotencyTable,
  useOrdersTable,
  usePaymentsQueue,
  useTable,
} from './service.ts'

const [emulator, provider] = await Promise.all([startSqsEmulator(), startProvider()])
afterAll(() => Promise.all([emulator.stop(), provider.stop()]))
await useIdempotencyTable()
const orders = await useOrdersTable()
const ledger = await useTable('LEDGER_TABLE', { account: 'S', sequence: 'N' })
const balances = await useTable('BALANCES_TABLE', { account: 'S' })
const queue = await usePaymentsQueue(emulator.endpoint)
process.env.PAYMENT_PROVIDER_URL = provider.url
process.env.ORDER_PAID_QUEUE_URL = `${emulator.endpoint}/000000000000/order-paid.fifo`
const post = invoker((await import('../../functions/orders-api.ts')).handler)
const deliver = invoker((await import('../../functions/payments-worker.ts')).handler)
const tell = invoker((await import('../../functions/ledger-worker.ts')).handler)

test('an order posted twice and delivered twice is one row, one charge, one ledger entry and a right balance', async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const body = {
    customerId: 'customer-1',
    items: [
      { sku: 'book', quantity: 2, unitPriceCents: 1_250 },
      { sku: 'pen', quantity: 1, unitPriceCents: 99 },
    ],
    currency: 'USD',
  }
  const event = orderEvent({ key: 'order-of-customer-1', body })
  await post(event)
  const { body: answer = '' } = await post(event)

  const delivery = sqsEvent(await queue.receive(), 'arn:aws:sqs:eu-central-1:000000000000:payments')
  expect(delivery.Records).toHaveLength(1)
  for (let time = 1; time <= 2; time++) {
    expect(await deliver(delivery)).toEqual({ batchItemFailures: [] })
  }
  const told = batchOf(...(await relayed()))
  expect(told.Records).toHaveLength(1)
  for (let time = 1; time <= 2; time++) {
    expect(await tell(told)).toEqual({ batchItemFailures: [] })
  }

  const { orderId } = JSON.parse(answer)
  expect(await orders.rows()).toMatchObject([{ orderId, totalCents: 2_599, status: 'paid' }])
  expect(provider.charges).toEqual([{ orderId, amountCents: 2_599, currency: 'USD' }])
  expect(provider.keys).toHaveLength(1)
  expect(await ledger.rows()).toMatchObject([{ orderId, amountCents: 2_599, sequence: 1 }])
  expect(await balances.rows()).toMatchObject([{ account: 'customer-1:USD', balanceCents: 2_599, sequence: 1 }])
})
