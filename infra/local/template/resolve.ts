import type { Assembly, Resource } from './assembly.ts'
import { asArray, asObject, asString, type JsonObject, UnsupportedTemplateError } from './narrow.ts'

/** The account every local ARN and queue URL carries; it is the one the SQS emulator uses. */
export const LOCAL_ACCOUNT_ID = '000000000000'

// A stream is labelled with when it was made, which nobody knows before.
const LOCAL_STREAM_LABEL = '2000-01-01T00:00:00.000'

/** What stands in for the cloud while intrinsics are resolved. */
export interface LocalPlace {
  readonly region: string
  readonly sqsEndpoint: string
  /** Base URL of the local HTTP API, for functions that are told their own address. */
  readonly apiEndpoint: string
}

/** The names a resource goes by locally. */
export interface LocalIdentity {
  readonly name: string
  readonly ref: string
  readonly attributes: { readonly [attribute: string]: string }
}

/** Replaces the intrinsic functions in a value of that stack by local values. */
export type Resolve = (stack: string, value: unknown, where: string) => unknown

/**
 * Makes the function that resolves intrinsics against an assembly and a local place.
 * It refuses what it does not know: a guessed name would make local and deployed behaviour drift apart.
 */
export function createResolver(assembly: Assembly, place: LocalPlace): Resolve {
  const resolve: Resolve = (stack, value, where) => {
    if (Array.isArray(value)) return value.map((item, index) => resolve(stack, item, `${where}[${index}]`))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    const [only] = entries
    if (entries.length === 1 && only && (only[0] === 'Ref' || only[0].startsWith('Fn::'))) {
      return intrinsic(stack, only[0], only[1], where)
    }
    const resolved = entries.map(([key, item]) => [key, resolve(stack, item, `${where}.${key}`)] as const)
    return Object.fromEntries(resolved.filter(([, item]) => item !== undefined))
  }

  const text = (stack: string, value: unknown, where: string): string => {
    const resolved = resolve(stack, value, where)
    return typeof resolved === 'number' ? String(resolved) : asString(resolved, where)
  }

  const intrinsic = (stack: string, name: string, argument: unknown, where: string): unknown => {
    switch (name) {
      case 'Ref':
        return reference(stack, asString(argument, where), where)
      case 'Fn::GetAtt': {
        const [logicalId, attribute] = (
          typeof argument === 'string' ? argument.split('.') : asArray(argument, where)
        ).map((part) => asString(part, where))
        return attributeOf(stack, logicalId ?? '', attribute ?? '', where)
      }
      case 'Fn::Join': {
        const [separator, parts] = asArray(argument, where)
        return asArray(resolve(stack, parts, where), where)
          .map((part) => text(stack, part, where))
          .join(asString(separator, where))
      }
      case 'Fn::Split': {
        const [separator, whole] = asArray(argument, where)
        return text(stack, whole, where).split(asString(separator, where))
      }
      case 'Fn::Select': {
        const [index, list] = asArray(argument, where)
        return asArray(resolve(stack, list, where), where)[Number(index)]
      }
      case 'Fn::Sub': {
        if (typeof argument !== 'string') throw refused(where, 'Fn::Sub with a variable map')
        return argument.replace(/\$\{([^!}]+)\}/g, (_, variable: string) => {
          const [logicalId = '', attribute] = variable.split('.')
          return attribute === undefined
            ? asString(reference(stack, logicalId, where), where)
            : attributeOf(stack, logicalId, attribute, where)
        })
      }
      case 'Fn::ImportValue': {
        const exportName = text(stack, argument, where)
        const exported = assembly.exported(exportName)
        if (exported === undefined) throw refused(where, `an import of ${exportName}, which no stack here exports`)
        return resolve(exported.stack, exported.value, where)
      }
      default:
        throw refused(where, name)
    }
  }

  const reference = (stack: string, logicalId: string, where: string): unknown => {
    switch (logicalId) {
      case 'AWS::Region':
        return place.region
      case 'AWS::AccountId':
        return LOCAL_ACCOUNT_ID
      case 'AWS::Partition':
        return 'aws'
      case 'AWS::URLSuffix':
        return 'amazonaws.com'
      case 'AWS::StackName':
        return stack
      case 'AWS::NoValue':
        return undefined
    }
    const resource = assembly.find(stack, logicalId)
    if (resource) return identify(resource, place).ref
    const parameter = assembly.parameterDefault(stack, logicalId)
    if (parameter === undefined) throw refused(where, `a reference to ${logicalId}`)
    return parameter
  }

  const attributeOf = (stack: string, logicalId: string, attribute: string, where: string): string => {
    const resource = assembly.find(stack, logicalId)
    const value = resource && identify(resource, place).attributes[attribute]
    if (value === undefined) throw refused(where, `attribute ${attribute} of ${logicalId}`)
    return value
  }

  return resolve
}

