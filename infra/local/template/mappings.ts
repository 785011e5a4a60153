import type { Resource } from './assembly.ts'
import { parseFilterPattern } from './filter-pattern.ts'
import type { LocalQueueMapping, LocalStreamMapping } from './model.ts'
import {
  asArray,
  asNumber,
  asNumberOr,
  asObject,
  asOptionalString,
  asString,
  type JsonObject,
  UnsupportedTemplateError,
} from './narrow.ts'
import { mappedProperties, type Resolve } from './resolve.ts'

// Defaults of CloudFormation, for templates that leave them out.
const DEFAULT_QUEUE_BATCH_SIZE = 10
const DEFAULT_STREAM_BATCH_SIZE = 100
// AWS's limit for FIFO queues; Lambda has no batching window for them either.
const FIFO_BATCH_LIMIT = 10
const FOR_EVER = -1

const COMMON = [
  'BatchSize',
  'Enabled',
  'EventSourceArn',
  'FunctionName',
  'FunctionResponseTypes',
  'MaximumBatchingWindowInSeconds',
]
const QUEUE_MAPPED = [...COMMON, 'ScalingConfig']
const STREAM_MAPPED = [
  ...COMMON,
  'BisectBatchOnFunctionError',
  'DestinationConfig',
  'FilterCriteria',
  'MaximumRecordAgeInSeconds',
  'MaximumRetryAttempts',
  'ParallelizationFactor',
  'StartingPosition',
]
const HARMLESS = ['MetricsConfig', 'Tags']

/** Maps an event source mapping of the template. @throws UnsupportedTemplateError. */
export function mapEventSourceMapping(resource: Resource, resolve: Resolve): LocalQueueMapping | LocalStreamMapping {
  const where = `${resource.stack}/${resource.logicalId}`
  const source = asString(resolve(resource.stack, resource.properties.EventSourceArn, where), where)
  if (source.startsWith('arn:aws:sqs:')) return queueMapping(resource, resolve, source)
  if (source.startsWith('arn:aws:dynamodb:')) return streamMapping(resource, resolve, source)
  throw new UnsupportedTemplateError(`${where}: the local runner polls SQS queues and DynamoDB streams, not ${source}`)
}

function queueMapping(resource: Resource, resolve: Resolve, queueArn: string): LocalQueueMapping {
  const where = `${resource.stack}/${resource.logicalId}`
  const properties = mappedProperties(resource, resolve, QUEUE_MAPPED, HARMLESS)
  const scaling = asObject(properties.ScalingConfig ?? {}, where)
  const common = commonOf(properties, DEFAULT_QUEUE_BATCH_SIZE, where)
  if (queueArn.endsWith('.fifo') && (common.batchSize > FIFO_BATCH_LIMIT || common.windowSeconds > 0)) {
    throw new UnsupportedTemplateError(
      `${where}: a FIFO queue takes a BatchSize of at most ${FIFO_BATCH_LIMIT} and no batching window`,
    )
  }
  return {
    kind: 'queue',
    logicalId: resource.logicalId,
    queueArn,
    ...common,
    maxConcurrency: scaling.MaximumConcurrency === undefined ? undefined : asNumber(scaling.MaximumConcurrency, where),
  }
}

function streamMapping(resource: Resource, resolve: Resolve, streamArn: string): LocalStreamMapping {
  const where = `${resource.stack}/${resource.logicalId}`
  const properties = mappedProperties(resource, resolve, STREAM_MAPPED, HARMLESS)
  const position = asString(properties.StartingPosition, where)
  if (position !== 'TRIM_HORIZON' && position !== 'LATEST') {
    throw new UnsupportedTemplateError(`${where}: StartingPosition ${position}; a table's stream has none such`)
  }
  if (asNumberOr(properties.ParallelizationFactor, 1, where) !== 1) {
    throw new UnsupportedTemplateError(`${where}: the local runner has one batch at a time per shard only`)
  }
  const filters = asArray(asObject(properties.FilterCriteria ?? {}, where).Filters ?? [], where)
  return {
    kind: 'stream',
    logicalId: resource.logicalId,
    streamArn,
    ...commonOf(properties, DEFAULT_STREAM_BATCH_SIZE, where),
    startingPosition: position,
    filters: filters.map((filter) => parseFilterPattern(asString(asObject(filter, where).Pattern, where), where)),
    bisectsOnError: properties.BisectBatchOnFunctionError === true,
    maxRetries: limitOf(properties.MaximumRetryAttempts, where),
    maxRecordAgeSeconds: limitOf(properties.MaximumRecordAgeInSeconds, where),
    onFailureQueueArn: onFailureQueue(properties.DestinationConfig, where),
  }
}

function commonOf(properties: JsonObject, defaultBatchSize: number, where: string) {
  if (properties.Enabled === false) throw new UnsupportedTemplateError(`${where}: a disabled mapping`)
  const responseTypes = asArray(properties.FunctionResponseTypes ?? [], where)
  return {
    // A function is named by its name or by its ARN.
    functionName: asString(properties.FunctionName, where).split(':').at(-1) ?? '',
    batchSize: asNumberOr(properties.BatchSize, defaultBatchSize, where),
    windowSeconds: asNumberOr(properties.MaximumBatchingWindowInSeconds, 0, where),
    reportsBatchItemFailures: responseTypes.includes('ReportBatchItemFailures'),
  }
}

function limitOf(value: unknown, where: string): number {
  const limit = asNumberOr(value, FOR_EVER, where)
  return limit === FOR_EVER ? Infinity : limit
}

function onFailureQueue(value: unknown, where: string): string | undefined {
  if (value === undefined) return undefined
  const { OnFailure } = asObject(value, where)
  const arn = asOptionalString(asObject(OnFailure ?? {}, where).Destination, where)
  if (arn !== undefined && !arn.startsWith('arn:aws:sqs:')) {
    throw new UnsupportedTemplateError(`${where}: only an SQS queue as the destination of failed batches, not ${arn}`)
  }
  return arn
}
