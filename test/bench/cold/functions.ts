import { batchOf, orderOf } from '../sides/orders.ts'

/** What a function that uses DynamoDB and Middy has in its bundle anyway. */
export const BASE = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
  import { DynamoDBDocumentClient, BatchGetCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
  import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
  import middy from '@middy/core'
  export const base = [DynamoDBClient, DynamoDBDocumentClient, BatchGetCommand, GetCommand, PutCommand, UpdateCommand, marshall, unmarshall, middy]
`

const OURS = `
  import { createIdempotency } from './lib/index.ts'
  import { dynamoStore } from './lib/dynamodb/index.ts'
  const store = dynamoStore({ tableName: process.env.TABLE })
  const idempotency = createIdempotency({ store, namespace: 'orders' })
`

const THEIRS = `
  import { IdempotencyConfig } from '@aws-lambda-powertools/idempotency'
  import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
  const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.TABLE })
`

/** The same function on both sides, as each side's documentation says to write it. */
export interface ComparedFunction {
  readonly name: 'function' | 'http' | 'batch'
  readonly label: string
  readonly ours: string
  readonly theirs: string
  /** The same by hand, where it is written. */
  readonly floor?: string
  readonly event: () => unknown
}

export const FUNCTIONS: readonly ComparedFunction[] = [
  {
    name: 'function',
    label: 'any function',
    ours: `${OURS}
      export const handler = idempotency.wrap(async () => ({ status: 'captured' }), {
        key: (order) => order.id, input: (order) => order, context: (_, context) => context })`,
    theirs: `${THEIRS}
      import { makeIdempotent } from '@aws-lambda-powertools/idempotency'
      export const handler = makeIdempotent(async (_order, _context) => ({ status: 'captured' }), {
        persistenceStore, config: new IdempotencyConfig({ eventKeyJmesPath: 'id' }) })`,
    floor: `
      import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
      import { claimAndComplete } from './test/bench/sides/by-hand.ts'
      const once = claimAndComplete({
        client: new DynamoDBClient({}), tableName: process.env.TABLE, result: () => ({ status: 'captured' }) })
      export const handler = (order) => once(order)`,
    event: () => orderOf(crypto.randomUUID()),
  },
  {
    name: 'http',
    label: 'HTTP with Middy',
    ours: `${OURS}
      import { idempotentHttp } from './lib/http/index.ts'
      import middy from '@middy/core'
      export const handler = middy().use(idempotentHttp({ idempotency, anonymous: true }))
        .handler(async () => ({ statusCode: 201, body: '{"status":"captured"}' }))`,
    theirs: `${THEIRS}
      import { makeHandlerIdempotent } from '@aws-lambda-powertools/idempotency/middleware'
      import middy from '@middy/core'
      export const handler = middy()
        .use(makeHandlerIdempotent({
          persistenceStore, config: new IdempotencyConfig({ eventKeyJmesPath: 'headers."idempotency-key"' }) }))
        .handler(async () => ({ statusCode: 201, body: '{"status":"captured"}' }))`,
    event: () => httpEvent(crypto.randomUUID()),
  },
  {
    name: 'batch',
    label: 'SQS batch',
    ours: `${OURS}
      import { batchHandler } from './lib/batch/index.ts'
      export const handler = batchHandler({ idempotency }, async () => ({ status: 'captured' }))`,
    theirs: `${THEIRS}
      import { makeIdempotent } from '@aws-lambda-powertools/idempotency'
      import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
      const config = new IdempotencyConfig({ eventKeyJmesPath: 'messageId' })
      const handleRecord = makeIdempotent(async (record) => JSON.parse(record.body) && { status: 'captured' }, {
        persistenceStore, config })
      const processor = new BatchProcessor(EventType.SQS)
      export const handler = async (event, context) => {
        config.registerLambdaContext(context)
        return processPartialResponse(event, handleRecord, processor, { context })
      }`,
    event: () => batchOf(Array.from({ length: 10 }, () => crypto.randomUUID())),
  },
]

/** A POST as an HTTP API delivers it. */
function httpEvent(key: string): unknown {
  return {
    version: '2.0',
    routeKey: 'POST /orders',
    rawPath: '/orders',
    rawQueryString: '',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    requestContext: {
      http: { method: 'POST', path: '/orders', protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'bench' },
      requestId: key,
      routeKey: 'POST /orders',
      stage: '$default',
    },
    body: JSON.stringify(orderOf(key)),
    isBase64Encoded: false,
  }
}
