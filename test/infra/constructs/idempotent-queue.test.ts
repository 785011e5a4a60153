import { Duration, type Stack, Validations } from 'aws-cdk-lib'
import { Key } from 'aws-cdk-lib/aws-kms'
import { type CfnEventSourceMapping, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { describe, expect, test } from 'vitest'
import {
  IdempotencyTable,
  IdempotentFunction,
  IdempotentQueue,
  type IdempotentQueueProps,
} from '../../../infra/constructs/index.ts'
import { ENTRY, grantsOf, newStack, only, plainFunction, refusal, warnings } from './set-up.ts'

const QUEUE = 'AWS::SQS::Queue'
/** The queue of the construct `Queue`, whose id has nothing behind it but a hash. */
const NEW_QUEUE = /^Queue[0-9A-F]{8}$/
const MAPPING = 'AWS::Lambda::EventSourceMapping'

function worker(
  stack: Stack,
  props: { timeout?: Duration; reservedConcurrentExecutions?: number; lease?: Duration } = {},
) {
  const table = new IdempotencyTable(stack, 'Table')
  return new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table, timeout: Duration.seconds(10), ...props })
}

/** A queue of the worker in a stack of its own. */
function queueWith(props: Partial<IdempotentQueueProps>, fn: Parameters<typeof worker>[1] = {}) {
  const stack = newStack()
  const queue = new IdempotentQueue(stack, 'Queue', { consumer: worker(stack, fn), ...props })
  return { stack, queue }
}

describe('a new queue', () => {
  test('keeps messages invisible for six runs, and dead letters longer than its own', () => {
    const { stack } = queueWith({})
    const { id, properties: dead } = only(stack, QUEUE, /^QueueDeadLetters/)
    const { properties: queue } = only(stack, QUEUE, NEW_QUEUE)
    expect(queue).toMatchObject({
      VisibilityTimeout: 60,
      MessageRetentionPeriod: 345_600,
      RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': [id, 'Arn'] }, maxReceiveCount: 5 },
      SqsManagedSseEnabled: true,
    })
    expect(dead).toMatchObject({ MessageRetentionPeriod: 1_209_600, SqsManagedSseEnabled: true })
    expect(refusal(stack)).toBe('')
    expect(warnings(stack)).toEqual([])
  })

  test('feeds its function ten at a time, with partial failures and no filter', () => {
    const { stack } = queueWith({})
    const { properties } = only(stack, MAPPING)
    expect(properties).toMatchObject({ BatchSize: 10, FunctionResponseTypes: ['ReportBatchItemFailures'] })
    expect(properties).not.toHaveProperty('FilterCriteria')
  })

  test('adds the batching window to the visibility timeout', () => {
    const { stack } = queueWith({ maxBatchingWindow: Duration.seconds(20), batchSize: 100 })
    expect(only(stack, QUEUE, NEW_QUEUE).properties.VisibilityTimeout).toBe(80)
  })

  test('is FIFO together with its dead letters', () => {
    const { stack } = queueWith({ fifo: true, contentBasedDeduplication: true })
    expect(only(stack, QUEUE, /^QueueDeadLetters/).properties.FifoQueue).toBe(true)
    expect(only(stack, QUEUE, NEW_QUEUE).properties).toMatchObject({ FifoQueue: true, ContentBasedDeduplication: true })
    expect(refusal(stack)).toBe('')
  })

  test('lets senders send and nothing else, with its key when it has one', () => {
    const stack = newStack()
    const encryptionKey = new Key(stack, 'Key')
    const queue = new IdempotentQueue(stack, 'Queue', { consumer: worker(stack), encryptionKey })
    queue.grantSendMessages(plainFunction(stack))
    expect(grantsOf(stack, 'Plain')).toEqual({
      Queue: ['sqs:SendMessage'],
      Key: ['kms:Decrypt', 'kms:GenerateDataKey'],
    })
  })
})

