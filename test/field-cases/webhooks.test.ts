import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import middy from '@middy/core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { githubWebhook, stripeWebhook } from '../../lib/keys/index.ts'
import { applyIfNewer } from '../../lib/order/index.ts'
import { httpEvent, lambdaContext } from '../http/events.ts'
import { setUp } from '../http/harness.ts'
import { world } from '../sources/set-up.ts'
import { createTable, localClient } from '../stores/table.ts'

let client: DynamoDBClient
let TableName: string

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  TableName = await createTable(client)
})
afterAll(() => client.destroy())

describe('Webhooks', () => {
  test('Stripe’s events came twice and out of order: the id stops the second, the order guard what is older', async () => {
    const Key = { pk: crypto.randomUUID(), sk: 'subscription' }
    const applied: string[] = []
    const handler = idempotent(
      { idempotency: world().idempotency, ...stripeWebhook() },
      async (event: { body?: string }) => {
        const { type, created, data } = JSON.parse(event.body ?? '')
        const write = { Put: { TableName, Item: { ...Key, plan: data.object.plan } } }
        applied.push(`${type}: ${await applyIfNewer(client, write, { attribute: 'version', value: created })}`)
        return { statusCode: 200, body: '' }
      },
    )
    const sent = (type: string, id: string, created: number, plan: string) =>
      httpEvent({ key: undefined, body: JSON.stringify({ id, type, created, data: { object: { plan } } }) })
    const updated = () => sent('updated', 'evt_2', 1_700_000_010, 'gold')
    for (const event of [updated(), sent('created', 'evt_1', 1_700_000_000, 'free'), updated()]) {
      expect(await handler(event as never, lambdaContext())).toMatchObject({ statusCode: 200 })
    }
    expect(applied).toEqual(['updated: applied', 'created: stale'])
    const { Item } = await DynamoDBDocumentClient.from(client).send(new GetCommand({ TableName, Key }))
    expect(Item).toMatchObject({ plan: 'gold' })
  })

  test('One delivery of GitHub went to two hooks under one id, and ids were used up before the signature was checked', async () => {
    const { idempotency, store } = world()
    let calls = 0
    const handler = middy()
      .before(({ event }) => {
        const { headers } = event as unknown as { headers: Record<string, string> }
        return headers['x-hub-signature-256'] === 'good' ? undefined : { statusCode: 401, body: '' }
      })
      .use(idempotentHttp({ idempotency, ...githubWebhook() }))
      .handler(async () => {
        calls += 1
        return { statusCode: 200, body: '' }
      }) as unknown as (event: unknown, context: unknown) => Promise<{ statusCode: number }>
    const sent = (signature: string, hook: string) =>
      httpEvent({
        key: undefined,
        headers: { 'x-github-delivery': 'd-1', 'x-github-hook-id': hook, 'x-hub-signature-256': signature },
      })
    expect((await handler(sent('bad', '1'), lambdaContext())).statusCode).toBe(401)
    expect(store.records()).toEqual([])
    for (const hook of ['1', '2', '1'])
      expect((await handler(sent('good', hook), lambdaContext())).statusCode).toBe(200)
    expect(calls).toBe(2)
  })

  test('A signature covers the raw bytes, and a parser had changed them: the event is never changed', async () => {
    const { serve } = setUp()
    const event = httpEvent({ body: Buffer.from('{"b":1, "a":2}').toString('base64'), base64: true })
    const before = structuredClone(event)
    await serve((given: unknown) => {
      expect(given).toEqual(before)
      return { statusCode: 200 }
    })(event)
    expect(event).toEqual(before)
  })
})
