import { InvalidEventError } from '../base/errors.ts'
import { kindOf } from '../base/guards.ts'
import { type Fields, fieldsOf, nonEmpty } from './fields.ts'

/** Where an event comes from, and what serves it. */
interface Origin {
  readonly name: string
  readonly advice: string
}

const BATCH = 'idempotentBatch or batchHandler'
const EVENT = 'idempotentEvent or eventHandler'
const RUN = 'Call idempotency.run for each of its messages.'

const BY_SOURCE: Readonly<Record<string, Origin>> = {
  'aws:sqs': { name: 'SQS', advice: `Use ${BATCH}, whose default source is sqs().` },
  'aws:kinesis': { name: 'Kinesis', advice: `Use ${BATCH} with source: kinesis().` },
  'aws:dynamodb': { name: 'a DynamoDB stream', advice: `Use ${BATCH} with source: dynamoStream().` },
  'aws:kafka': { name: 'MSK', advice: `Use ${BATCH} with source: kafka().` },
  SelfManagedKafka: { name: 'Kafka', advice: `Use ${BATCH} with source: kafka().` },
  'aws:sns': { name: 'SNS', advice: `Use ${EVENT} with source: sns().` },
  'aws:s3': { name: 'S3', advice: `Use ${EVENT} with source: s3().` },
  // Lambda retries the whole batch of a broker, and has no answer by which a message could be named.
  'aws:mq': { name: 'Amazon MQ', advice: `It cannot be told which messages have failed. ${RUN}` },
  'aws:rmq': { name: 'Amazon MQ for RabbitMQ', advice: `It cannot be told which messages have failed. ${RUN}` },
}

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/pipes-targets-specifics.html */
const PIPE: Origin = {
  name: 'an EventBridge pipe',
  advice: 'Call the handler with { Records: event }.',
}

function originOf(event: Fields): Origin | undefined {
  const [first] = Array.isArray(event.Records) ? event.Records : [event]
  const { eventSource, EventSource } = fieldsOf(first)
  const source = nonEmpty(eventSource ?? EventSource)
  if (source !== undefined && Object.hasOwn(BY_SOURCE, source)) return BY_SOURCE[source]
  if ('detail-type' in event) return { name: 'EventBridge', advice: `Use ${EVENT} with source: eventBridge().` }
  if ('connectionId' in fieldsOf(event.requestContext)) {
    return { name: 'a WebSocket API', advice: 'Its messages have no key of their own. Give one to idempotency.run.' }
  }
  if ('requestContext' in event) return { name: 'HTTP', advice: 'Use idempotentHttp or idempotent.' }
  return undefined
}

/** An event of another source than the one that is served. */
export function notFrom(served: string, event: unknown, what: string): InvalidEventError {
  const origin = Array.isArray(event) ? PIPE : originOf(fieldsOf(event))
  const hint = origin === undefined ? '' : ` The event comes from ${origin.name}. ${origin.advice}`
  return new InvalidEventError(`The event does not come from ${served}: ${what}.${hint}`)
}

/**
 * The list of records of an event.
 * @throws InvalidEventError when it has none
 */
export function recordsOf(served: string, event: unknown): readonly unknown[] {
  const { Records } = fieldsOf(event)
  if (Array.isArray(Records)) return Records
  throw notFrom(served, event, `it has no list of Records (got ${kindOf(Records)})`)
}
