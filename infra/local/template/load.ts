import { readAssembly } from './assembly.ts'
import { checkAsyncInvocation, mapFunction } from './functions.ts'
import { mapEventSourceMapping } from './mappings.ts'
import type { LocalModel } from './model.ts'
import { UnsupportedTemplateError } from './narrow.ts'
import { mapQueue } from './queues.ts'
import { createResolver, type LocalPlace } from './resolve.ts'
import { checkApi, checkStage, mapRoute } from './routes.ts'
import { mapRule, mapSchedule } from './schedules.ts'
import { mapTable } from './tables.ts'

// What these do (permissions, watching, log storage, encryption keys) is not part of what a message or request meets locally.
const WITHOUT_COUNTERPART = [
  'AWS::CDK::Metadata',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::CompositeAlarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::KMS::Alias',
  'AWS::KMS::Key',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::SNS::Topic',
  'AWS::SQS::QueuePolicy',
]
// Read through the routes that point at them.
const PARTS_OF_ROUTES = ['AWS::ApiGatewayV2::Authorizer', 'AWS::ApiGatewayV2::Integration']

/**
 * Reads a cloud assembly (`cdk.out`) into a plain model with local names.
 *
 * @throws UnsupportedTemplateError naming the resource that cannot be run locally as it is.
 */
export function loadModel(directory: string, place: LocalPlace): LocalModel {
  const assembly = readAssembly(directory)
  const resolve = createResolver(assembly, place)
  const model = {
    region: place.region,
    tables: [] as LocalModel['tables'][number][],
    queues: [] as LocalModel['queues'][number][],
    functions: [] as LocalModel['functions'][number][],
    queueMappings: [] as LocalModel['queueMappings'][number][],
    streamMappings: [] as LocalModel['streamMappings'][number][],
    schedules: [] as LocalModel['schedules'][number][],
    routes: [] as LocalModel['routes'][number][],
  }
  for (const resource of assembly.resources) {
    switch (resource.type) {
      case 'AWS::DynamoDB::Table':
      case 'AWS::DynamoDB::GlobalTable':
        model.tables.push(mapTable(resource, resolve, place))
        break
      case 'AWS::SQS::Queue':
        model.queues.push(mapQueue(resource, resolve, place))
        break
      case 'AWS::Lambda::Function':
        model.functions.push(mapFunction(resource, assembly, resolve, place))
        break
      case 'AWS::Lambda::EventSourceMapping': {
        const mapping = mapEventSourceMapping(resource, resolve)
        if (mapping.kind === 'queue') model.queueMappings.push(mapping)
        else model.streamMappings.push(mapping)
        break
      }
      case 'AWS::Lambda::EventInvokeConfig':
        checkAsyncInvocation(resource, resolve)
        break
      case 'AWS::Events::Rule':
        model.schedules.push(...mapRule(resource, resolve, place))
        break
      case 'AWS::Scheduler::Schedule':
        model.schedules.push(...mapSchedule(resource, resolve, place))
        break
      case 'AWS::ApiGatewayV2::Api':
        checkApi(resource, resolve)
        break
      case 'AWS::ApiGatewayV2::Stage':
        checkStage(resource, resolve)
        break
      case 'AWS::ApiGatewayV2::Route':
        model.routes.push(mapRoute(resource, assembly, resolve))
        break
      default:
        if (![...WITHOUT_COUNTERPART, ...PARTS_OF_ROUTES].includes(resource.type)) {
          throw new UnsupportedTemplateError(
            `${resource.stack}/${resource.logicalId}: the local runner has no counterpart for ${resource.type}`,
          )
        }
    }
  }
  return Object.freeze(model)
}