describe('is refused, with the path, what is wrong and what to do', () => {
  test.each<[string, Partial<IdempotentQueueProps>, Parameters<typeof worker>[1]]>([
    ['visibility-below-timeout', { visibilityTimeout: Duration.seconds(9) }, {}],
    ['lease-beyond-visibility', {}, { lease: Duration.seconds(61) }],
    ['dead-letters-not-kept-longer', { deadLetterRetentionPeriod: Duration.days(4) }, {}],
    ['batching-window-on-fifo', { fifo: true, maxBatchingWindow: Duration.seconds(1) }, {}],
    ['batch-size-on-fifo', { fifo: true, batchSize: 11 }, {}],
    ['batch-size-without-window', { batchSize: 11 }, {}],
    ['max-concurrency-too-low', { maxConcurrency: 1 }, {}],
    ['reserved-below-max-concurrency', { maxConcurrency: 6 }, { reservedConcurrentExecutions: 5 }],
    ['filter-deletes-messages', { filters: [{ body: { kind: ['order'] } }] }, {}],
  ])('%s', (id, props, fn) => {
    const { stack } = queueWith(props, fn)
    const reasons = refusal(stack)
    expect(reasons).toMatch(/\[Stack\/Queue\] /)
    expect(reasons).toContain(`(lambda-once:${id})`)
  })

  test('all of it at once', () => {
    const { stack } = queueWith({ maxConcurrency: 1, visibilityTimeout: Duration.seconds(9) })
    expect(refusal(stack).match(/lambda-once:[\w-]+/g)).toEqual([
      'lambda-once:visibility-below-timeout',
      'lambda-once:max-concurrency-too-low',
    ])
  })

  test('what an escape hatch changed later, too', () => {
    const { stack, queue } = queueWith({})
    const mapping = queue.eventSourceMapping.node.defaultChild as CfnEventSourceMapping
    mapping.functionResponseTypes = []
    expect(refusal(stack)).toContain('(lambda-once:batch-item-failures-off)')
  })
})

test('a filter passes once it is acknowledged that the rest is deleted', () => {
  const { stack } = queueWith({ filters: [{ body: { kind: ['order'] } }], acknowledgeDrop: true })
  expect(refusal(stack)).toBe('')
  expect(only(stack, MAPPING).properties.FilterCriteria.Filters).toEqual([{ Pattern: '{"body":{"kind":["order"]}}' }])
})

test.each<[string, Partial<IdempotentQueueProps>, Parameters<typeof worker>[1]]>([
  ['visibility-below-six-timeouts', { visibilityTimeout: Duration.seconds(59) }, {}],
  ['few-receives', { maxReceiveCount: 4 }, {}],
  ['reserved-without-max-concurrency', {}, { reservedConcurrentExecutions: 4 }],
])('%s is warned of, at the construct', (id, props, fn) => {
  const { stack } = queueWith(props, fn)
  expect(refusal(stack)).toBe('')
  expect(warnings(stack)).toEqual([`/Stack/Queue lambda-once:${id}`])
})

test('a warning is silent once it is acknowledged by its id', () => {
  const { stack, queue } = queueWith({ maxReceiveCount: 4 })
  Validations.of(queue).acknowledge({
    id: 'lambda-once:few-receives',
    reason: 'A dead letter is looked at within minutes.',
  })
  expect(refusal(stack)).toBe('')
  expect(warnings(stack)).toEqual([])
})

test('content-based deduplication without FIFO is refused, not left out', () => {
  expect(() => queueWith({ contentBasedDeduplication: true })).toThrow('[Stack/Queue] contentBasedDeduplication is set')
})

test('dead letters of this app take no other retention than their own', () => {
  const stack = newStack()
  const deadLetterQueue = new Queue(stack, 'Dead', { retentionPeriod: Duration.days(14) })
  const props = { consumer: worker(stack), deadLetterQueue, deadLetterRetentionPeriod: Duration.days(9) }
  expect(() => new IdempotentQueue(stack, 'Queue', props)).toThrow('so deadLetterRetentionPeriod cannot be set here')
})

test('lets its function receive, delete and know its attributes, and nothing else', () => {
  const { stack } = queueWith({})
  expect(grantsOf(stack, 'WorkerRole').Queue).toEqual([
    'sqs:DeleteMessage',
    'sqs:GetQueueAttributes',
    'sqs:ReceiveMessage',
  ])
})

