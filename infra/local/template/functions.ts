import type { Assembly, Resource } from './assembly.ts'
import type { LocalEventSourceMapping, LocalFunction } from './model.ts'
import {
  asArray,
  asNumber,
  asNumberOr,
  asObject,
  asString,
  type JsonObject,
  UnsupportedTemplateError,
} from './narrow.ts'
import { identify, type LocalPlace, mappedProperties, type Resolve } from './resolve.ts'

// Defaults of CloudFormation, for templates that leave them out.
const DEFAULT_TIMEOUT_SECONDS = 3
const DEFAULT_MEMORY_MEGABYTES = 128
const DEFAULT_SQS_BATCH_SIZE = 10
const RUNTIMES = ['nodejs22.x', 'nodejs24.x']

const FUNCTION_MAPPED = [
  'Code',
  'Environment',
  'FunctionName',
  'Handler',
  'MemorySize',
  'ReservedConcurrentExecutions',
  'Runtime',
  'Timeout',
]
// Permissions, labels, where logs go, processor and traces: none of it decides what an invocation does.
const FUNCTION_HARMLESS = [
  'Architectures',
  'Description',
  'EphemeralStorage',
  'LoggingConfig',
  'RecursiveLoop',
  'Role',
  'Tags',
  'TracingConfig',
]

/** Maps a function of the template to its bundled code. @throws UnsupportedTemplateError. */
export function mapFunction(
  resource: Resource,
  assembly: Assembly,
  resolve: Resolve,
  place: LocalPlace,
): LocalFunction {
  const where = `${resource.stack}/${resource.logicalId}`
  const properties = mappedProperties(resource, resolve, FUNCTION_MAPPED, FUNCTION_HARMLESS)
  const runtime = asString(properties.Runtime, where)
  if (!RUNTIMES.includes(runtime)) {
    throw new UnsupportedTemplateError(`${where}: runtime ${runtime}; the local runner has ${RUNTIMES.join(' and ')}`)
  }
  const { name, attributes } = identify(resource, place)
  const environment = asObject(asObject(properties.Environment ?? {}, where).Variables ?? {}, where)
  return {
    logicalId: resource.logicalId,
    name,
    arn: asString(attributes.Arn, where),
    codeDirectory: codeDirectory(asObject(properties.Code, where), assembly, where),
    handler: asString(properties.Handler, where),
    timeoutSeconds: asNumberOr(properties.Timeout, DEFAULT_TIMEOUT_SECONDS, where),
    memoryMegabytes: asNumberOr(properties.MemorySize, DEFAULT_MEMORY_MEGABYTES, where),
    reservedConcurrency:
      properties.ReservedConcurrentExecutions === undefined
        ? undefined
        : asNumber(properties.ReservedConcurrentExecutions, where),
    environment: Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, String(value)])),
  }
}

function codeDirectory(code: JsonObject, assembly: Assembly, where: string): string {
  const key = code.S3Key === undefined ? undefined : asString(code.S3Key, where)
  if (!key?.endsWith('.zip')) {
    throw new UnsupportedTemplateError(`${where}: only code that CDK bundled as a file asset can be run locally`)
  }
  return assembly.assetDirectory(key.slice(0, -'.zip'.length))
}

/** Maps an event source mapping of the template. @throws UnsupportedTemplateError. */
export function mapEventSourceMapping(resource: Resource, resolve: Resolve): LocalEventSourceMapping {
  const where = `${resource.stack}/${resource.logicalId}`
  const mapped = [
    'BatchSize',
    'Enabled',
    'EventSourceArn',
    'FunctionName',
    'FunctionResponseTypes',
    'MaximumBatchingWindowInSeconds',
    'ScalingConfig',
  ]
  const properties = mappedProperties(resource, resolve, mapped, ['MetricsConfig', 'Tags'])
  const queueArn = asString(properties.EventSourceArn, where)
  if (!queueArn.startsWith('arn:aws:sqs:')) {
    throw new UnsupportedTemplateError(`${where}: the local runner polls SQS queues only, not ${queueArn}`)
  }
  if (properties.Enabled === false) throw new UnsupportedTemplateError(`${where}: a disabled mapping`)
  const responseTypes = asArray(properties.FunctionResponseTypes ?? [], where)
  const scaling = asObject(properties.ScalingConfig ?? {}, where)
  return {
    logicalId: resource.logicalId,
    queueArn,
    // A function is named by its name or by its ARN.
    functionName: asString(properties.FunctionName, where).split(':').at(-1) ?? '',
    batchSize: asNumberOr(properties.BatchSize, DEFAULT_SQS_BATCH_SIZE, where),
    windowSeconds: asNumberOr(properties.MaximumBatchingWindowInSeconds, 0, where),
    reportsBatchItemFailures: responseTypes.includes('ReportBatchItemFailures'),
    maxConcurrency: scaling.MaximumConcurrency === undefined ? undefined : asNumber(scaling.MaximumConcurrency, where),
  }
}