/**
 * The mapped properties of a resource, resolved; the harmless ones are left alone, as a role or key has no local counterpart.
 *
 * @throws UnsupportedTemplateError naming the first property that is neither.
 */
export function mappedProperties(
  resource: Resource,
  resolve: Resolve,
  mapped: readonly string[],
  harmless: readonly string[],
): JsonObject {
  const where = `${resource.stack}/${resource.logicalId}`
  const entries = Object.entries(resource.properties)
  const unknown = entries.find(([name]) => !mapped.includes(name) && !harmless.includes(name))
  if (unknown) {
    throw new UnsupportedTemplateError(
      `${where}: the local runner does not know property ${unknown[0]}; teach it in infra/local/template, or leave it out`,
    )
  }
  const relevant = Object.fromEntries(entries.filter(([name]) => mapped.includes(name)))
  return asObject(resolve(resource.stack, relevant, where), where)
}

/** The local names of a resource. @throws UnsupportedTemplateError for a type that has no local counterpart. */
export function identify(resource: Resource, place: LocalPlace): LocalIdentity {
  const arn = (service: string, rest: string): string =>
    `arn:aws:${service}:${place.region}:${LOCAL_ACCOUNT_ID}:${rest}`
  switch (resource.type) {
    case 'AWS::DynamoDB::Table':
    case 'AWS::DynamoDB::GlobalTable': {
      const name = physicalName(resource, 'TableName', 255)
      const Arn = arn('dynamodb', `table/${name}`)
      const StreamArn = `${Arn}/stream/${LOCAL_STREAM_LABEL}`
      const hasStream = resource.properties.StreamSpecification !== undefined
      return { name, ref: name, attributes: hasStream ? { Arn, StreamArn } : { Arn } }
    }
    case 'AWS::SQS::Queue': {
      const suffix = resource.properties.FifoQueue === true ? '.fifo' : ''
      const name = physicalName(resource, 'QueueName', 80 - suffix.length, suffix)
      const url = `${place.sqsEndpoint}/${LOCAL_ACCOUNT_ID}/${name}`
      return { name, ref: url, attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: url } }
    }
    case 'AWS::Lambda::Function': {
      const name = physicalName(resource, 'FunctionName', 64)
      return { name, ref: name, attributes: { Arn: arn('lambda', `function:${name}`) } }
    }
    case 'AWS::Events::Rule': {
      const name = physicalName(resource, 'Name', 64)
      return { name, ref: name, attributes: { Arn: arn('events', `rule/${name}`) } }
    }
    case 'AWS::Scheduler::Schedule': {
      const name = physicalName(resource, 'Name', 64)
      const { GroupName: group = 'default' } = resource.properties
      return { name, ref: name, attributes: { Arn: arn('scheduler', `schedule/${String(group)}/${name}`) } }
    }
    case 'AWS::ApiGatewayV2::Api':
      return { name: resource.logicalId, ref: resource.logicalId, attributes: { ApiEndpoint: place.apiEndpoint } }
    case 'AWS::ApiGatewayV2::Integration':
    case 'AWS::ApiGatewayV2::Authorizer':
      return { name: resource.logicalId, ref: resource.logicalId, attributes: {} }
    default:
      throw refused(`${resource.stack}/${resource.logicalId}`, `a reference to a resource of type ${resource.type}`)
  }
}

function physicalName(resource: Resource, property: string, limit: number, suffix = ''): string {
  const given: JsonObject[string] = resource.properties[property]
  if (typeof given === 'string') return given
  return `${resource.stack}-${resource.logicalId}`.slice(0, limit) + suffix
}

function refused(where: string, what: string): UnsupportedTemplateError {
  return new UnsupportedTemplateError(`${where}: the local runner does not support ${what}`)
}