describe('a queue brought along', () => {
  test('of this app is checked by its own numbers', () => {
    const stack = newStack()
    const queue = new Queue(stack, 'Own', { visibilityTimeout: Duration.seconds(5) })
    new IdempotentQueue(stack, 'Queue', { consumer: worker(stack), queue })
    const reasons = refusal(stack)
    expect(reasons).toContain('The visibility timeout (5 s)')
    expect(reasons).toContain('(lambda-once:no-dead-letters)')
  })

  test('with standard dead letters behind a FIFO queue is refused', () => {
    const stack = newStack()
    const queue = new Queue(stack, 'Own', {
      fifo: true,
      visibilityTimeout: Duration.seconds(60),
      deadLetterQueue: { queue: new Queue(stack, 'Dead', { retentionPeriod: Duration.days(14) }), maxReceiveCount: 5 },
    })
    const wrapped = new IdempotentQueue(stack, 'Queue', { consumer: worker(stack), queue })
    expect(wrapped.deadLetterQueue?.node.id).toBe('Dead')
    expect(refusal(stack)).toContain('The queue is FIFO, its dead-letter queue is standard')
  })

  test('and imported is warned of until its numbers are stated, which are then checked', () => {
    const imported = (stack: Stack) =>
      Queue.fromQueueArn(stack, 'Imported', 'arn:aws:sqs:eu-central-1:123456789012:orders')
    const silent = newStack()
    new IdempotentQueue(silent, 'Queue', { consumer: worker(silent), queue: imported(silent) })
    expect(refusal(silent)).toBe('')
    expect(warnings(silent)).toEqual(['/Stack/Queue lambda-once:numbers-not-known'])

    const stack = newStack()
    new IdempotentQueue(stack, 'Queue', {
      consumer: worker(stack),
      queue: imported(stack),
      visibilityTimeout: Duration.seconds(5),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: Queue.fromQueueArn(stack, 'Dead', 'arn:aws:sqs:eu-central-1:123456789012:dead'),
      deadLetterRetentionPeriod: Duration.days(3),
    })
    expect(refusal(stack).match(/lambda-once:[\w-]+/g)).toEqual([
      'lambda-once:visibility-below-timeout',
      'lambda-once:dead-letters-not-kept-longer',
    ])
  })

  test.each<[string, Partial<IdempotentQueueProps>]>([
    ['visibilityTimeout', { visibilityTimeout: Duration.minutes(5) }],
    ['retentionPeriod', { retentionPeriod: Duration.days(1) }],
    ['maxReceiveCount', { maxReceiveCount: 9 }],
  ])('of this app takes no other %s: it would be believed against the template', (name, props) => {
    const stack = newStack()
    const queue = new Queue(stack, 'Own')
    expect(() => new IdempotentQueue(stack, 'Queue', { consumer: worker(stack), queue, ...props })).toThrow(
      `[Stack/Queue] queue is brought along, so ${name} cannot be set here`,
    )
  })

  test('without dead letters gets none by their being named', () => {
    const stack = newStack()
    const [queue, deadLetterQueue] = [new Queue(stack, 'Own'), new Queue(stack, 'Dead')]
    expect(() => new IdempotentQueue(stack, 'Queue', { consumer: worker(stack), queue, deadLetterQueue })).toThrow(
      'so deadLetterQueue cannot be set here',
    )
  })

  test('cannot be changed here', () => {
    const stack = newStack()
    const queue = new Queue(stack, 'Own')
    expect(() => new IdempotentQueue(stack, 'Queue', { consumer: worker(stack), queue, fifo: true })).toThrow(
      '[Stack/Queue] queue is brought along, so fifo cannot be set here',
    )
  })
})

describe('a consumer brought along', () => {
  test('needs the table with its records', () => {
    const stack = newStack()
    expect(() => new IdempotentQueue(stack, 'Queue', { consumer: plainFunction(stack) })).toThrow(
      /\[Stack\/Queue\].*set table/,
    )
  })

  test('of this app gives its own timeout, behind an alias too', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    const consumer = plainFunction(stack, 'Plain', { timeout: Duration.seconds(20) }).addAlias('live')
    new IdempotentQueue(stack, 'Queue', { consumer, table })
    expect(only(stack, QUEUE, NEW_QUEUE).properties.VisibilityTimeout).toBe(120)
  })

  test('and imported needs its timeout said', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    const consumer = LambdaFunction.fromFunctionArn(
      stack,
      'Imported',
      'arn:aws:lambda:eu-central-1:123456789012:function:worker',
    )
    expect(() => new IdempotentQueue(stack, 'Silent', { consumer, table })).toThrow('set consumerTimeout')
    new IdempotentQueue(stack, 'Said', { consumer, table, consumerTimeout: Duration.seconds(7) })
    expect(warnings(stack)).toEqual(['/Stack/Said lambda-once:permissions-not-granted'])
    expect(only(stack, QUEUE, /^Said[0-9A-F]{8}$/).properties.VisibilityTimeout).toBe(42)
  })
})
