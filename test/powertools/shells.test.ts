import { IdempotencyConfig } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import { makeHandlerIdempotent } from '@aws-lambda-powertools/idempotency/middleware'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { expect, test } from 'vitest'
import { type BatchRecord, batchHandler } from '../../lib/batch/index.ts'
import { idempotent, REPLAYED_HEADER } from '../../lib/http/index.ts'
import { createIdempotency } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { powertoolsRecords } from '../../lib/powertools/index.ts'
import { gate } from '../batch/set-up.ts'
import { event, invocation, message } from '../batch/sqs-event.ts'
import { httpEvent, lambdaContext } from '../http/events.ts'
import { client, KEY_PREFIX, powertoolsTable, twoVersions } from './set-up.ts'

test('a response that Powertools’ middleware has stored is the answer of the HTTP handler', async () => {
  const tableName = await powertoolsTable()
  const old = middy<APIGatewayProxyEventV2, unknown>()
    .use(
      makeHandlerIdempotent({
        persistenceStore: new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client }),
        config: new IdempotencyConfig({ eventKeyJmesPath: 'headers."idempotency-key"' }),
        keyPrefix: KEY_PREFIX,
      }),
    )
    .handler(async () => ({ statusCode: 201, headers: { location: '/orders/1' }, body: 'made' }))
  const previous = powertoolsRecords<APIGatewayProxyEventV2>({
    tableName,
    client,
    keyPrefix: KEY_PREFIX,
    key: ({ headers }) => headers['idempotency-key'],
  })
  const next = idempotent(
    { idempotency: createIdempotency({ store: memoryStore(), namespace: 'orders' }), anonymous: true },
    (asked: APIGatewayProxyEventV2, { operation }) =>
      previous.during(operation, asked, () => ({ statusCode: 201, body: 'made again' })),
  )
  const asked = httpEvent({ headers: { 'idempotency-key': 'key-1' } })
  await old(asked, lambdaContext())
  const stored = { statusCode: 201, headers: { location: '/orders/1' }, body: 'made' }
  expect(await next(asked, lambdaContext())).toMatchObject(stored)
  expect(await next(asked, lambdaContext())).toMatchObject({
    ...stored,
    headers: { ...stored.headers, [REPLAYED_HEADER]: 'true' },
  })
})

test('a message that the old version is at is delivered again, and its neighbours are done', async () => {
  const { old, tableName, ran } = await twoVersions()
  const previous = powertoolsRecords<BatchRecord<{ id: string }>>({
    tableName,
    client,
    keyPrefix: KEY_PREFIX,
    key: ({ body }) => body.id,
  })
  const handler = batchHandler<{ id: string }>(
    { idempotency: createIdempotency({ store: memoryStore(), namespace: 'payments' }), onFailure: () => undefined },
    (record, operation) => previous.during(operation, record, () => void ran.push(record.messageId)),
  )
  const { opened, open } = gate()
  const first = old({ id: 'busy', total: 1 }, () => opened)
  await expect.poll(() => ran).toEqual(['old'])
  const batch = event(message('m1', { body: '{"id":"busy"}' }), message('m2', { body: '{"id":"idle"}' }))
  expect(await handler(batch, invocation())).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] })
  open()
  await first
  expect(await handler(batch, invocation())).toEqual({ batchItemFailures: [] })
  expect(ran).toEqual(['old', 'm2'])
})
