import { Duration, type Stack } from 'aws-cdk-lib'
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { EventBus } from 'aws-cdk-lib/aws-events'
import type { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { describe, expect, test } from 'vitest'
import {
  IdempotencyTable,
  IdempotentFunction,
  IdempotentQueue,
  OutboxRelay,
  type OutboxRelayProps,
  Reconciler,
} from '../../../infra/constructs/index.ts'
import { ENTRY, grantsOf, newStack, only, plainFunction, refusal, warnings } from './set-up.ts'

function outbox(props: Partial<OutboxRelayProps> = {}, period?: Duration) {
  const stack = newStack()
  const table = new IdempotencyTable(stack, 'Table', { stream: true, reconcilerIndex: true })
  const relay = new OutboxRelay(stack, 'Relay', { table, entry: ENTRY, ...props })
  const reconciler = new Reconciler(stack, 'Reconciler', { table, entry: ENTRY, ...(period && { period }) })
  return { stack, table, relay, reconciler }
}

const mappingOf = (stack: Stack) => only(stack, 'AWS::Lambda::EventSourceMapping', /^Relay/).properties

describe('a relay', () => {
  test('sees new outbox items from the beginning, and one bad message does not stop the rest', () => {
    const { stack } = outbox()
    const { id } = only(stack, 'AWS::SQS::Queue', /^RelayDeadLetters/)
    expect(mappingOf(stack)).toMatchObject({
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      MaximumRetryAttempts: 20,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [id, 'Arn'] } } },
    })
    expect(
      mappingOf(stack).FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern)),
    ).toEqual([{ eventName: ['INSERT'], dynamodb: { Keys: { sk: { S: [{ prefix: 'outbox#' }] } } } }])
    expect(refusal(stack)).toBe('')
    expect(warnings(stack)).toEqual([])
  })

  test('may read its stream, mark messages, send to its targets, and nothing else', () => {
    const { stack, relay } = outbox()
    relay.addTarget({ queue: new Queue(stack, 'Orders') })
    relay.addTarget({ topic: new Topic(stack, 'News') })
    relay.addTarget({ eventBus: new EventBus(stack, 'Bus') })
    relay.addTarget({ function: plainFunction(stack) })
    expect(grantsOf(stack, 'RelayRole')).toEqual({
      RelayLogs: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      Table: ['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'],
      'Table.StreamArn': ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
      'Table/stream/*': ['dynamodb:ListStreams'],
      RelayDeadLetters: ['sqs:SendMessage'],
      Orders: ['sqs:SendMessage'],
      News: ['sns:Publish'],
      Bus: ['events:PutEvents'],
      Plain: ['lambda:InvokeFunction'],
    })
  })

  test('makes the records of the queues it sends to outlive stream and reconciler, too', () => {
    const { stack, relay, table } = outbox({}, Duration.minutes(10))
    const consumer = new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table })
    relay.addTarget({ queue: new IdempotentQueue(stack, 'Queue', { consumer }) })
    expect(stack.resolve(table.retentionSeconds)).toBe(String(19 * 86_400 + 600 + 3_600))
  })

  test('without a reconciler on its table is refused, unless that one lies elsewhere', () => {
    const alone = (props: Partial<OutboxRelayProps>) => {
      const stack = newStack()
      const table = new IdempotencyTable(stack, 'Table', { stream: true })
      new OutboxRelay(stack, 'Relay', { table, entry: ENTRY, ...props })
      return refusal(stack)
    }
    expect(alone({})).toMatch(/\[Stack\/Relay\] 0 reconcilers.*\(lambda-once:relay-without-reconciler\)/)
    expect(alone({ acknowledgeNoReconciler: true })).toBe('')
  })

  test('on a table without a stream is refused', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    new OutboxRelay(stack, 'Relay', { table, entry: ENTRY, acknowledgeNoReconciler: true })
    expect(refusal(stack)).toMatch(/\[Stack\/Table\].*stream: true/)
  })

  test('on an imported table needs its stream said', () => {
    const stack = newStack()
    const table = TableV2.fromTableName(stack, 'Imported', 'records')
    const unknown = new IdempotencyTable(stack, 'Unknown', { table })
    expect(() => new OutboxRelay(stack, 'Relay', { table: unknown, entry: ENTRY })).toThrow('tableStreamArn')
  })

  test('whose event source was changed is refused', () => {
    const { stack, relay } = outbox()
    const mapping = relay.eventSourceMapping.node.defaultChild as CfnEventSourceMapping
    mapping.maximumRetryAttempts = -1
    mapping.filterCriteria = undefined
    expect(refusal(stack).match(/lambda-once:[\w-]+/g)).toEqual([
      'lambda-once:relay-stops-the-shard',
      'lambda-once:relay-misses-messages',
    ])
  })

  test.each([
    ['none', {}],
    ['both', { entry: ENTRY, handler: true }],
  ])('with %s of handler and entry is refused', (word, { entry, handler }: { entry?: string; handler?: boolean }) => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table', { stream: true })
    const given = { ...(entry && { entry }), ...(handler && { handler: plainFunction(stack) }) }
    expect(() => new OutboxRelay(stack, 'Relay', { table, ...given })).toThrow(
      `[Stack/Relay] Exactly one of handler and entry must be set; ${word} is.`,
    )
  })

  test('takes a function that exists', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table', { stream: true, reconcilerIndex: true })
    const handler = plainFunction(stack)
    expect(new OutboxRelay(stack, 'Relay', { table, handler }).function).toBe(handler)
    new Reconciler(stack, 'Reconciler', { table, handler })
    expect(refusal(stack)).toBe('')
  })
})

describe('a reconciler', () => {
  test('runs every five minutes, and leaves a failed run to the next', () => {
    const { stack } = outbox()
    const { properties } = only(stack, 'AWS::Events::Rule')
    expect(properties).toMatchObject({
      ScheduleExpression: 'rate(5 minutes)',
      Targets: [{ RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 300 } }],
    })
  })

  test('may read the index and the outbox, use the table, send to its targets and write its own logs', () => {
    const { stack, reconciler } = outbox()
    reconciler.addTarget({ queue: new Queue(stack, 'Orders') })
    expect(grantsOf(stack, 'ReconcilerRole')).toEqual({
      ReconcilerLogs: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      Table: ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
      Orders: ['sqs:SendMessage'],
      'Table/index/due': ['dynamodb:Query'],
    })
  })

  test('on a table without the index is refused, and so is one that overlaps itself warned of', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    new Reconciler(stack, 'Reconciler', { table, entry: ENTRY })
    expect(refusal(stack)).toMatch(/\[Stack\/Table\].*reconcilerIndex: true/)

    const functionProps = { timeout: Duration.minutes(2) }
    const busy = newStack()
    new Reconciler(busy, 'Reconciler', {
      table: new IdempotencyTable(busy, 'Table', { reconcilerIndex: true }),
      entry: ENTRY,
      functionProps,
      period: Duration.minutes(1),
    })
    expect(warnings(busy)).toEqual(['/Stack/Reconciler lambda-once:reconciler-overlaps'])
  })

  test.each([30, 90, 90_000])('refuses a period of %i s', (seconds) => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table', { reconcilerIndex: true })
    expect(
      () => new Reconciler(stack, 'Reconciler', { table, entry: ENTRY, period: Duration.seconds(seconds) }),
    ).toThrow(`[Stack/Reconciler] The period is ${seconds} s`)
  })
})
