import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTablesCommand,
} from '@aws-sdk/client-dynamodb'
import { GetQueueAttributesCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { App } from 'aws-cdk-lib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requireJava } from '../../infra/local/engines/java.ts'
import { type LocalService, startLocalService } from '../../infra/local/local-service.ts'
import type { Platform } from '../../infra/local/platform/platform.ts'
import { startProcesses } from '../../infra/local/platform/processes.ts'
import { addSampleService } from '../../infra/stacks/sample-service.ts'
import { readSettings } from '../../infra/stacks/settings.ts'

// What `cdk deploy` would get, bundles and all.
const out = mkdtempSync(join(tmpdir(), 'lambda-once-parity-'))
const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'))
const app = new App({ outdir: join(out, 'cdk.out'), context, analyticsReporting: false })
addSampleService(app, readSettings(app.node))
const assembly = app.synth()

// biome-ignore lint/suspicious/noExplicitAny: a template is JSON, and each test names the path it is about.
type Json = any

interface Deployed {
  readonly id: string
  readonly type: string
  readonly properties: Json
}

const templates: Json[] = assembly.stacks.map(({ template }) => template)
const resources: readonly Deployed[] = templates.flatMap(({ Resources }) =>
  Object.entries<Json>(Resources).map(([id, { Type: type, Properties: properties }]) => ({ id, type, properties })),
)
const exported = new Map<string, unknown>(
  templates.flatMap(({ Outputs = {} }) =>
    Object.values<Json>(Outputs).flatMap(({ Export, Value }) => (Export ? [[Export.Name, Value] as const] : [])),
  ),
)
const ofType = (...types: string[]) => resources.filter(({ type }) => types.includes(type))
const TABLES = ofType('AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table')
const QUEUES = ofType('AWS::SQS::Queue')
const FUNCTIONS = ofType('AWS::Lambda::Function')
const MAPPINGS = ofType('AWS::Lambda::EventSourceMapping')
const RULES = ofType('AWS::Events::Rule', 'AWS::Scheduler::Schedule')
const ROUTES = ofType('AWS::ApiGatewayV2::Route')

let platform: Platform
let service: LocalService
let dynamoDb: DynamoDBClient
let sqs: SQSClient
let tableNames: readonly string[]
let queueUrls: readonly string[]

beforeAll(async () => {
  platform = await startProcesses({ javaPath: requireJava() })
  service = await startLocalService({
    assemblyDirectory: join(out, 'cdk.out'),
    logDirectory: join(out, 'logs'),
    platform,
    environmentOverrides: {},
  })
  const { region } = service.model
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  dynamoDb = new DynamoDBClient({ endpoint: platform.dynamoDbEndpoint!, region, credentials })
  sqs = new SQSClient({ endpoint: service.sqsEndpoint, region, credentials })
  tableNames = (await dynamoDb.send(new ListTablesCommand({}))).TableNames ?? []
  queueUrls = (await sqs.send(new ListQueuesCommand({}))).QueueUrls ?? []
}, 120_000)
afterAll(async () => {
  dynamoDb?.destroy()
  sqs?.destroy()
  await service?.stop()
  rmSync(out, { recursive: true })
})

/** The engine's name for a resource: it has the logical id in it, since the template fixes none. */
function named(names: readonly string[], id: string): string {
  const found = names.filter((name) => name.includes(`-${id}`))
  expect(found).toHaveLength(1)
  return found[0]!
}

async function attributesOf(id: string): Promise<Record<string, string>> {
  const QueueUrl = named(queueUrls, id)
  return (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))).Attributes ?? {}
}

const functionNamed = (id: string) =>
  named(
    service.model.functions.map(({ name }) => name),
    id,
  )

test('the sample has something of every kind that is compared', () => {
  for (const some of [TABLES, QUEUES, FUNCTIONS, MAPPINGS, RULES, ROUTES]) expect(some).not.toEqual([])
})

