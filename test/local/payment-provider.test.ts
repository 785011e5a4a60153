import { afterEach, describe, expect, test } from 'vitest'
import type { ProviderBehaviour } from '../../infra/local/payment-provider/server.ts'
import { type PaymentProvider, startPaymentProvider } from '../../infra/local/payment-provider/start.ts'

const providers: PaymentProvider[] = []

async function start(behaviour: ProviderBehaviour = {}): Promise<PaymentProvider> {
  const provider = await startPaymentProvider(behaviour)
  providers.push(provider)
  return provider
}

afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.stop()))
})

const order = { orderId: 'o1', amountCents: 1250, currency: 'EUR' }
const charge = (provider: PaymentProvider, key: string | undefined, body: unknown) =>
  fetch(`${provider.endpoint}/charges`, {
    method: 'POST',
    headers: key === undefined ? {} : { 'idempotency-key': key },
    body: JSON.stringify(body),
  })

describe('the payment provider', () => {
  test('makes one charge per key and answers the same one to every repetition', async () => {
    const provider = await start()
    const answers = await Promise.all([1, 2, 3].map(async () => (await charge(provider, 'k', order)).json()))
    expect(answers[0]).toEqual({ ...order, chargeId: expect.stringMatching(/^ch_/) })
    expect(answers).toEqual([answers[0], answers[0], answers[0]])
    expect(await provider.stats()).toEqual({ calls: 3, effects: 1, effectsByOrder: { o1: 1 } })
  })

  test('charges twice under two keys: it is no guard against its callers', async () => {
    const provider = await start()
    await charge(provider, 'k1', order)
    await charge(provider, 'k2', order)
    expect(await provider.stats()).toMatchObject({ effects: 2, effectsByOrder: { o1: 2 } })
  })

  test('refuses a key that comes back with another body', async () => {
    const provider = await start()
    await charge(provider, 'k', order)
    expect((await charge(provider, 'k', { ...order, amountCents: 1 })).status).toBe(422)
    expect(await provider.stats()).toMatchObject({ calls: 2, effects: 1 })
  })

  test.each([
    ['no key', undefined, order],
    ['no amount', 'k', { ...order, amountCents: undefined }],
    ['half a cent', 'k', { ...order, amountCents: 0.5 }],
    ['an unknown shape', 'k', []],
  ])('answers 400 to %s, without an effect', async (_, key, body) => {
    const provider = await start()
    expect((await charge(provider, key, body)).status).toBe(400)
    expect(await provider.stats()).toMatchObject({ effects: 0 })
  })

  test('that is unavailable has no effect', async () => {
    const provider = await start({ unavailableChance: 1 })
    const response = await charge(provider, 'k', order)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await provider.stats()).toMatchObject({ calls: 1, effects: 0 })
  })

  test('that loses its answer has had the effect', async () => {
    const provider = await start({ lostAnswerChance: 1 })
    await expect(charge(provider, 'k', order)).rejects.toThrow()
    expect(await provider.stats()).toMatchObject({ calls: 1, effects: 1 })
  })
})
