import { Duration } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { describe, expect, test } from 'vitest'
import {
  IdempotencyTable,
  IdempotentFunction,
  IdempotentQueue,
  type IdempotentQueueProps,
} from '../../infra/constructs/index.ts'
import { TTL_ATTRIBUTE } from '../../lib/index.ts'
import { ENTRY, grantsOf, newStack, only, plainFunction, refusal, warnings } from '../infra/constructs/set-up.ts'

const TABLE = 'AWS::DynamoDB::GlobalTable'
const QUEUE = 'AWS::SQS::Queue'
const MAPPING = 'AWS::Lambda::EventSourceMapping'

function queueWith(props: Partial<IdempotentQueueProps>) {
  const stack = newStack()
  const table = new IdempotencyTable(stack, 'Table')
  const consumer = new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table, timeout: Duration.seconds(30) })
  new IdempotentQueue(stack, 'Queue', { consumer, ...props })
  return stack
}

describe('Deployment', () => {
  test('Visibility was shorter than the function’s time limit: it is six times as long, less is warned of, and too little refused', () => {
    expect(only(queueWith({}), QUEUE, /^Queue[0-9A-F]{8}$/).properties.VisibilityTimeout).toBe(180)
    expect(refusal(queueWith({ visibilityTimeout: Duration.seconds(20) }))).toContain('visibility')
    const few = queueWith({ visibilityTimeout: Duration.seconds(60) })
    expect(refusal(few)).toBe('')
    expect(warnings(few).join()).toContain('visibility')
  })

  test('A FIFO queue had a standard dead-letter queue: both are FIFO', () => {
    const fifo = queueWith({ fifo: true })
    for (const { Properties } of Object.values(Template.fromStack(fifo).findResources(QUEUE))) {
      expect(Properties.FifoQueue).toBe(true)
    }
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    const consumer = new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table, timeout: Duration.seconds(30) })
    const deadLetterQueue = new Queue(stack, 'Dead', { retentionPeriod: Duration.days(14) })
    new IdempotentQueue(stack, 'Queue', { consumer, fifo: true, deadLetterQueue })
    expect(refusal(stack)).not.toBe('')
  })

  test('A batching window on FIFO, or a large batch without one, was refused only by the deployment: it is refused before', () => {
    expect(refusal(queueWith({ fifo: true, maxBatchingWindow: Duration.seconds(5) }))).not.toBe('')
    expect(refusal(queueWith({ batchSize: 100, maxBatchingWindow: Duration.seconds(1) }))).toBe('')
    expect(refusal(queueWith({ batchSize: 100 }))).not.toBe('')
  })

  test('The mapping lacked ReportBatchItemFailures, the list was ignored and failed messages deleted: it is always there', () => {
    expect(only(queueWith({}), MAPPING).properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures'])
  })

  test('TTL was off, or on an attribute nobody writes: table and runtime share one constant', () => {
    const stack = newStack()
    new IdempotencyTable(stack, 'Table')
    expect(only(stack, TABLE).properties.TimeToLiveSpecification).toEqual({
      AttributeName: TTL_ATTRIBUTE,
      Enabled: true,
    })
    expect(TTL_ATTRIBUTE).toBe('expiresAt')
  })

  test('Grants were too wide or too narrow: a function gets the actions that are used, on this table', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    table.grantIdempotency(plainFunction(stack))
    const { Table, ...others } = grantsOf(stack, 'Plain')
    expect(others).toEqual({})
    expect(Table).toEqual(['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'])
  })

  test('A filter on a queue deletes what does not match, without a word: it has to be acknowledged', () => {
    const filters = [{ body: { kind: ['order'] } }]
    expect(refusal(queueWith({ filters }))).not.toBe('')
    expect(refusal(queueWith({ filters, acknowledgeDrop: true }))).toBe('')
  })

  test('An update replaced the table, all records were gone, and duplicates ran: it is kept, protected and has no fixed name', () => {
    const stack = newStack()
    new IdempotencyTable(stack, 'Table')
    const [table] = Object.values(Template.fromStack(stack).findResources(TABLE))
    expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' })
    expect(JSON.stringify(table)).toContain('"DeletionProtectionEnabled":true')
    expect(table?.Properties).not.toHaveProperty('TableName')
  })

  test('Conditional writes in two regions at once both succeeded: replicas are refused, unless each operation has a home region', () => {
    const replicas = [{ region: 'eu-west-1' }]
    const refused = newStack()
    new IdempotencyTable(refused, 'Table', { replicas })
    expect(refusal(refused)).not.toBe('')
    const acknowledged = newStack()
    new IdempotencyTable(acknowledged, 'Table', { replicas, acknowledgeHomeRegion: true })
    expect(refusal(acknowledged)).toBe('')
  })
})
