// A user's TypeScript. It is compiled by every supported compiler and resolution, and run.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { createIdempotency, type Idempotency, MismatchError, type Operation, type Store } from 'lambda-once'
import { eachRecord, idempotentBatch } from 'lambda-once/batch'
import { cachedStore } from 'lambda-once/cache'
import { dynamoStore } from 'lambda-once/dynamodb'
import { eventHandler, s3 } from 'lambda-once/event'
import { idempotent, idempotentHttp } from 'lambda-once/http'
import { firstOf, header } from 'lambda-once/keys'
import { memoryStore } from 'lambda-once/memory'
import { emfMetrics, observers } from 'lambda-once/observability'
import { openTelemetry } from 'lambda-once/observability/opentelemetry'
import { ifNewer } from 'lambda-once/order'
import { outboxRelay } from 'lambda-once/outbox'
import { powertoolsRecords } from 'lambda-once/powertools'
import { reconciler } from 'lambda-once/reconciler'
import { retry } from 'lambda-once/retry'
import { storeContract } from 'lambda-once/store-contract'
import { verifyIdempotent } from 'lambda-once/testing'

interface Order {
  readonly id: string
  readonly total: number
}

const inTable: Store = dynamoStore({ tableName: 'operations', client: new DynamoDBClient({ region: 'eu-central-1' }) })
const idempotency: Idempotency = createIdempotency({
  store: memoryStore(),
  namespace: 'orders',
  observer: emfMetrics(),
})

let charges = 0
const charge = async (order: Order, operation: Operation): Promise<string> => {
  charges += 1
  return operation.step('charge', ({ idempotencyKey }) => `${order.total} under ${idempotencyKey.length > 0}`)
}

const first = { id: 'order-1', total: 7 }
const runOnce = (order: Order) =>
  idempotency.run({ key: order.id, input: order }, (operation) => charge(order, operation))
const answers: readonly { readonly value: string; readonly replayed: boolean }[] = [
  await runOnce(first),
  await runOnce(first),
]
const mismatch = await runOnce({ ...first, total: 8 }).catch((error: unknown) => error)

export const http = middy<APIGatewayProxyEventV2, APIGatewayProxyResultV2>()
  .use(idempotentHttp({ idempotency, keyFrom: firstOf(header('x-request-id')) }))
  .handler(async (event, { operation }) => ({ statusCode: 201, body: event.rawPath + operation.id }))
export const queue = middy<SQSEvent, SQSBatchResponse>()
  .use(idempotentBatch({ idempotency }))
  .handler(eachRecord(async ({ messageId }, operation) => void messageId.concat(operation.id)))

const loaded = [
  cachedStore,
  eventHandler,
  s3,
  idempotent,
  observers,
  openTelemetry,
  ifNewer,
  outboxRelay,
  powertoolsRecords,
  reconciler,
  retry,
  verifyIdempotent,
]
const isWhole =
  loaded.every((part) => typeof part === 'function') && typeof inTable.put === 'function' && storeContract.length > 0
console.log(
  JSON.stringify({
    charges,
    replayed: answers.map(({ replayed }) => replayed),
    same: answers[0]?.value === answers[1]?.value,
    mismatch: mismatch instanceof MismatchError,
    isWhole,
  }),
)
