import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEventV2WithJWTAuthorizer, SQSEvent, SQSRecord } from 'aws-lambda'
import { inject } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { dispatchOne, type OutgoingMessage } from '../../lib/outbox/index.ts'
import { createTable, localClient } from '../stores/table.ts'

const DAY_SECONDS = 86_400
/** The retention that the functions are given here, which is the template's. */
export const RETENTION_SECONDS: number = 18 * DAY_SECONDS

/** Points the functions of this process to an idempotency table of their own. To be called before they are imported. */
export async function useIdempotencyTable(): Promise<void> {
  process.env.AWS_ENDPOINT_URL_DYNAMODB = inject('dynamoDbEndpoint')
  process.env.RETENTION_SECONDS = String(RETENTION_SECONDS)
  process.env.RECONCILER_SHARDS = '2'
  process.env.AWS_LAMBDA_FUNCTION_NAME = 'function-of-the-test'
  process.env.IDEMPOTENCY_TABLE = await createTable(localClient(inject('dynamoDbEndpoint')))
}

/** An orders table of the test's own. */
export interface Orders {
  rows(): Promise<Record<string, unknown>[]>
  /** Writes an order that is to be paid. */
  add(orderId: string): Promise<void>
  /** Notes that the order's payment was asked for, as an operator does who has looked it up. */
  note(orderId: string): Promise<void>
}

/** Makes an orders table and points the functions of this process to it. */
export async function useOrdersTable(): Promise<Orders> {
  const { documents, TableName, rows } = await useTable('ORDERS_TABLE', { orderId: 'S' })
  return {
    rows,
    async add(orderId) {
      await documents.send(new PutCommand({ TableName, Item: { orderId, status: 'pending' } }))
    },
    async note(orderId) {
      await documents.send(
        new UpdateCommand({
          TableName,
          Key: { orderId },
          UpdateExpression: 'SET paymentRequestedAt = :now',
          ExpressionAttributeValues: { ':now': new Date().toISOString() },
        }),
      )
    },
  }
}

/** A table of the test's own, to whose name a variable is set. */
export async function useTable(
  variable: string,
  keys: Readonly<Record<string, 'S' | 'N'>>,
): Promise<Pick<Orders, 'rows'> & { readonly documents: DynamoDBDocumentClient; readonly TableName: string }> {
  const client = new DynamoDBClient({ endpoint: inject('dynamoDbEndpoint') })
  const TableName = `${variable.toLowerCase()}-${crypto.randomUUID()}`
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: Object.entries(keys).map(([AttributeName, AttributeType]) => ({
        AttributeName,
        AttributeType,
      })),
      KeySchema: Object.keys(keys).map((AttributeName, index) => ({
        AttributeName,
        KeyType: index === 0 ? 'HASH' : 'RANGE',
      })),
    }),
  )
  process.env[variable] = TableName
  const documents = DynamoDBDocumentClient.from(client)
  const rows = async () => (await documents.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items ?? []
  return { documents, TableName, rows }
}

/**
 * Does the outbox relay's work: gives the messages that wait in the outbox of the idempotency table, as a queue delivers
 * them, and marks them as sent.
 */
export async function relayed(): Promise<(SQSRecord & { readonly to: string; readonly notBeforeMs: number })[]> {
  const tableName = String(process.env.IDEMPOTENCY_TABLE)
  const client = localClient(inject('dynamoDbEndpoint'))
  const store = dynamoStore({ tableName, client })
  const documents = DynamoDBDocumentClient.from(client)
  const { Items = [] } = await documents.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }))
  const sent: OutgoingMessage[] = []
  const sender = {
    async send(messages: readonly OutgoingMessage[]) {
      sent.push(...messages)
      return messages.map(() => ({ kind: 'sent' as const }))
    },
  }
  for (const { pk, sk, ...attributes } of Items) {
    if (attributes.state === 'pending') await dispatchOne(store, sender, { id: String(pk), sk: String(sk), attributes })
  }
  return sent.map(({ to, text, messageId, operationId, attributes, notBeforeMs = 0 }) => ({
    ...messageOf(text),
    messageAttributes: Object.fromEntries(
      Object.entries({ 'Idempotency-Key': messageId, 'Operation-Id': operationId, ...attributes }).map(
        ([name, stringValue]) => [name, { dataType: 'String', stringValue }],
      ),
    ),
    to: 'queueUrl' in to ? to.queueUrl : JSON.stringify(to),
    notBeforeMs,
  }))
}

/** A payments queue of the test's own. */
export interface PaymentsQueue {
  /** Receives what is there; received messages stay invisible to the next call. */
  receive(): Promise<Message[]>
}

/** Makes a payments queue in the emulator and points the functions of this process to it. */
export async function usePaymentsQueue(endpoint: string): Promise<PaymentsQueue> {
  process.env.AWS_ENDPOINT_URL_SQS = endpoint
  const client = new SQSClient({ endpoint })
  const QueueName = `payments-${crypto.randomUUID()}`
  await client.send(new CreateQueueCommand({ QueueName, Attributes: { VisibilityTimeout: '600' } }))
  // The emulator's own URL names a host that needs DNS.
  const QueueUrl = `${endpoint}/000000000000/${QueueName}`
  process.env.PAYMENTS_QUEUE_URL = QueueUrl
  return {
    async receive() {
      const messages: Message[] = []
      for (;;) {
        const { Messages = [] } = await client.send(
          new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] }),
        )
        if (Messages.length === 0) return messages
        messages.push(...Messages)
      }
    },
  }
}

/** Calls a handler as Lambda does: what its middlewares add to the context is not Lambda's to give. */
export function invoker<Event, Answer>(
  handler: (event: Event, context: never) => Promise<Answer>,
): (event: Event) => Promise<Answer> {
  return (event) => {
    const context = { awsRequestId: crypto.randomUUID(), getRemainingTimeInMillis: () => 5_000 }
    return handler(event, context as never)
  }
}

/** A `POST /orders` as the HTTP API passes it on. */
export function orderEvent(request: {
  readonly key?: string
  readonly body?: unknown
  readonly caller?: string
  readonly base64?: boolean
}): APIGatewayProxyEventV2WithJWTAuthorizer {
  const { key, body, caller = 'alice', base64 = false } = request
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  return {
    version: '2.0',
    routeKey: 'POST /orders',
    rawPath: '/orders',
    rawQueryString: '',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
    requestContext: {
      http: { method: 'POST', path: '/orders', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'vitest' },
      authorizer: { jwt: { claims: { iss: 'https://issuer.test', sub: caller }, scopes: null } },
    },
    body: base64 && text !== undefined ? Buffer.from(text).toString('base64') : text,
    isBase64Encoded: base64,
  } as unknown as APIGatewayProxyEventV2WithJWTAuthorizer
}

/** A delivery of one message. Every call delivers it anew: same id, other receipt handle. */
export function messageOf(body: unknown, messageId: string = crypto.randomUUID()): SQSRecord {
  return {
    messageId,
    receiptHandle: crypto.randomUUID(),
    body: typeof body === 'string' ? body : JSON.stringify(body),
    attributes: { ApproximateReceiveCount: '1' } as SQSRecord['attributes'],
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:payments',
    awsRegion: 'eu-central-1',
  }
}

/** The event of a batch. */
export function batchOf(...records: SQSRecord[]): SQSEvent {
  return { Records: records }
}