describe('the engine of tables', () => {
  test('has the tables of the template and no other', () => {
    expect(tableNames).toHaveLength(TABLES.length)
    for (const { id } of TABLES) named(tableNames, id)
  })

  test.each(TABLES)(
    'says of $id what the template says: keys, indexes, stream, billing',
    async ({ id, properties }) => {
      const { Table = {} } = await dynamoDb.send(new DescribeTableCommand({ TableName: named(tableNames, id) }))
      expect(Table.KeySchema).toEqual(properties.KeySchema)
      expect(byName(Table.AttributeDefinitions)).toEqual(byName(properties.AttributeDefinitions))
      expect(Table.BillingModeSummary?.BillingMode).toBe(properties.BillingMode)
      expect(
        Table.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
          IndexName,
          KeySchema,
          Projection,
        })),
      ).toEqual(properties.GlobalSecondaryIndexes)
      expect(Table.LocalSecondaryIndexes).toEqual(properties.LocalSecondaryIndexes)
      expect(Table.StreamSpecification?.StreamViewType).toBe(properties.StreamSpecification?.StreamViewType)
      expect(Table.LatestStreamArn !== undefined).toBe(properties.StreamSpecification !== undefined)
    },
  )

  test.each(TABLES)('expires the items of $id as the template says', async ({ id, properties }) => {
    const command = new DescribeTimeToLiveCommand({ TableName: named(tableNames, id) })
    const { TimeToLiveDescription } = await dynamoDb.send(command)
    const { AttributeName, Enabled = false } = properties.TimeToLiveSpecification ?? {}
    expect(TimeToLiveDescription).toEqual({
      TimeToLiveStatus: Enabled ? 'ENABLED' : 'DISABLED',
      ...(AttributeName && { AttributeName }),
    })
  })
})

describe('the engine of queues', () => {
  test('has the queues of the template and no other', () => {
    expect(queueUrls).toHaveLength(QUEUES.length)
    for (const { id } of QUEUES) named(queueUrls, id)
  })

  test.each(QUEUES)('says of $id what the template says', async ({ id, properties }) => {
    const { RedrivePolicy, SqsManagedSseEnabled: _encryption, Tags: _tags, ...stated } = properties
    const attributes = await attributesOf(id)
    expect(attributes).toMatchObject(
      Object.fromEntries(Object.entries(stated).map(([name, value]) => [name, String(value)])),
    )
    expect(attributes.FifoQueue ?? 'false').toBe(String(properties.FifoQueue ?? false))
    const policy = attributes.RedrivePolicy && JSON.parse(attributes.RedrivePolicy)
    if (RedrivePolicy === undefined) expect(policy).toBeUndefined()
    else {
      const [deadLetters] = RedrivePolicy.deadLetterTargetArn['Fn::GetAtt']
      expect({ ...policy, maxReceiveCount: Number(policy.maxReceiveCount) }).toEqual({
        deadLetterTargetArn: (await attributesOf(deadLetters)).QueueArn,
        maxReceiveCount: RedrivePolicy.maxReceiveCount,
      })
    }
  })
})

describe('event sources', () => {
  test('are those of the template and no other', () => {
    const { queueMappings, streamMappings } = service.model
    expect([...queueMappings, ...streamMappings].map(({ logicalId }) => logicalId).sort()).toEqual(
      MAPPINGS.map(({ id }) => id).sort(),
    )
  })

  test.each(MAPPINGS)('$id is started with every setting of the template', async ({ id, properties }) => {
    const { EventSourceArn, FunctionName, FunctionResponseTypes, BatchSize, ...settings } = properties
    const { queueMappings, streamMappings } = service.model
    const queue = queueMappings.find(({ logicalId }) => logicalId === id)
    const stream = streamMappings.find(({ logicalId }) => logicalId === id)
    const common = {
      functionName: functionNamed(FunctionName.Ref),
      batchSize: BatchSize,
      windowSeconds: settings.MaximumBatchingWindowInSeconds ?? 0,
      reportsBatchItemFailures: FunctionResponseTypes.includes('ReportBatchItemFailures'),
    }
    // Of a setting that is not compared below nobody would know whether it is followed.
    const compared = [
      'MaximumBatchingWindowInSeconds',
      'ScalingConfig',
      'BisectBatchOnFunctionError',
      'DestinationConfig',
    ]
    const ofStreams = ['FilterCriteria', 'MaximumRetryAttempts', 'MaximumRecordAgeInSeconds', 'StartingPosition']
    for (const name of Object.keys(settings)) expect([...compared, ...ofStreams, 'Tags']).toContain(name)
    if (queue) {
      expect(queue).toMatchObject({
        ...common,
        queueArn: (await attributesOf(EventSourceArn['Fn::GetAtt'][0])).QueueArn,
        maxConcurrency: settings.ScalingConfig?.MaximumConcurrency,
      })
    } else {
      const { OnFailure } = settings.DestinationConfig
      expect(stream).toMatchObject({
        ...common,
        startingPosition: settings.StartingPosition,
        bisectsOnError: settings.BisectBatchOnFunctionError ?? false,
        maxRetries: settings.MaximumRetryAttempts,
        maxRecordAgeSeconds: settings.MaximumRecordAgeInSeconds ?? Number.POSITIVE_INFINITY,
        onFailureQueueArn: (await attributesOf(OnFailure.Destination['Fn::GetAtt'][0])).QueueArn,
      })
      expect(stream?.filters).toHaveLength(settings.FilterCriteria.Filters.length)
      // The template's stream is that of the table with this export.
      const table = service.model.tables.find(({ streamArn }) => streamArn === stream?.streamArn)
      expect(EventSourceArn['Fn::ImportValue']).toContain(table?.logicalId)
    }
  })
})

