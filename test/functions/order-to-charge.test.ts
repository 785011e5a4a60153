import { afterAll, expect, test, vi } from 'vitest'
import { startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import { sqsEvent } from '../../infra/local/event-source-mapping/sqs-event.ts'
import { startProvider } from './payment-provider.ts'
import { invoker, orderEvent, useIdempotencyTable, useOrdersTable, usePaymentsQueue } from './service.ts'

const [emulator, provider] = await Promise.all([startSqsEmulator(), startProvider()])
afterAll(() => Promise.all([emulator.stop(), provider.stop()]))
await useIdempotencyTable()
const orders = await useOrdersTable()
const queue = await usePaymentsQueue(emulator.endpoint)
process.env.PAYMENT_PROVIDER_URL = provider.url
const post = invoker((await import('../../functions/orders-api.ts')).handler)
const deliver = invoker((await import('../../functions/payments-worker.ts')).handler)

test('an order posted twice and delivered twice is one row and one charge', async () => {
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

  const { orderId } = JSON.parse(answer)
  expect(await orders.rows()).toMatchObject([{ orderId, totalCents: 2_599 }])
  expect(provider.charges).toEqual([{ orderId, amountCents: 2_599, currency: 'USD' }])
  expect(provider.keys).toHaveLength(1)
})
