import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { PAYMENTS_SCOPE, serviceIdempotency } from '../../functions/shared/idempotency.ts'
import type { Payment } from '../../functions/shared/payment.ts'
import { type Provider, startProvider } from './payment-provider.ts'
import { batchOf, invoker, messageOf, relayed, useIdempotencyTable, useOrdersTable, useTable } from './service.ts'

const HOUR_MS = 3_600_000
const PAYMENTS_QUEUE = 'http://127.0.0.1:1/000000000000/payments'
const ORDER_PAID_QUEUE = 'http://127.0.0.1:1/000000000000/order-paid.fifo'

await useIdempotencyTable()
const orders = await useOrdersTable()
const ledger = await useTable('LEDGER_TABLE', { account: 'S', sequence: 'N' })
const provider: Provider = await startProvider()
process.env.PAYMENT_PROVIDER_URL = provider.url
process.env.PAYMENTS_QUEUE_URL = PAYMENTS_QUEUE
process.env.ORDER_PAID_QUEUE_URL = ORDER_PAID_QUEUE
const invoke = invoker((await import('../../functions/payments-worker.ts')).handler)
const payments = serviceIdempotency('payments')
afterAll(() => provider.stop())

const deliver = (...records: ReturnType<typeof messageOf>[]) => invoke(batchOf(...records))
const success = { batchItemFailures: [] }
const failed = (...records: { messageId: string }[]) => ({
  batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })),
})

/** A payment of an order, and a customer, nobody else has; the order is there. */
async function payment(changes: Partial<Payment> = {}): Promise<Payment> {
  const orderId = `order-${crypto.randomUUID()}`
  await orders.add(orderId)
  return { orderId, customerId: `customer-${crypto.randomUUID()}`, amountCents: 1_250, currency: 'EUR', ...changes }
}
const chargeOf = ({ orderId, amountCents, currency }: Payment) => ({ orderId, amountCents, currency })
const orderRow = async ({ orderId }: Payment) => (await orders.rows()).find((row) => row.orderId === orderId)
const entriesOf = async ({ customerId }: Payment) =>
  (await ledger.rows())
    .filter(({ account }) => String(account).startsWith(customerId))
    .sort((one, other) => Number(one.sequence) - Number(other.sequence))
/** What a provider's callback says, as the webhook hands it on. */
const calledBack = ({ orderId }: Payment, status: string, version: number, id: string = crypto.randomUUID()) =>
  payments.signal({ key: orderId, scope: PAYMENTS_SCOPE }, { chargeId: 'charge-1', status, version }, { id })

beforeEach(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(console, 'error').mockReturnValue()
  for (const list of [provider.fates, provider.keys, provider.charges, provider.lookups]) list.length = 0
  await relayed()
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('one order is charged once', () => {
  test('the charge is the order, under an idempotency key', async () => {
    const order = await payment()
    expect(await deliver(messageOf(order))).toEqual(success)
    expect(provider.charges).toEqual([chargeOf(order)])
    expect(provider.keys).toEqual([expect.stringMatching(/^[\w-]{20,}$/)])
  })

  test('when its message is delivered again', async () => {
    const order = await payment()
    for (let delivery = 1; delivery <= 3; delivery++) {
      expect(await deliver(messageOf(order, 'message-1'))).toEqual(success)
    }
    expect(provider.keys).toHaveLength(1)
    expect(await entriesOf(order)).toHaveLength(1)
  })

  test('when it was sent twice, as two messages of one batch and again after a redrive', async () => {
    const order = await payment()
    expect(await deliver(messageOf(order), messageOf(order))).toEqual(success)
    expect(await deliver(messageOf(order))).toEqual(success)
    expect(provider.keys).toHaveLength(1)
    expect(await entriesOf(order)).toHaveLength(1)
  })

  test('when the worker dies between the charge and its record: the next one asks what became of it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const order = await payment()
    const death = Promise.withResolvers<void>()
    provider.fates.push({ after: death.promise })
    const dying = deliver(messageOf(order, 'message-1'))
    await provider.called(1)

    const tooEarly = messageOf(order, 'message-1')
    expect(await deliver(tooEarly)).toEqual(failed(tooEarly))
    vi.setSystemTime(Date.now() + HOUR_MS)
    expect(await deliver(messageOf(order, 'message-1'))).toEqual(success)
    expect(provider.lookups).toEqual([order.orderId])
    expect(provider.charges).toEqual([chargeOf(order)])

    // The first one wakes up, and finds that its work is somebody else's by now.
    death.resolve()
    await dying
    expect(await deliver(messageOf(order, 'message-1'))).toEqual(success)
    expect(provider.keys).toHaveLength(1)
    expect(await entriesOf(order)).toHaveLength(1)
  })

  test('different orders are charged under different keys', async () => {
    expect(await deliver(messageOf(await payment()), messageOf(await payment()))).toEqual(success)
    expect(new Set(provider.keys).size).toBe(2)
    expect(provider.charges).toHaveLength(2)
  })
})

