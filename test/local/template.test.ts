import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DescribeTableCommand, DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { type SqsEmulator, startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import { createQueues, createTables } from '../../infra/local/template/deploy.ts'
import { loadModel } from '../../infra/local/template/load.ts'

// Written by `cdk synth` for an app of two stacks: a TableV2 in one, queues, a function and an HTTP API in the other.
const ASSEMBLY = fileURLToPath(new URL('./fixtures/assembly', import.meta.url))
const place = { region: 'eu-central-1', sqsEndpoint: 'http://127.0.0.1:1', apiEndpoint: 'http://127.0.0.1:2' }

describe('a synthesized app', () => {
  const model = loadModel(ASSEMBLY, place)

  test('brings its tables with keys, indexes, stream and TTL attribute', () => {
    expect(model.tables).toEqual([
      {
        logicalId: 'IdemF2EBF719',
        name: 'Data-IdemF2EBF719',
        streamArn: expect.stringMatching(
          /^arn:aws:dynamodb:eu-central-1:000000000000:table\/Data-IdemF2EBF719\/stream\//,
        ),
        ttlAttribute: 'expiresAt',
        creation: expect.objectContaining({
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'sk', KeyType: 'RANGE' },
          ],
          GlobalSecondaryIndexes: [expect.objectContaining({ IndexName: 'gsi' })],
          StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
        }),
      },
    ])
  })

  test('brings its queues with visibility and redrive', () => {
    const [dead, queue] = model.queues
    expect(queue).toMatchObject({
      visibilitySeconds: 30,
      url: 'http://127.0.0.1:1/000000000000/Service-Q63C6E3AB',
      redrive: { deadLetterQueueArn: dead?.arn, maxReceiveCount: 5 },
    })
    expect(dead?.attributes).toEqual({ MessageRetentionPeriod: '1209600' })
  })

  test('brings its functions with the bundled code and an environment without intrinsics', () => {
    expect(model.functions).toEqual([
      expect.objectContaining({
        name: 'Service-Fn9270CBC0',
        handler: 'index.handler',
        timeoutSeconds: 5,
        memoryMegabytes: 128,
        codeDirectory: expect.stringContaining('/asset.'),
        environment: {
          T: 'Data-IdemF2EBF719',
          Q: 'http://127.0.0.1:1/000000000000/Service-Q63C6E3AB',
          ARN: 'arn:aws:sqs:eu-central-1:000000000000:Service-Q63C6E3AB',
          X: 'a-Data-IdemF2EBF719',
        },
      }),
    ])
  })

  test('brings its event source mapping', () => {
    expect(model.queueMappings).toEqual([
      expect.objectContaining({
        queueArn: 'arn:aws:sqs:eu-central-1:000000000000:Service-Q63C6E3AB',
        functionName: 'Service-Fn9270CBC0',
        batchSize: 10,
        windowSeconds: 0,
        reportsBatchItemFailures: true,
        maxConcurrency: 5,
      }),
    ])
  })

  test('brings its routes with their authorizer', () => {
    expect(model.routes).toEqual([
      {
        routeKey: 'POST /orders',
        functionName: 'Service-Fn9270CBC0',
        timeoutMs: 30_000,
        authorizer: { issuer: 'https://issuer.example', audiences: ['aud'], header: 'authorization', scopes: [] },
      },
    ])
  })
})

const MAPPING = 'AWS::Lambda::EventSourceMapping'
const RULE = 'AWS::Events::Rule'
const FUNCTION = 'arn:aws:lambda:eu-central-1:000000000000:function:f'
const stream = (more: object) => ({
  EventSourceArn: 'arn:aws:dynamodb:eu-central-1:000000000000:table/t/stream/s',
  FunctionName: 'f',
  StartingPosition: 'LATEST',
  ...more,
})
const rule = (more: object) => ({ ScheduleExpression: 'rate(1 minute)', Targets: [{ Arn: FUNCTION }], ...more })

