import middy from '@middy/core'
import { describe, expect, test } from 'vitest'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { githubWebhook, shopifyWebhook, stripeWebhook, telegramWebhook, type Webhook } from '../../lib/keys/index.ts'
import { type Asked, httpEvent, lambdaContext, SOURCES } from '../http/events.ts'
import type { Answered } from '../http/harness.ts'
import { world } from './set-up.ts'

const stripeEvent = (over: object = {}) => ({
  id: 'evt_1',
  object: 'event',
  type: 'invoice.paid',
  created: 1_700_000_000,
  pending_webhooks: 2,
  data: { object: { id: 'in_1' } },
  ...over,
})

/** What each provider sends first, again, and what is another operation although the id is the same. */
const PROVIDERS: Record<string, { webhook: Webhook; first: Asked; again: Asked; others: Asked[]; key: string }> = {
  Stripe: {
    webhook: stripeWebhook(),
    first: { body: JSON.stringify(stripeEvent()) },
    again: { body: JSON.stringify(stripeEvent({ pending_webhooks: 1 })) },
    others: [
      { body: JSON.stringify(stripeEvent()), path: '/other-endpoint' },
      { body: JSON.stringify(stripeEvent({ account: 'acct_2' })) },
    ],
    key: 'evt_1',
  },
  GitHub: {
    webhook: githubWebhook(),
    first: { body: '{"ref":"main"}', headers: { 'X-GitHub-Delivery': 'd-1', 'X-GitHub-Hook-ID': '1' } },
    again: { body: '{"ref":"main"}', headers: { 'x-github-delivery': 'd-1', 'x-github-hook-id': '1' } },
    others: [{ body: '{"ref":"main"}', headers: { 'X-GitHub-Delivery': 'd-1', 'X-GitHub-Hook-ID': '2' } }],
    key: 'd-1',
  },
  Shopify: {
    webhook: shopifyWebhook(),
    first: { body: '{"id":1}', headers: { 'X-Shopify-Webhook-Id': 'w-1', 'X-Shopify-Shop-Domain': 'a.example' } },
    again: {
      body: '{"id":1}',
      headers: { 'X-Shopify-Webhook-Id': 'w-1', 'X-Shopify-Shop-Domain': 'a.example', 'X-Shopify-API-Version': '2' },
    },
    others: [{ body: '{"id":1}', headers: { 'X-Shopify-Webhook-Id': 'w-1', 'X-Shopify-Shop-Domain': 'b.example' } }],
    key: 'w-1',
  },
  Telegram: {
    webhook: telegramWebhook({ bot: 'support' }),
    first: { body: '{"update_id":7,"message":{"text":"hi"}}' },
    again: { body: '{"message":{"text":"hi"},"update_id":7}' },
    others: [],
    key: '7',
  },
}

describe.each(Object.entries(PROVIDERS))('a webhook of %s', (_name, { webhook, first, again, others, key }) => {
  function setUp() {
    const { idempotency, store } = world()
    const keys: string[] = []
    const serve = idempotent({ idempotency, ...webhook } as never, async (_event: never, { operation }) => {
      keys.push(operation.key)
      return { statusCode: 200, body: 'ok' }
    }) as unknown as (event: unknown, context: unknown) => Promise<Answered>
    return { store, keys, serve: (event: unknown) => serve(event, lambdaContext()) }
  }

  test.each(Object.entries(SOURCES))('runs once by the provider’s id, on %s', async (_source, make) => {
    const { keys, serve } = setUp()
    expect(await serve(make({ key: undefined, ...first }))).toMatchObject({ statusCode: 200 })
    expect(await serve(make({ key: undefined, ...again }))).toMatchObject({ statusCode: 200 })
    expect(keys).toEqual([key])
  })

  test('never answers for another endpoint, account, hook or shop', async () => {
    const { keys, serve } = setUp()
    for (const asked of [first, ...others]) await serve(httpEvent({ key: undefined, ...asked }))
    expect(keys).toEqual([first, ...others].map(() => key))
  })

  test('without its id is refused with 400 and leaves no trace', async () => {
    const { keys, serve, store } = setUp()
    for (const body of ['{}', 'null', '', undefined]) {
      expect(await serve(httpEvent({ key: undefined, body }))).toMatchObject({ statusCode: 400 })
    }
    expect([keys, store.records()]).toEqual([[], []])
  })

  test('with another body under its id is no repetition', async () => {
    const { keys, serve } = setUp()
    await serve(httpEvent({ key: undefined, ...first }))
    const changed = JSON.parse(first.body as string)
    const body = JSON.stringify({ ...changed, data: 'forged' })
    expect(await serve(httpEvent({ key: undefined, ...first, body }))).toMatchObject({ statusCode: 422 })
    expect(keys).toHaveLength(1)
  })
})

test('a body that is no JSON is refused with 400 where the id is in it', async () => {
  const { idempotency } = world()
  const handler = idempotent({ idempotency, ...stripeWebhook() }, () => ({ statusCode: 200 }))
  expect(await handler(httpEvent({ key: undefined, body: '{' }), lambdaContext())).toMatchObject({ statusCode: 400 })
})

test('a signature that is checked first is checked before an id is used up', async () => {
  const { idempotency, store } = world()
  const ran: unknown[] = []
  const handler = middy()
    .before(({ event }) => {
      if ((event as { headers: Record<string, string> }).headers['x-signature'] !== 'good')
        return { statusCode: 401, body: '' }
    })
    .use(idempotentHttp({ idempotency, ...githubWebhook() }))
    .handler(async () => {
      ran.push('ran')
      return { statusCode: 200, body: 'ok' }
    })
  const from = (signature: string) =>
    httpEvent({ key: undefined, headers: { 'x-github-delivery': 'd-1', 'x-signature': signature } })
  expect(await handler(from('bad') as never, lambdaContext() as never)).toMatchObject({ statusCode: 401 })
  expect([ran, store.records()]).toEqual([[], []])
  expect(await handler(from('good') as never, lambdaContext() as never)).toMatchObject({ statusCode: 200 })
  expect(ran).toEqual(['ran'])
})

test('a Telegram bot has to be named, as its updates count from their own start', () => {
  expect(() => telegramWebhook({} as never)).toThrow(/must name the bot/)
  expect(() => telegramWebhook(undefined as never)).toThrow(/must name the bot/)
  expect(() => telegramWebhook({ bot: 'a', chat: 1 } as never)).toThrow(/no option "chat"/)
  const [a, b] = ['a', 'b'].map((bot) => telegramWebhook({ bot }).scope(httpEvent()))
  expect(a).not.toEqual(b)
})