describe('a charged order is booked in one transaction', () => {
  test('the ledger entry, the paid order, the message and the receipts', async () => {
    const order = await payment()
    await deliver(messageOf(order))
    const account = `${order.customerId}:EUR`
    const paid = { orderId: order.orderId, account, sequence: 1, balanceCents: 1_250 }
    expect(await entriesOf(order)).toEqual([
      { ...paid, amountCents: 1_250, chargeId: 'charge-1', fence: expect.any(String), bookedAt: expect.any(String) },
    ])
    expect(await orderRow(order)).toMatchObject({ status: 'paid', chargeId: 'charge-1' })
    const [message, ...others] = await relayed()
    expect(others).toEqual([])
    expect([message?.to, JSON.parse(message?.body ?? '')]).toEqual([ORDER_PAID_QUEUE, paid])
    expect(await payments.receipts({ key: order.orderId, scope: PAYMENTS_SCOPE })).toMatchObject([
      { kind: 'destination', step: 'charge', value: { chargeId: 'charge-1' } },
      { kind: 'confirmed', value: { orderId: order.orderId, chargeId: 'charge-1' } },
    ])
  })

  test('payments of one account at the same moment take one place each, and their balances add up', async () => {
    const { customerId } = await payment()
    const contenders = await Promise.all(
      Array.from({ length: 10 }, (_, index) => payment({ customerId, amountCents: index + 1 })),
    )
    expect(await deliver(...contenders.map((order) => messageOf(order)))).toEqual(success)
    const entries = await entriesOf({ customerId } as Payment)
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const amounts = entries.map(({ amountCents }) => Number(amountCents))
    const sums = amounts.map((_, index) => amounts.slice(0, index + 1).reduce((sum, amount) => sum + amount, 0))
    expect(entries.map(({ balanceCents }) => balanceCents)).toEqual(sums)
    expect(sums.at(-1)).toBe(55)
  })

  test('an order that is not there to be paid is not booked, and its message fails', async () => {
    const order = await payment({ orderId: 'order-of-nobody' })
    const message = messageOf(order)
    expect(await deliver(message)).toEqual(failed(message))
    expect(await entriesOf(order)).toEqual([])
    expect(await relayed()).toEqual([])
  })
})

