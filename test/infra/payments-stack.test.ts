import { describe, expect, test } from 'vitest'
import { onlyResource, resourcesOf, synthesize } from './templates.ts'

const { data, payments } = synthesize()
const DAY_SECONDS = 86_400

const FUNCTIONS = ['OrdersApi', 'PaymentsWorker', 'PaymentWebhook', 'LedgerWorker', 'OutboxRelay', 'Reconciler']
const functionOf = (id: string) => onlyResource(payments, 'AWS::Lambda::Function', id)
const queueOf = (idStart: string) => onlyResource(payments, 'AWS::SQS::Queue', idStart)
const mappingOf = (id: string) => onlyResource(payments, 'AWS::Lambda::EventSourceMapping', id)[1].Properties

describe.each([
  ['Payments', 'Payments1', 'PaymentsWorker'],
  ['PaidOrders', 'PaidOrders7', 'LedgerWorker'],
])('the queue %s', (name, queueId, functionId) => {
  const [, queue] = queueOf(queueId)
  const [deadLettersId, deadLetters] = queueOf(`${name}DeadLetters`)
  const [workerId, worker] = functionOf(functionId)

  test('keeps a message invisible for six times as long as the worker may run', () => {
    expect(queue.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * worker.Properties.Timeout)
  })

  test('sends a message that fails five times to the dead-letter queue', () => {
    expect(queue.Properties.RedrivePolicy).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': [deadLettersId, 'Arn'] },
      maxReceiveCount: 5,
    })
  })

  test('has dead letters that are kept longer than its messages', () => {
    expect(deadLetters.Properties.MessageRetentionPeriod).toBeGreaterThan(queue.Properties.MessageRetentionPeriod)
  })

  test('feeds its worker ten messages at a time and takes partial failures', () => {
    expect(mappingOf(name)).toMatchObject({
      FunctionName: { Ref: workerId },
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    })
  })

  test('filters nothing: what a filter does not match is deleted', () => {
    expect(mappingOf(name)).not.toHaveProperty('FilterCriteria')
  })

  test.each(['OrdersApi', 'PaymentsWorker', 'PaymentWebhook', 'LedgerWorker', 'Reconciler'])(
    '%s protects an operation until its message can no longer come again, and the day longer that orders rely on',
    (id) => {
      const [, { Properties }] = functionOf(id)
      expect(Number(Properties.Environment.Variables.RETENTION_SECONDS)).toBeGreaterThanOrEqual(
        queue.Properties.MessageRetentionPeriod + deadLetters.Properties.MessageRetentionPeriod + DAY_SECONDS,
      )
    },
  )
})

test('paid orders are told of in order, each account for itself', () => {
  const [, queue] = queueOf('PaidOrders7')
  expect(queue.Properties).toMatchObject({ FifoQueue: true })
  expect(queue.Properties).not.toHaveProperty('ContentBasedDeduplication')
})

describe('the API', () => {
  const route = (key: string) => {
    const found = resourcesOf(payments, 'AWS::ApiGatewayV2::Route').find(
      ([, { Properties }]) => Properties.RouteKey === key,
    )
    return found![1].Properties
  }

  test('takes orders from callers whose token was verified', () => {
    const [authorizerId, { Properties: authorizer }] = onlyResource(payments, 'AWS::ApiGatewayV2::Authorizer')
    expect(route('POST /orders')).toMatchObject({ AuthorizationType: 'JWT', AuthorizerId: { Ref: authorizerId } })
    expect(authorizer).toMatchObject({
      AuthorizerType: 'JWT',
      IdentitySource: ['$request.header.Authorization'],
      JwtConfiguration: { Issuer: 'https://issuer.test', Audience: ['audience-of-the-test'] },
    })
  })

  test('takes what the payment provider has signed, and no other route', () => {
    expect(route('POST /webhooks/payments')).toMatchObject({ AuthorizationType: 'NONE' })
    expect(resourcesOf(payments, 'AWS::ApiGatewayV2::Route')).toHaveLength(2)
    const [, webhook] = functionOf('PaymentWebhook')
    // Resolved while CloudFormation deploys, so that the secret is in no template.
    expect(webhook.Properties.Environment.Variables.PAYMENT_WEBHOOK_SECRET).toBe(
      '{{resolve:secretsmanager:webhook-secret-of-the-test:SecretString:::}}',
    )
  })

  test('hands requests to the functions in the format they read', () => {
    const integrations = resourcesOf(payments, 'AWS::ApiGatewayV2::Integration').map(([, { Properties }]) => Properties)
    expect(integrations).toMatchObject(
      ['OrdersApi', 'PaymentWebhook'].map((id) => ({
        IntegrationUri: { 'Fn::GetAtt': [functionOf(id)[0], 'Arn'] },
        PayloadFormatVersion: '2.0',
      })),
    )
  })
})

describe('what is left behind', () => {
  test('is looked for every minute', () => {
    const [, { Properties }] = onlyResource(payments, 'AWS::Events::Rule')
    const [reconcilerId] = functionOf('Reconciler')
    expect(Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      Targets: [{ Arn: { 'Fn::GetAtt': [reconcilerId, 'Arn'] } }],
    })
  })

  test('is found by all who write it: the index has as many shards for each of them', () => {
    const shards = FUNCTIONS.filter((id) => id !== 'OutboxRelay').map(
      (id) => functionOf(id)[1].Properties.Environment.Variables.RECONCILER_SHARDS,
    )
    expect(new Set(shards)).toEqual(new Set(['4']))
  })
})

