import { readdirSync, readFileSync } from 'node:fs'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { describe, expect, inject, test } from 'vitest'
import { emailSender } from '../../functions/examples/email-sender.ts'
import { paymentsApi } from '../../functions/examples/payments-api.ts'
import { priceImport } from '../../functions/examples/s3-ingestion.ts'
import { subscriber } from '../../functions/examples/sns-fanout.ts'
import { trialFlow } from '../../functions/examples/trial-flow.ts'
import { createOperationsTable } from '../../infra/local/engines/operations-table.ts'
import { PLAYS } from '../../infra/local/examples/plays.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import type { Store } from '../../lib/index.ts'
import {
  fakeClock,
  httpApiEvent,
  memoryStore,
  s3Event,
  snsEvent,
  sqsEvent,
  verifyIdempotent,
} from '../../lib/testing/index.ts'

const ROOT = new URL('../../', import.meta.url)
const plays = Object.entries(PLAYS)

async function brokenPromises(play: (typeof plays)[number][1], store: Store): Promise<string[]> {
  const broken: string[] = []
  let seen = 0
  await play({
    store,
    clock: fakeClock(),
    scene: () => undefined,
    saw(text, isAsPromised) {
      seen += 1
      if (!isAsPromised) broken.push(text)
    },
  })
  expect(seen).toBeGreaterThan(2)
  return broken
}

describe('an example played through is as promised', () => {
  test.each(plays)('%s, on DynamoDB', async (_name, play) => {
    const client = new DynamoDBClient({ endpoint: inject('dynamoDbEndpoint'), maxAttempts: 3 })
    const tableName = `example-${crypto.randomUUID()}`
    await createOperationsTable(client, tableName)
    expect(await brokenPromises(play, dynamoStore({ tableName, client }))).toEqual([])
  })

  test.each(plays)('%s, in memory', async (_name, play) => {
    expect(await brokenPromises(play, memoryStore())).toEqual([])
  })
})

test('every example is played, and the guide tells of it', () => {
  const files = readdirSync(new URL('functions/examples', ROOT)).map((file) => file.replace('.ts', ''))
  const guide = readFileSync(new URL('docs/examples.md', ROOT), 'utf8')
  expect(files.toSorted()).toEqual(plays.map(([name]) => name).toSorted())
  expect(files.filter((file) => !guide.includes(`../functions/examples/${file}.ts`))).toEqual([])
})

describe('the handler of an example has its effect once, whatever crashes', () => {
  test('payments-api', () =>
    verifyIdempotent(
      ({ idempotency, effect }) =>
        paymentsApi({
          idempotency: idempotency(),
          charge: (_request, idempotencyKey) => effect('charge', { idempotencyKey, result: { id: 'ch_1' } }),
        }),
      httpApiEvent({ path: '/v1/charges', body: { amountCents: 100, currency: 'EUR', card: 'card_1' } }),
    ))

  const mail = { mailId: 'may/ada', to: 'ada@example.com', subject: 'May', text: 'Hello' }

  test('email-sender that asks a person: at most once', () =>
    verifyIdempotent(
      ({ idempotency, effect }) =>
        emailSender({ idempotency: idempotency(), whenUnsure: 'ask-a-person', send: () => effect('mail') }),
      sqsEvent({ body: mail }),
      { effects: { mail: 'at-most-once' } },
    ))

  test('email-sender that sends again: at least once', () =>
    verifyIdempotent(
      ({ idempotency, effect }) =>
        emailSender({ idempotency: idempotency(), whenUnsure: 'send-again', send: () => effect('mail') }),
      sqsEvent({ body: mail }),
      { effects: { mail: 'at-least-once' } },
    ))

  test('sns-fanout', () =>
    verifyIdempotent(
      ({ idempotency, effect }) =>
        subscriber({
          idempotency: idempotency(),
          act: ({ orderId }, idempotencyKey) => effect('act', { idempotencyKey, of: orderId }),
        }),
      snsEvent({ message: { orderId: 'order-1', cents: 1 } }),
      { asyncInvocation: true },
    ))

  test('s3-ingestion', () =>
    verifyIdempotent(
      ({ idempotency, effect }) =>
        priceImport({
          idempotency: idempotency(),
          read: async () => Array.from({ length: 60 }, (_, line) => `sku-${line},1`).join('\n'),
          save: (prices) => effect('save', { of: prices[0]?.sku ?? '' }),
        }),
      sqsEvent({ body: s3Event({ key: 'list.csv' }) }),
      // Saving is safe to repeat: a newer list is never overwritten.
      { effects: { save: 'at-least-once' } },
    ))

  test('trial-flow, over all its waits', () =>
    verifyIdempotent(
      ({ idempotency, effect, clock }) =>
        trialFlow({
          idempotency: idempotency({ relay: true, reconcilerShards: 1 }),
          clock,
          queueUrl: 'https://sqs.example/1/trials',
          mail: (template, { customerId }, idempotencyKey) => effect(template, { idempotencyKey, of: customerId }),
          activate: ({ customerId }, idempotencyKey) => effect('activate', { idempotencyKey, of: customerId }),
        }),
      sqsEvent({ body: { customerId: 'ada' } }),
    ))
})