describe('a charge that did not work', () => {
  test.each([500, 502, 405, 408, 409, 413, 415, 425])(
    'is tried again under the same key after a %i, when the provider does not know it',
    async (status) => {
      const order = await payment()
      const message = messageOf(order, 'message-1')
      provider.fates.push({ status })
      expect(await deliver(message)).toEqual(failed(message))
      expect(await deliver(message)).toEqual(success)
      expect(provider.keys).toEqual([provider.keys[0], provider.keys[0]])
      expect(provider.charges).toEqual([chargeOf(order)])
    },
  )

  test.each([429, 503])('waits after a %i, which spends no receive', async (status) => {
    const order = await payment()
    provider.fates.push({ status })
    expect(await deliver(messageOf(order, 'message-1'))).toEqual(success)
    const [continuation] = await relayed()
    expect(continuation?.to).toBe(PAYMENTS_QUEUE)
    expect(continuation?.notBeforeMs).toBeGreaterThan(Date.now() + 10_000)

    vi.useFakeTimers({ toFake: ['Date'], now: continuation!.notBeforeMs })
    expect(await deliver(continuation!)).toEqual(success)
    expect(provider.keys).toEqual([provider.keys[0], provider.keys[0]])
    expect(provider.charges).toEqual([chargeOf(order)])
    expect(await entriesOf(order)).toHaveLength(1)
  })

  describe.each([401, 403, 404])('because our credentials or URL are wrong (%i)', (status) => {
    test('fails every order of the outage, and none for good: a day later they go through', async () => {
      vi.useFakeTimers({ toFake: ['Date'] })
      const outage = [await payment(), await payment()]
      const messages = outage.map((order, index) => messageOf(order, `message-${index}`))
      for (let delivery = 1; delivery <= 3; delivery++) {
        provider.fates.push({ status }, { status })
        expect(await deliver(...messages)).toEqual(failed(...messages))
      }
      vi.setSystemTime(Date.now() + 3 * 24 * HOUR_MS)
      expect(await deliver(...messages)).toEqual(success)
      expect(provider.charges).toEqual(expect.arrayContaining(outage.map(chargeOf)))
      expect(provider.charges).toHaveLength(2)
    })

    test('says nothing of an earlier call that nobody knows the end of: that one decides how long it is safe', async () => {
      vi.useFakeTimers({ toFake: ['Date'] })
      const message = messageOf(await payment(), 'message-1')
      provider.fates.push({ status: 500 }, { status })
      expect(await deliver(message)).toEqual(failed(message))
      expect(await deliver(message)).toEqual(failed(message))
      vi.setSystemTime(Date.now() + 25 * HOUR_MS)
      expect(await deliver(message)).toEqual(failed(message))
      expect(provider.keys).toHaveLength(2)
    })
  })

  test('is asked for after a lost answer, and not made again', async () => {
    const order = await payment()
    const message = messageOf(order, 'message-1')
    provider.fates.push({ lost: true })
    expect(await deliver(message)).toEqual(failed(message))
    expect(await deliver(message)).toEqual(success)
    expect(provider.keys).toHaveLength(1)
    expect(provider.lookups).toEqual([order.orderId])
    expect(await entriesOf(order)).toMatchObject([{ chargeId: 'charge-1' }])
  })

  test('is not waited for without end', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    const patience = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(20))
    const answer = Promise.withResolvers<void>()
    provider.fates.push({ after: answer.promise })
    const message = messageOf(await payment())
    expect(await deliver(message)).toEqual(failed(message))
    answer.resolve()
    // The function has 5 seconds.
    expect(patience.mock.calls).toEqual([[expect.toSatisfy((ms: number) => ms < 5_000)]])
  })

  test.each([400, 402, 422])('is given up after a %i: failed on every delivery, never tried again', async (status) => {
    const message = messageOf(await payment(), 'message-1')
    provider.fates.push({ status })
    expect(await deliver(message)).toEqual(failed(message))
    expect(await deliver(message)).toEqual(failed(message))
    expect(provider.keys).toHaveLength(1)
  })

  test('is not repeated when the provider has forgotten its key by then: nobody knows, until somebody looks', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const order = await payment()
    const message = messageOf(order, 'message-1')
    provider.fates.push({ status: 500 })
    expect(await deliver(message)).toEqual(failed(message))
    vi.setSystemTime(Date.now() + 25 * HOUR_MS)
    expect(await deliver(message)).toEqual(failed(message))
    expect(await deliver(message)).toEqual(failed(message))
    expect(provider.keys).toHaveLength(1)

    expect(await payments.settle({ key: order.orderId, scope: PAYMENTS_SCOPE }, { value: 'looked up' })).toBe('settled')
    expect(await deliver(message)).toEqual(success)
  })

  test('that was made after all is found, however long ago that was', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const order = await payment()
    const message = messageOf(order, 'message-1')
    provider.fates.push({ lost: true })
    expect(await deliver(message)).toEqual(failed(message))
    vi.setSystemTime(Date.now() + 25 * HOUR_MS)
    expect(await deliver(message)).toEqual(success)
    expect(provider.keys).toHaveLength(1)
    expect(await entriesOf(order)).toHaveLength(1)
  })
})

