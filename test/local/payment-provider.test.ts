import { createServer } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { isSigned } from '../../functions/webhook/signature.ts'
import { type LoopbackServer, listenOnLoopback } from '../../infra/local/engines/loopback-server.ts'
import { shareOfOrders } from '../../infra/local/payment-provider/ledger.ts'
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
    expect(answers[0]).toEqual({ ...order, chargeId: expect.stringMatching(/^ch_/), status: 'succeeded', version: 1 })
    expect(answers).toEqual([answers[0], answers[0], answers[0]])
    expect(await provider.stats()).toMatchObject({ calls: 3, effects: 1, effectsByOrder: { o1: 1 }, unheard: 0 })
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

  test('tells what has become of the charges of an order', async () => {
    const provider = await start()
    const asked = async (orderId: string) => (await fetch(`${provider.endpoint}/charges?orderId=${orderId}`)).json()
    expect(await asked('o1')).toEqual({ charges: [] })
    const made: unknown = await (await charge(provider, 'k', order)).json()
    expect(await asked('o1')).toEqual({ charges: [made] })
    expect(await asked('o2')).toEqual({ charges: [] })
    expect((await provider.stats()).lookups).toEqual({ found: 1, notFound: 2 })
  })

  test('notices that nobody was there to hear its answer', async () => {
    const provider = await start({ latencyMs: 2_000 })
    const leaving = new AbortController()
    const call = fetch(`${provider.endpoint}/charges`, {
      method: 'POST',
      headers: { 'idempotency-key': 'k' },
      body: JSON.stringify(order),
      signal: leaving.signal,
    })
    call.catch(() => undefined)
    await expect.poll(provider.unanswered, { timeout: 10_000 }).toEqual(['o1'])
    leaving.abort()
    await expect.poll(async () => (await provider.stats()).unheard, { timeout: 10_000 }).toBe(1)
    expect(await provider.stats()).toMatchObject({ effects: 1 })
  })

  test('that loses its answer has had the effect', async () => {
    const provider = await start({ lostAnswerChance: 1 })
    await expect(charge(provider, 'k', order)).rejects.toThrow()
    expect(await provider.stats()).toMatchObject({ calls: 1, effects: 1 })
  })
})

describe('a charge that is pending', () => {
  const secret = 'of-the-test'
  let server: LoopbackServer | undefined
  afterEach(async () => {
    await server?.stop()
  })

  interface Call {
    readonly body: string
    readonly signature: string
  }

  /** A webhook that refuses every so-manieth call. */
  async function webhook(refused: number): Promise<Call[]> {
    const calls: Call[] = []
    server = await listenOnLoopback(
      createServer(async (request, response) => {
        const body = (await request.toArray()).join('')
        calls.push({ body, signature: String(request.headers['payment-signature']) })
        response.writeHead(calls.length <= refused ? 503 : 204).end()
      }),
    )
    return calls
  }

  test('is confirmed by callbacks: signed, each at least twice, again until they are accepted', async () => {
    const calls = await webhook(3)
    const provider = await start({ pendingShare: 1, callbacks: { url: server!.endpoint, secret } })
    expect(await (await charge(provider, 'k', order)).json()).toMatchObject({ status: 'pending', version: 1 })
    await expect
      .poll(async () => (await provider.stats()).callbacks, { timeout: 30_000 })
      .toMatchObject({ events: 2, outstanding: 0 })

    const { callbacks, pending } = await provider.stats()
    expect(pending).toBe(1)
    expect(callbacks.posts).toBe(callbacks.accepted + 3)
    expect(calls).toHaveLength(callbacks.posts)
    const bodies = Map.groupBy(calls.slice(3), ({ body }) => body)
    expect([...bodies.values()].every((copies) => copies.length >= 2)).toBe(true)
    const told = [...bodies.keys()].map((body) => JSON.parse(body))
    expect(told.map(({ charge: { status, version } }) => [version, status]).sort()).toEqual([
      [1, 'pending'],
      [2, 'succeeded'],
    ])
    expect(told.map(({ orderId }) => orderId)).toEqual(['o1', 'o1'])
    for (const { body, signature } of calls)
      expect(isSigned(secret, signature, Buffer.from(body), Date.now())).toBe(true)
    // What it says when it is asked is what it has called back about; the key gets its first answer again.
    const asked = await (await fetch(`${provider.endpoint}/charges?orderId=o1`)).json()
    expect(asked).toMatchObject({ charges: [{ status: 'succeeded', version: 2 }] })
    expect(await (await charge(provider, 'k', order)).json()).toMatchObject({ status: 'pending', version: 1 })
  })

  test('is so for the same orders with the same seed, and for about that share of them', () => {
    const orders = Array.from({ length: 1_000 }, (_, index) => `order-${index}`)
    const pending = orders.filter(shareOfOrders(0.15, 1))
    expect(orders.filter(shareOfOrders(0.15, 1))).toEqual(pending)
    expect(orders.filter(shareOfOrders(0.15, 2))).not.toEqual(pending)
    expect(pending.length).toBeGreaterThan(100)
    expect(pending.length).toBeLessThan(200)
  })
})
