import { Duration } from 'aws-cdk-lib'
import { Vpc } from 'aws-cdk-lib/aws-ec2'
import { SqsEventSource, type SqsEventSourceProps } from 'aws-cdk-lib/aws-lambda-event-sources'
import { Queue, type QueueProps } from 'aws-cdk-lib/aws-sqs'
import { describe, expect, test } from 'vitest'
import { IdempotencyTable, IdempotentFunction } from '../../../infra/constructs/index.ts'
import { ENTRY, grantsOf, newStack, only, refusal } from './set-up.ts'

const FUNCTION = 'AWS::Lambda::Function'

describe('an idempotent function', () => {
  test('knows its table, its retention and its lease', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    new IdempotentFunction(stack, 'Fn', {
      entry: ENTRY,
      table,
      lease: Duration.minutes(2),
      environment: { OWN: 'value' },
    })
    const { id } = only(stack, 'AWS::DynamoDB::GlobalTable')
    expect(only(stack, FUNCTION).properties.Environment.Variables).toEqual({
      IDEMPOTENCY_TABLE: { Ref: id },
      RETENTION_SECONDS: '86400',
      LEASE_SECONDS: '120',
      OWN: 'value',
      NODE_OPTIONS: '--enable-source-maps',
    })
  })

  test('may use its table and write its own logs, and nothing else', () => {
    const stack = newStack()
    new IdempotentFunction(stack, 'Fn', { entry: ENTRY, table: new IdempotencyTable(stack, 'Table') })
    expect(grantsOf(stack, 'FnRole')).toEqual({
      FnLogs: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      Table: ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    })
    expect(only(stack, 'AWS::IAM::Role').properties).not.toHaveProperty('ManagedPolicyArns')
  })

  test('refuses variables of its own that would contradict the table', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    const environment = { RETENTION_SECONDS: '60' }
    expect(() => new IdempotentFunction(stack, 'Fn', { entry: ENTRY, table, environment })).toThrow(
      '[Stack/Fn] RETENTION_SECONDS is set by the construct',
    )
  })

  test('in a VPC may make its network interfaces', () => {
    const stack = newStack()
    const vpc = new Vpc(stack, 'Vpc')
    new IdempotentFunction(stack, 'Fn', { entry: ENTRY, table: new IdempotencyTable(stack, 'Table'), vpc })
    expect(JSON.stringify(only(stack, 'AWS::IAM::Role', /^FnServiceRole/).properties.ManagedPolicyArns)).toContain(
      'AWSLambdaVPCAccessExecutionRole',
    )
  })
})

describe('a queue added as an event source by hand', () => {
  const added = (
    queueProps: QueueProps,
    sourceProps: SqsEventSourceProps,
    props: { acknowledgeDrop?: boolean } = {},
  ) => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    const { function: fn } = new IdempotentFunction(stack, 'Fn', { entry: ENTRY, table, ...props })
    const dead = new Queue(stack, 'Dead', { retentionPeriod: Duration.days(14) })
    const sound = { visibilityTimeout: Duration.seconds(60), deadLetterQueue: { queue: dead, maxReceiveCount: 5 } }
    fn.addEventSource(new SqsEventSource(new Queue(stack, 'Own', { ...sound, ...queueProps }), sourceProps))
    return stack
  }
  const reported = { reportBatchItemFailures: true }

  test('passes when it is sound, and the records outlive it', () => {
    const stack = added({}, reported)
    expect(refusal(stack)).toBe('')
    expect(only(stack, FUNCTION).properties.Environment.Variables.RETENTION_SECONDS).toBe(String(18 * 86_400 + 3_600))
  })

  test.each<[string, QueueProps, SqsEventSourceProps]>([
    ['batch-item-failures-off', {}, {}],
    ['visibility-below-timeout', { visibilityTimeout: Duration.seconds(5) }, reported],
    ['no-dead-letters', { deadLetterQueue: undefined }, reported],
    ['filter-deletes-messages', {}, { ...reported, filters: [{ body: ['x'] }] }],
  ])('is refused for %s', (id, queueProps, sourceProps) => {
    const reasons = refusal(added(queueProps, sourceProps))
    expect(reasons).toContain('[Stack/Fn] ')
    expect(reasons).toContain(`(lambda-once:${id})`)
  })

  test('may drop what no filter matches when that is acknowledged', () => {
    const filters = [{ body: ['x'] }]
    expect(refusal(added({}, { ...reported, filters }, { acknowledgeDrop: true }))).toBe('')
  })
})