describe('a template the runner cannot run as it stands is refused, naming the resource', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'lambda-once-template-'))
    cpSync(ASSEMBLY, directory, { recursive: true })
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const change = (logicalId: string, properties: object, type?: string) => {
    const path = join(directory, 'Service.template.json')
    const template = JSON.parse(readFileSync(path, 'utf8'))
    template.Resources[logicalId] ??= {}
    const resource = template.Resources[logicalId]
    if (type) resource.Type = type
    resource.Properties = { ...resource.Properties, ...properties }
    writeFileSync(path, JSON.stringify(template))
  }

  test.each([
    ['Fn9270CBC0', { Layers: ['arn:layer'] }, undefined, /Service\/Fn9270CBC0.*does not know property Layers/],
    ['Fn9270CBC0', { Runtime: 'python3.13' }, undefined, /Service\/Fn9270CBC0.*runtime python3\.13/],
    ['Fn9270CBC0', { Environment: { Variables: { A: { Ref: 'Nobody' } } } }, undefined, /a reference to Nobody/],
    ['Fn9270CBC0', { Environment: { Variables: { A: { 'Fn::Base64': 'x' } } } }, undefined, /support Fn::Base64/],
    ['Fn9270CBC0', { Code: { ZipFile: 'x' } }, undefined, /only code that CDK bundled/],
    [
      'FnSqsEventSourceServiceQD57360F9A1842441',
      { FilterCriteria: {} },
      undefined,
      /does not know property FilterCriteria/,
    ],
    ['ApiF70053CD', { CorsConfiguration: {} }, undefined, /does not know property CorsConfiguration/],
    ['ApiPOSTorders035B9622', { AuthorizationType: 'AWS_IAM' }, undefined, /AuthorizationType AWS_IAM/],
    ['ApiDefaultStage189A7074', { StageName: 'prod' }, undefined, /only the \$default stage/],
    [
      'FnSqsEventSourceServiceQD57360F9A1842441',
      { EventSourceArn: 'arn:aws:sqs:eu-central-1:000000000000:q.fifo', BatchSize: 11 },
      undefined,
      /a FIFO queue takes a BatchSize of at most 10 and no batching window/,
    ],
    ['Stream', stream({ ParallelizationFactor: 2 }), MAPPING, /Service\/Stream.*one batch at a time per shard/],
    ['Stream', stream({ StartingPosition: 'AT_TIMESTAMP' }), MAPPING, /StartingPosition AT_TIMESTAMP/],
    ['Stream', stream({ TumblingWindowInSeconds: 1 }), MAPPING, /does not know property TumblingWindowInSeconds/],
    [
      'Stream',
      stream({ DestinationConfig: { OnFailure: { Destination: 'arn:aws:sns:eu-central-1:000000000000:t' } } }),
      MAPPING,
      /only an SQS queue as the destination of failed batches/,
    ],
    [
      'Stream',
      stream({ FilterCriteria: { Filters: [{ Pattern: '{"eventName":[{"suffix":"T"}]}' }] } }),
      MAPPING,
      /Service\/Stream: filter pattern eventName: \{"suffix":"T"\}; the local runner has equality, prefix/,
    ],
    [
      'Stream',
      { EventSourceArn: 'arn:aws:kinesis:x' },
      MAPPING,
      /polls SQS queues and DynamoDB streams, not arn:aws:kin/,
    ],
    ['Rule', rule({ ScheduleExpression: 'cron(0 8 * * ? *)' }), RULE, /Service\/Rule: only rate\(/],
    ['Rule', { EventPattern: { source: ['x'] } }, RULE, /does not know property EventPattern/],
    ['Rule', rule({ Targets: [{ Id: 'T', Arn: 'arn:aws:sqs:x:y:q' }] }), RULE, /only a function as the target/],
    [
      'Rule',
      rule({ Targets: [{ Arn: FUNCTION, InputTransformer: {} }] }),
      RULE,
      /property InputTransformer of a target/,
    ],
    ['Async', { DestinationConfig: {} }, 'AWS::Lambda::EventInvokeConfig', /does not know property DestinationConfig/],
    ['Bus', {}, 'AWS::Events::EventBus', /Service\/Bus.*no counterpart for AWS::Events::EventBus/],
  ])('%s %j', (logicalId, properties, type, message) => {
    change(logicalId, properties, type)
    expect(() => loadModel(directory, place)).toThrow(message)
  })

  test('a schedule that is switched off never runs', () => {
    change('Rule', rule({ State: 'DISABLED' }), RULE)
    expect(loadModel(directory, place).schedules).toEqual([])
  })

  test.each([
    ['rate(1 minute)', 60],
    ['rate(2 hours)', 7200],
    ['rate(7 days)', 604_800],
  ])('%s is every %d seconds', (ScheduleExpression, everySeconds) => {
    change('Rule', rule({ ScheduleExpression }), RULE)
    expect(loadModel(directory, place).schedules).toMatchObject([
      { everySeconds, functionName: 'f', event: { kind: 'rule' } },
    ])
  })

  test('a stream’s mapping without settings has Lambda’s defaults', () => {
    change('Stream', stream({}), MAPPING)
    expect(loadModel(directory, place).streamMappings).toMatchObject([
      { batchSize: 100, windowSeconds: 0, filters: [], maxRetries: Infinity, maxRecordAgeSeconds: Infinity },
    ])
  })

  test('a directory without a cloud assembly says what to run', () => {
    expect(() => loadModel(tmpdir(), place)).toThrow(/run npm run synth first/)
  })
})

describe('deployed to the local engines', () => {
  let sqs: SqsEmulator

  beforeAll(async () => {
    sqs = await startSqsEmulator()
  })
  afterAll(() => sqs.stop())

  test('the tables and queues exist as the template says', async () => {
    const model = loadModel(ASSEMBLY, { ...place, sqsEndpoint: sqs.endpoint })
    await createTables(model, inject('dynamoDbEndpoint'))
    await createQueues(model, sqs.endpoint)
    const dynamoDb = new DynamoDBClient({ endpoint: inject('dynamoDbEndpoint') })
    const TableName = model.tables[0]!.name
    const { Table } = await dynamoDb.send(new DescribeTableCommand({ TableName }))
    expect(Table?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_IMAGE' })
    expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName)).toEqual(['gsi'])
    const { TimeToLiveDescription } = await dynamoDb.send(new DescribeTimeToLiveCommand({ TableName }))
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'expiresAt', TimeToLiveStatus: 'ENABLED' })

    const client = new SQSClient({ endpoint: sqs.endpoint })
    const [dead, queue] = model.queues
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: queue!.url, AttributeNames: ['All'] }),
    )
    expect(Attributes).toMatchObject({ QueueArn: queue!.arn, VisibilityTimeout: '30' })
    expect(JSON.parse(Attributes!.RedrivePolicy!)).toEqual({ deadLetterTargetArn: dead!.arn, maxReceiveCount: 5 })
  })
})