test.each(RULES)('$id runs its function as often as the template says', ({ id, properties }) => {
  const [, count, unit] = /^rate\((\d+) (\w+?)s?\)$/.exec(properties.ScheduleExpression) ?? []
  const seconds: Record<string, number> = { minute: 60, hour: 3_600, day: 86_400 }
  expect(service.model.schedules.filter(({ logicalId }) => logicalId === id)).toMatchObject(
    properties.Targets.map(({ Arn }: Json) => ({
      everySeconds: Number(count) * seconds[unit!]!,
      functionName: functionNamed(Arn['Fn::GetAtt'][0]),
    })),
  )
})

describe('the API', () => {
  test.each(ROUTES)('$id answers, and lets in nobody whom the template keeps out', async ({ properties }) => {
    const [method, path] = properties.RouteKey.split(' ')
    const { status } = await fetch(`${service.apiEndpoint}${path}`, { method, body: '{}' })
    // Without a token; the other kind of route asks for a signature itself.
    expect(status).toBe(401)
    const route = service.model.routes.find(({ routeKey }) => routeKey === properties.RouteKey)
    expect(route?.authorizer !== undefined).toBe(properties.AuthorizationType === 'JWT')
  })

  test('has no other route', async () => {
    expect(service.model.routes).toHaveLength(ROUTES.length)
    expect((await fetch(`${service.apiEndpoint}/nothing`, { method: 'POST' })).status).toBe(404)
  })
})

// Only there is a process's environment to be read by others.
describe.runIf(process.platform === 'linux')('functions', () => {
  test.each(FUNCTIONS)('the process of $id is given the variables of the template', async ({ id, properties }) => {
    const name = functionNamed(id)
    const pool = platform.processesOf(name)!
    // It has nothing to do with this event; it is started by it.
    const done = pool.invoke({})
    await expect.poll(() => pool.busy().length, { timeout: 20_000 }).toBe(1)
    const environment = readFileSync(`/proc/${pool.busy()[0]!.pid}/environ`, 'utf8').split('\0')
    const variables = Object.entries(properties.Environment.Variables)
    expect(variables).not.toEqual([])
    for (const [variable, value] of variables) expect(environment).toContain(`${variable}=${localValue(value)}`)
    await done
  })

  test.each(FUNCTIONS)('$id has the time, the memory and the code of the template', ({ id, properties }) => {
    const { Timeout, MemorySize, Handler, Code, ReservedConcurrentExecutions } = properties
    const started = platform.processesOf(functionNamed(id))!.definition
    expect(started).toMatchObject({
      timeoutSeconds: Timeout,
      memoryMegabytes: MemorySize,
      handler: Handler,
      reservedConcurrency: ReservedConcurrentExecutions,
      codeDirectory: join(out, 'cdk.out', `asset.${Code.S3Key.replace('.zip', '')}`),
    })
    expect(readdirSync(started.codeDirectory)).toContain('index.mjs')
  })
})

/** What a value of the template is on this machine, as the engines name it. */
function localValue(value: Json): string {
  if (typeof value === 'string') return value
  if (value['Fn::ImportValue']) return localValue(exported.get(value['Fn::ImportValue']))
  const [id] = [value.Ref ?? value['Fn::GetAtt']].flat()
  const isQueue = QUEUES.some((queue) => queue.id === id)
  if (!isQueue) return named(tableNames, id)
  // The emulator names a host of AWS's; functions reach it where it listens.
  return `${service.sqsEndpoint}${new URL(named(queueUrls, id)).pathname}`
}

function byName(definitions: Json): Json {
  return definitions.toSorted((one: Json, other: Json) => one.AttributeName.localeCompare(other.AttributeName))
}
