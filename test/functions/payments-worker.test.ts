import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Provider, startProvider } from './payment-provider.ts'
import { batchOf, invoker, messageOf, useIdempotencyTable } from './service.ts'

const HOUR_MS = 3_600_000

await useIdempotencyTable()
const provider: Provider = await startProvider()
process.env.PAYMENT_PROVIDER_URL = provider.url
const invoke = invoker((await import('../../functions/payments-worker.ts')).handler)
afterAll(() => provider.stop())

const deliver = (...records: ReturnType<typeof messageOf>[]) => invoke(batchOf(...records))
const success = { batchItemFailures: [] }
const failed = (...records: { messageId: string }[]) => ({
  batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })),
})

/** A payment for an order nobody else has. */
const payment = () => ({ orderId: `order-${crypto.randomUUID()}`, amountCents: 1_250, currency: 'EUR' as const })

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(console, 'error').mockReturnValue()
  for (const list of [provider.fates, provider.keys, provider.charges]) list.length = 0
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('one order is charged once', () => {
  test('the charge is the order, under an idempotency key', async () => {
    const order = payment()
    expect(await deliver(messageOf(order))).toEqual(success)
    expect(provider.charges).toEqual([order])
    expect(provider.keys).toEqual([expect.stringMatching(/^[\w-]{20,}$/)])
  })

  test('when its message is delivered again', async () => {
    const order = payment()
    for (let delivery = 1; delivery <= 3; delivery++) {
      expect(await deliver(messageOf(order, 'message-1'))).toEqual(success)
    }
    expect(provider.keys).toHaveLength(1)
  })

  test('when it was sent twice, as two messages of one batch and again after a redrive', async () => {
    const order = payment()
    expect(await deliver(messageOf(order), messageOf(order))).toEqual(success)
    expect(await deliver(messageOf(order))).toEqual(success)
    expect(provider.keys).toHaveLength(1)
  })

  test('when the worker dies between the charge and its record: the next one asks with the same key', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const order = payment()
    const death = Promise.withResolvers<void>()
    provider.fates.push({ after: death.promise })
    const dying = deliver(messageOf(order, 'message-1'))
    await provider.called(1)

    const tooEarly = messageOf(order, 'message-1')
    expect(await deliver(tooEarly)).toEqual(failed(tooEarly))
    vi.setSystemTime(Date.now() + HOUR_MS)
    expect(await deliver(messageOf(order, 'message-1'))).toEqual(success)
    expect(provider.keys).toEqual([provider.keys[0], provider.keys[0]])
    expect(provider.charges).toEqual([order])

    death.resolve()
    await dying
    expect(await deliver(messageOf(order, 'message-1'))).toEqual(success)
    expect(provider.keys).toHaveLength(2)
  })

  test('different orders are charged under different keys', async () => {
    expect(await deliver(messageOf(payment()), messageOf(payment()))).toEqual(success)
    expect(new Set(provider.keys).size).toBe(2)
    expect(provider.charges).toHaveLength(2)
  })
})

describe('a charge that did not work', () => {
  test.each([503, 500, 405, 408, 409, 413, 415, 425, 429])(
    'is tried again under the same key after a %i',
    async (status) => {
      const order = payment()
      const message = messageOf(order, 'message-1')
      provider.fates.push({ status })
      expect(await deliver(message)).toEqual(failed(message))
      expect(await deliver(message)).toEqual(success)
      expect(provider.keys).toEqual([provider.keys[0], provider.keys[0]])
      expect(provider.charges).toEqual([order])
    },
  )

  describe.each([401, 403, 404])('because our credentials or URL are wrong (%i)', (status) => {
    test('fails every order of the outage, and none for good: a day later they go through', async () => {
      vi.useFakeTimers({ toFake: ['Date'] })
      const orders = [payment(), payment()]
      const messages = orders.map((order, index) => messageOf(order, `message-${index}`))
      for (let delivery = 1; delivery <= 3; delivery++) {
        provider.fates.push({ status }, { status })
        expect(await deliver(...messages)).toEqual(failed(...messages))
      }
      vi.setSystemTime(Date.now() + 3 * 24 * HOUR_MS)
      expect(await deliver(...messages)).toEqual(success)
      expect(provider.charges).toEqual(expect.arrayContaining(orders))
      expect(provider.charges).toHaveLength(2)
    })

    test('says nothing of an earlier call whose answer was lost: that one decides how long it is safe', async () => {
      vi.useFakeTimers({ toFake: ['Date'] })
      const message = messageOf(payment(), 'message-1')
      provider.fates.push({ lost: true }, { status })
      expect(await deliver(message)).toEqual(failed(message))
      expect(await deliver(message)).toEqual(failed(message))
      vi.setSystemTime(Date.now() + 25 * HOUR_MS)
      expect(await deliver(message)).toEqual(failed(message))
      expect(provider.keys).toHaveLength(2)
    })
  })

  test('is tried again under the same key after a lost answer', async () => {
    const order = payment()
    const message = messageOf(order, 'message-1')
    provider.fates.push({ lost: true })
    expect(await deliver(message)).toEqual(failed(message))
    expect(await deliver(message)).toEqual(success)
    expect(provider.keys).toEqual([provider.keys[0], provider.keys[0]])
    expect(provider.charges).toEqual([order])
  })

  test('is not waited for without end', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    const patience = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(20))
    const answer = Promise.withResolvers<void>()
    provider.fates.push({ after: answer.promise })
    const message = messageOf(payment())
    expect(await deliver(message)).toEqual(failed(message))
    answer.resolve()
    // The function has 5 seconds.
    expect(patience.mock.calls).toEqual([[expect.toSatisfy((ms: number) => ms < 5_000)]])
  })

  test.each([400, 402, 422])('is given up after a %i: failed on every delivery, never tried again', async (status) => {
    const message = messageOf(payment(), 'message-1')
    provider.fates.push({ status })
    expect(await deliver(message)).toEqual(failed(message))
    expect(await deliver(message)).toEqual(failed(message))
    expect(provider.keys).toHaveLength(1)
  })

  test('is not repeated when the provider has forgotten its key by then', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const message = messageOf(payment(), 'message-1')
    provider.fates.push({ lost: true })
    expect(await deliver(message)).toEqual(failed(message))
    vi.setSystemTime(Date.now() + 25 * HOUR_MS)
    expect(await deliver(message)).toEqual(failed(message))
    expect(provider.keys).toHaveLength(1)
  })
})

describe('a message that is none', () => {
  test.each([
    ['cut off', '{"orderId": "x", "amountCents":'],
    ['without an amount', { orderId: 'x', currency: 'EUR' }],
    ['with an amount of nothing', { orderId: 'x', amountCents: 0, currency: 'EUR' }],
    ['in a currency nobody takes', { orderId: 'x', amountCents: 1, currency: 'XXX' }],
    ['of an order without an id', { orderId: '', amountCents: 1, currency: 'EUR' }],
  ])('%s fails alone, and its neighbour is charged', async (_, body) => {
    const poison = messageOf(body)
    const order = payment()
    expect(await deliver(poison, messageOf(order))).toEqual(failed(poison))
    expect(provider.charges).toEqual([order])
  })
})
