import { describe, expect, test } from 'vitest'
import { onlyResource, resourcesOf, synthesize } from './templates.ts'

const { data, payments } = synthesize()

const [, queue] = onlyResource(payments, 'AWS::SQS::Queue', 'Payments130')
const [deadLettersId, deadLetters] = onlyResource(payments, 'AWS::SQS::Queue', 'PaymentsDeadLetters')
const [apiFunctionId, apiFunction] = onlyResource(payments, 'AWS::Lambda::Function', 'OrdersApi')
const [workerId, worker] = onlyResource(payments, 'AWS::Lambda::Function', 'PaymentsWorker')

describe('redelivery', () => {
  test('a message stays invisible for six times as long as the worker may run', () => {
    expect(queue.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * worker.Properties.Timeout)
  })

  test('a message that fails five times goes to the dead-letter queue', () => {
    expect(queue.Properties.RedrivePolicy).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': [deadLettersId, 'Arn'] },
      maxReceiveCount: 5,
    })
  })

  test('dead letters are kept longer than the source keeps its messages', () => {
    expect(deadLetters.Properties.MessageRetentionPeriod).toBeGreaterThan(queue.Properties.MessageRetentionPeriod)
  })

  test.each([
    ['OrdersApi', apiFunction],
    ['PaymentsWorker', worker],
  ])('%s protects an operation until its message can no longer come again', (_, { Properties }) => {
    expect(Number(Properties.Environment.Variables.RETENTION_SECONDS)).toBeGreaterThanOrEqual(
      queue.Properties.MessageRetentionPeriod + deadLetters.Properties.MessageRetentionPeriod,
    )
  })
})

describe('the event source', () => {
  const [, { Properties: source }] = onlyResource(payments, 'AWS::Lambda::EventSourceMapping')

  test('feeds the worker ten messages at a time and takes partial failures', () => {
    expect(source).toMatchObject({
      FunctionName: { Ref: workerId },
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    })
  })

  test('filters nothing: what a filter does not match is deleted', () => {
    expect(source).not.toHaveProperty('FilterCriteria')
  })
})

describe('the API', () => {
  test('has one route, for callers whose token was verified', () => {
    const [authorizerId, { Properties: authorizer }] = onlyResource(payments, 'AWS::ApiGatewayV2::Authorizer')
    const [, { Properties: route }] = onlyResource(payments, 'AWS::ApiGatewayV2::Route')
    expect(route).toMatchObject({
      RouteKey: 'POST /orders',
      AuthorizationType: 'JWT',
      AuthorizerId: { Ref: authorizerId },
    })
    expect(authorizer).toMatchObject({
      AuthorizerType: 'JWT',
      IdentitySource: ['$request.header.Authorization'],
      JwtConfiguration: { Issuer: 'https://issuer.test', Audience: ['audience-of-the-test'] },
    })
  })

  test('hands requests to the orders function in the format it reads', () => {
    const [, { Properties: integration }] = onlyResource(payments, 'AWS::ApiGatewayV2::Integration')
    expect(integration).toMatchObject({
      IntegrationUri: { 'Fn::GetAtt': [apiFunctionId, 'Arn'] },
      PayloadFormatVersion: '2.0',
    })
  })
})

describe('the functions', () => {
  test.each([
    ['OrdersApi', apiFunction],
    ['PaymentsWorker', worker],
  ])('%s runs on Node 24 on arm64 and keeps its logs for a month', (id, { Properties }) => {
    const [logsId, { Properties: logs }] = onlyResource(payments, 'AWS::Logs::LogGroup', `${id}Logs`)
    expect(Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      LoggingConfig: { LogGroup: { Ref: logsId } },
    })
    expect(logs.RetentionInDays).toBe(30)
  })

  test('know their tables, queue and provider by reference', () => {
    const imported = (logicalIdStart: string) => ({
      'Fn::ImportValue': expect.stringContaining(`ExportsOutputRef${logicalIdStart}`),
    })
    const [queueId] = onlyResource(payments, 'AWS::SQS::Queue', 'Payments130')
    expect(apiFunction.Properties.Environment.Variables).toMatchObject({
      IDEMPOTENCY_TABLE: imported('IdempotencyTable'),
      ORDERS_TABLE: imported('OrdersTable'),
      PAYMENTS_QUEUE_URL: { Ref: queueId },
    })
    expect(worker.Properties.Environment.Variables).toMatchObject({
      IDEMPOTENCY_TABLE: imported('IdempotencyTable'),
      PAYMENT_PROVIDER_URL: 'https://provider.test',
    })
  })
})

describe('permissions', () => {
  const store = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem']
  const logs = ['logs:CreateLogStream', 'logs:PutLogEvents']
  const consume = [
    'sqs:ChangeMessageVisibility',
    'sqs:DeleteMessage',
    'sqs:GetQueueAttributes',
    'sqs:GetQueueUrl',
    'sqs:ReceiveMessage',
  ]

  test('the orders function may claim operations, add orders, send payments and log', () => {
    expect(grantsOf('OrdersApi')).toEqual({
      OrdersApiLogs: logs,
      IdempotencyTable: store,
      OrdersTable: ['dynamodb:PutItem'],
      Payments: ['sqs:SendMessage'],
    })
  })

  test('the worker may claim operations, consume its queue and log', () => {
    expect(grantsOf('PaymentsWorker')).toEqual({ PaymentsWorkerLogs: logs, IdempotencyTable: store, Payments: consume })
  })

  test("no role has a managed policy, which would reach beyond the service's own resources", () => {
    for (const [, { Properties }] of resourcesOf(payments, 'AWS::IAM::Role')) {
      expect(Properties).not.toHaveProperty('ManagedPolicyArns')
    }
  })
})

describe('names', () => {
  test('no table, queue, function, role or log group has a fixed name: two stages fit in one account', () => {
    const named = [data, payments].flatMap((template) =>
      NAMED.flatMap(([type, property]) =>
        resourcesOf(template, type).flatMap(([id, { Properties }]) => (property in Properties ? [id] : [])),
      ),
    )
    expect(named).toEqual([])
  })
})

const NAMED: readonly (readonly [type: string, property: string])[] = [
  ['AWS::DynamoDB::GlobalTable', 'TableName'],
  ['AWS::SQS::Queue', 'QueueName'],
  ['AWS::Lambda::Function', 'FunctionName'],
  ['AWS::IAM::Role', 'RoleName'],
  ['AWS::Logs::LogGroup', 'LogGroupName'],
]

/** Every action a function's role is allowed, by the resource it is allowed on. */
function grantsOf(functionId: string): Record<string, string[]> {
  const grants: Record<string, string[]> = {}
  for (const [, { Properties }] of resourcesOf(payments, 'AWS::IAM::Policy', `${functionId}Role`)) {
    for (const { Effect, Action, Resource } of Properties.PolicyDocument.Statement) {
      expect(Effect).toBe('Allow')
      for (const resource of [Resource].flat()) {
        const name = resourceName(resource)
        grants[name] = [...(grants[name] ?? []), ...[Action].flat()].sort()
      }
    }
  }
  return grants
}

/** `PaymentsWorkerLogs` of a reference to `PaymentsWorkerLogs08E6A358`, of this stack or the other. */
function resourceName(reference: { 'Fn::GetAtt'?: [string, string]; 'Fn::ImportValue'?: string }): string {
  const id = reference['Fn::GetAtt']?.[0] ?? reference['Fn::ImportValue']?.match(/GetAtt(\w+?)Arn[0-9A-F]{8}$/)?.[1]
  return id?.replace(/[0-9A-F]{8}$/, '') ?? JSON.stringify(reference)
}
