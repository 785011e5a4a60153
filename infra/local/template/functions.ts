import type { Assembly, Resource } from './assembly.ts'
import type { LocalFunction } from './model.ts'
import { asNumber, asNumberOr, asObject, asString, type JsonObject, UnsupportedTemplateError } from './narrow.ts'
import { identify, type LocalPlace, mappedProperties, type Resolve } from './resolve.ts'

// Defaults of CloudFormation, for templates that leave them out.
const DEFAULT_TIMEOUT_SECONDS = 3
const DEFAULT_MEMORY_MEGABYTES = 128
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

/**
 * Refuses settings of asynchronous invocations that the runner does not follow. Of these only schedules are run here, and
 * a run that fails is not repeated: the next one comes anyway, and much sooner than Lambda's own retries.
 *
 * @throws UnsupportedTemplateError.
 */
export function checkAsyncInvocation(resource: Resource, resolve: Resolve): void {
  const harmless = ['FunctionName', 'Qualifier', 'MaximumEventAgeInSeconds', 'MaximumRetryAttempts']
  mappedProperties(resource, resolve, [], harmless)
}