describe('a charge that is pending', () => {
  async function pending(): Promise<Payment> {
    const order = await payment()
    provider.fates.push({ pending: true })
    expect(await deliver(messageOf(order))).toEqual(success)
    expect(await entriesOf(order)).toEqual([])
    expect(await relayed()).toEqual([])
    return order
  }
  /** The continuation that a signal has put on its way. */
  async function continuation() {
    const [message, ...others] = await relayed()
    expect(others).toEqual([])
    expect(message?.to).toBe(PAYMENTS_QUEUE)
    return message!
  }

  test('waits for its confirmation, and is then booked without a second call', async () => {
    const order = await pending()
    expect(await calledBack(order, 'succeeded', 2)).toBe('delivered')
    expect(await deliver(await continuation())).toEqual(success)
    expect(provider.keys).toHaveLength(1)
    expect(await entriesOf(order)).toHaveLength(1)
    expect(await orderRow(order)).toMatchObject({ status: 'paid' })
  })

  test('waits on when it is told what it knows', async () => {
    const order = await pending()
    await calledBack(order, 'pending', 1)
    expect(await deliver(await continuation())).toEqual(success)
    expect(await entriesOf(order)).toEqual([])
    await calledBack(order, 'succeeded', 2)
    expect(await deliver(await continuation())).toEqual(success)
    expect(await entriesOf(order)).toHaveLength(1)
  })

  test('takes the newest of what it is told, not the last that came', async () => {
    const order = await pending()
    await calledBack(order, 'succeeded', 2)
    await calledBack(order, 'pending', 1)
    const [first] = await relayed()
    expect(await deliver(first!)).toEqual(success)
    expect(await entriesOf(order)).toHaveLength(1)
  })

  test('is not woken by what it was told before, nor after its end', async () => {
    const order = await pending()
    await calledBack(order, 'succeeded', 2, 'event-1')
    expect(await calledBack(order, 'succeeded', 2, 'event-1')).toBe('duplicate')
    await deliver(await continuation())
    expect(await calledBack(order, 'succeeded', 2)).toBe('finished')
    expect((await relayed()).filter(({ to }) => to === PAYMENTS_QUEUE)).toEqual([])
  })

  test('that fails in the end is not booked: failed on every delivery', async () => {
    const order = await pending()
    await calledBack(order, 'failed', 2)
    const message = await continuation()
    expect(await deliver(message)).toEqual(failed(message))
    expect(await deliver(message)).toEqual(failed(message))
    expect(await entriesOf(order)).toEqual([])
    expect(await orderRow(order)).toMatchObject({ status: 'pending' })
  })
})

describe('a message that is none', () => {
  test.each([
    ['cut off', '{"orderId": "x", "amountCents":'],
    ['without an amount', { orderId: 'x', customerId: 'c', currency: 'EUR' }],
    ['with an amount of nothing', { orderId: 'x', customerId: 'c', amountCents: 0, currency: 'EUR' }],
    ['in a currency nobody takes', { orderId: 'x', customerId: 'c', amountCents: 1, currency: 'XXX' }],
    ['of an order without an id', { orderId: '', customerId: 'c', amountCents: 1, currency: 'EUR' }],
    ['of nobody', { orderId: 'x', amountCents: 1, currency: 'EUR' }],
  ])('%s fails alone, and its neighbour is charged', async (_, body) => {
    const poison = messageOf(body)
    const order = await payment()
    expect(await deliver(poison, messageOf(order))).toEqual(failed(poison))
    expect(provider.charges).toEqual([chargeOf(order)])
  })
})