describe('the functions', () => {
  test.each(FUNCTIONS)('%s runs on Node 24 on arm64 and keeps its logs for a month', (id) => {
    const [, { Properties }] = functionOf(id)
    const [logsId, { Properties: logs }] = onlyResource(payments, 'AWS::Logs::LogGroup', `${id}Logs`)
    expect(Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      LoggingConfig: { LogGroup: { Ref: logsId } },
    })
    expect(logs.RetentionInDays).toBe(30)
  })

  test('know their tables, queues and provider by reference', () => {
    const imported = (logicalIdStart: string) => ({
      'Fn::ImportValue': expect.stringContaining(`ExportsOutputRef${logicalIdStart}`),
    })
    const variablesOf = (id: string) => functionOf(id)[1].Properties.Environment.Variables
    const IDEMPOTENCY_TABLE = imported('IdempotencyTable')
    const PAYMENTS_QUEUE_URL = { Ref: queueOf('Payments1')[0] }
    expect(variablesOf('OrdersApi')).toMatchObject({
      IDEMPOTENCY_TABLE,
      ORDERS_TABLE: imported('OrdersTable'),
      PAYMENTS_QUEUE_URL,
    })
    expect(variablesOf('PaymentsWorker')).toMatchObject({
      IDEMPOTENCY_TABLE,
      ORDERS_TABLE: imported('OrdersTable'),
      LEDGER_TABLE: imported('LedgerTable'),
      PAYMENTS_QUEUE_URL,
      ORDER_PAID_QUEUE_URL: { Ref: queueOf('PaidOrders7')[0] },
      PAYMENT_PROVIDER_URL: 'https://provider.test',
    })
    expect(variablesOf('LedgerWorker')).toMatchObject({ IDEMPOTENCY_TABLE, BALANCES_TABLE: imported('BalancesTable') })
    for (const id of ['PaymentWebhook', 'OutboxRelay', 'Reconciler']) {
      expect(variablesOf(id)).toMatchObject({ IDEMPOTENCY_TABLE })
    }
  })
})

describe('permissions', () => {
  const store = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem']
  const shared = [...store, 'dynamodb:PartiQLInsert', 'dynamodb:PartiQLUpdate'].sort()
  const logs = ['logs:CreateLogStream', 'logs:PutLogEvents']
  const consume = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage']

  test('the orders function may claim operations, write orders, send payments and log', () => {
    expect(grantsOf('OrdersApi')).toEqual({
      OrdersApiLogs: logs,
      IdempotencyTable: store,
      OrdersTable: ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
      Payments: ['sqs:SendMessage'],
    })
  })

  test('the payments worker may claim operations, book payments, consume its queue and log', () => {
    expect(grantsOf('PaymentsWorker')).toEqual({
      PaymentsWorkerLogs: logs,
      IdempotencyTable: shared,
      OrdersTable: ['dynamodb:UpdateItem'],
      LedgerTable: ['dynamodb:PutItem', 'dynamodb:Query'],
      Payments: consume,
    })
  })

  test('the ledger worker may claim operations, write balances, consume its queue and log', () => {
    expect(grantsOf('LedgerWorker')).toEqual({
      LedgerWorkerLogs: logs,
      IdempotencyTable: shared,
      BalancesTable: ['dynamodb:PutItem'],
      PaidOrders: consume,
    })
  })

  test('the webhook may claim and wake operations and log', () => {
    expect(grantsOf('PaymentWebhook')).toEqual({ PaymentWebhookLogs: logs, IdempotencyTable: store })
  })

  test('the relay may send messages, mark them, note what it gave up, and log', () => {
    const { OutboxRelayLogs, IdempotencyTable, Payments, PaidOrders, OutboxRelayDeadLetters, ...stream } =
      grantsOf('OutboxRelay')
    expect({ OutboxRelayLogs, IdempotencyTable, Payments, PaidOrders, OutboxRelayDeadLetters }).toEqual({
      OutboxRelayLogs: logs,
      IdempotencyTable: ['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'],
      Payments: ['sqs:SendMessage'],
      PaidOrders: ['sqs:SendMessage'],
      OutboxRelayDeadLetters: ['sqs:SendMessage'],
    })
    expect(Object.values(stream)).toEqual([
      ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
      ['dynamodb:ListStreams'],
    ])
  })

  test('the reconciler may take operations over, and deliver what it finds again', () => {
    const { ReconcilerLogs, IdempotencyTable, Payments, PaidOrders, OrdersApi, ...index } = grantsOf('Reconciler')
    expect({ ReconcilerLogs, IdempotencyTable, Payments, PaidOrders, OrdersApi }).toEqual({
      ReconcilerLogs: logs,
      IdempotencyTable: [...store, 'dynamodb:Query'].sort(),
      Payments: ['sqs:SendMessage'],
      PaidOrders: ['sqs:SendMessage'],
      OrdersApi: ['lambda:InvokeFunction'],
    })
    expect(Object.entries(index)).toEqual([[expect.stringMatching(/index\/due/), ['dynamodb:Query']]])
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
