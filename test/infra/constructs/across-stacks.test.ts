import { App, Duration, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Key } from 'aws-cdk-lib/aws-kms'
import { EventSourceMapping, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { describe, expect, test } from 'vitest'
import {
  IdempotencyTable,
  IdempotentFunction,
  IdempotentQueue,
  OutboxRelay,
  Reconciler,
} from '../../../infra/constructs/index.ts'
import { ENTRY, plainFunction, refusal, warnings } from './set-up.ts'

const HOME = { account: '123456789012', region: 'eu-central-1' }

function stacks(env: Partial<typeof HOME> = {}) {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, analyticsReporting: false })
  return {
    data: new Stack(app, 'Data', { env: HOME }),
    service: new Stack(app, 'Service', { env: { ...HOME, ...env } }),
  }
}

const actionsIn = (stack: Stack) =>
  Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy')).flatMap(({ Properties }) =>
    Properties.PolicyDocument.Statement.flatMap(({ Action }: { Action: string | string[] }) => Action),
  )

describe('a table in one stack, its functions in another', () => {
  test('works, with a stream, an index and a key that is brought along', () => {
    const { data, service } = stacks()
    const encryptionKey = Key.fromKeyArn(data, 'Key', 'arn:aws:kms:eu-central-1:123456789012:key/1')
    const table = new IdempotencyTable(data, 'Table', { stream: true, reconcilerIndex: true, encryptionKey })
    const consumer = new IdempotentFunction(service, 'Worker', { entry: ENTRY, table })
    const queue = new IdempotentQueue(service, 'Queue', { consumer })
    new OutboxRelay(service, 'Relay', { table, entry: ENTRY, targets: [{ queue }] })
    new Reconciler(service, 'Reconciler', { table, entry: ENTRY, targets: [{ queue }] })
    expect(refusal(service)).toBe('')
    expect(actionsIn(service)).toEqual(
      expect.arrayContaining(['kms:Decrypt', 'kms:GenerateDataKey*', 'dynamodb:Query']),
    )
    expect(actionsIn(data)).toEqual([])
    expect(JSON.stringify(Template.fromStack(service).toJSON())).toContain(
      'arn:aws:kms:eu-central-1:123456789012:key/1',
    )
  })

  test('does not make the stack of the table depend on that of the functions', () => {
    const { data, service } = stacks()
    const encryptionKey = new Key(data, 'Key')
    const table = new IdempotencyTable(data, 'Table', { encryptionKey })
    new IdempotentFunction(service, 'Worker', { entry: ENTRY, table })
    expect(refusal(service)).toBe('')
    expect(data.dependencies).toEqual([])
    expect(service.dependencies).toEqual([data])
  })
})

describe('what is to work together in two places is refused, by the names of both', () => {
  test.each<[string, (data: Stack, service: Stack) => unknown]>([
    [
      'a function',
      (data, service) =>
        new IdempotentFunction(service, 'It', { entry: ENTRY, table: new IdempotencyTable(data, 'Table') }),
    ],
    [
      'a relay',
      (data, service) =>
        new OutboxRelay(service, 'It', { entry: ENTRY, table: new IdempotencyTable(data, 'Table', { stream: true }) }),
    ],
    [
      'a reconciler',
      (data, service) =>
        new Reconciler(service, 'It', {
          entry: ENTRY,
          table: new IdempotencyTable(data, 'Table', { reconcilerIndex: true }),
        }),
    ],
    [
      'a consumer brought along',
      (data, service) =>
        new IdempotentQueue(service, 'It', {
          consumer: plainFunction(service),
          table: new IdempotencyTable(data, 'Table'),
        }),
    ],
    [
      'an imported table',
      (_, service) =>
        new IdempotentFunction(service, 'It', {
          entry: ENTRY,
          table: new IdempotencyTable(service, 'Table', {
            table: TableV2.fromTableArn(service, 'Own', 'arn:aws:dynamodb:eu-central-1:123456789012:table/records'),
          }),
        }),
    ],
  ])('%s in another region than its table', (_, make) => {
    const { data, service } = stacks({ region: 'eu-west-1' })
    expect(() => make(data, service)).toThrow(
      /^\[Service\/It\] The table is in the region eu-central-1, the function in eu-west-1: .* Deploy both to one region\.$/,
    )
  })

  test('a function in another account than its table', () => {
    const { data, service } = stacks({ account: '999999999999' })
    const table = new IdempotencyTable(data, 'Table')
    expect(() => new IdempotentFunction(service, 'It', { entry: ENTRY, table })).toThrow(
      'The table is in the account 123456789012, the function in 999999999999',
    )
  })

  test('an imported queue in another region than its consumer', () => {
    const { service } = stacks()
    const consumer = new IdempotentFunction(service, 'Worker', {
      entry: ENTRY,
      table: new IdempotencyTable(service, 'T'),
    })
    const queue = Queue.fromQueueArn(service, 'Own', 'arn:aws:sqs:us-east-1:123456789012:orders')
    expect(() => new IdempotentQueue(service, 'It', { consumer, queue })).toThrow(
      '[Service/It] The queue is in the region us-east-1, the consumer in eu-central-1: Lambda polls queues of its own region only.',
    )
  })

  test('nothing is said of places that nobody knows before deployment', () => {
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, analyticsReporting: false })
    const [data, service] = [new Stack(app, 'Data'), new Stack(app, 'Service')]
    new IdempotentFunction(service, 'Worker', { entry: ENTRY, table: new IdempotencyTable(data, 'Table') })
    expect(refusal(service)).toBe('')
  })
})

describe('a queue that feeds a function past IdempotentQueue is found', () => {
  const worker = (stack: Stack) => {
    const table = new IdempotencyTable(stack, 'Table')
    return {
      table,
      fn: new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table, timeout: Duration.seconds(10) }),
    }
  }

  test('when its mapping lies in another stack', () => {
    const { data, service } = stacks()
    const { fn } = worker(data)
    const queue = new Queue(service, 'Own', { visibilityTimeout: Duration.seconds(5) })
    new EventSourceMapping(service, 'Mapping', { target: fn.function, eventSourceArn: queue.queueArn })
    const reasons = refusal(data)
    for (const id of ['visibility-below-timeout', 'no-dead-letters', 'batch-item-failures-off']) {
      expect(reasons).toContain(`(lambda-once:${id})`)
    }
    expect(reasons).toContain('[Data/Worker] ')
  })

  test('when it is imported: it is warned of, and the records outlive the longest that SQS has', () => {
    const { data } = stacks()
    const { table, fn } = worker(data)
    new EventSourceMapping(data, 'Mapping', {
      target: fn.function,
      eventSourceArn: 'arn:aws:sqs:eu-central-1:123456789012:orders',
      reportBatchItemFailures: true,
    })
    expect(refusal(data)).toBe('')
    expect(warnings(data)).toEqual(['/Data/Worker lambda-once:numbers-not-known'])
    expect(data.resolve(table.retentionSeconds)).toBe(String(28 * 86_400 + 3_600))
  })

  test('but no stream is taken for a queue', () => {
    const { data } = stacks()
    const { table, fn } = worker(data)
    fn.function.addEventSourceMapping('Stream', {
      eventSourceArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/clicks',
      startingPosition: 'LATEST' as never,
    })
    expect(warnings(data)).toEqual([])
    expect(data.resolve(table.retentionSeconds)).toBe('86400')
  })
})

describe('the retention that nobody has given', () => {
  const brought = (props: object) => {
    const { data } = stacks()
    const table = new IdempotencyTable(data, 'Table')
    const consumer = new IdempotentFunction(data, 'Worker', { entry: ENTRY, table })
    const queue = Queue.fromQueueArn(data, 'Own', 'arn:aws:sqs:eu-central-1:123456789012:orders')
    new IdempotentQueue(data, 'Queue', { consumer, queue, ...props })
    return { data, seconds: data.resolve(table.retentionSeconds) }
  }

  test('takes what is not known of a queue for the longest that SQS has, and says so', () => {
    const { data, seconds } = brought({})
    expect(seconds).toBe(String(28 * 86_400 + 3_600))
    expect(warnings(data)).toEqual(['/Data/Queue lambda-once:numbers-not-known'])
    const said = data.node.findAll().flatMap(({ node }) => node.metadata.map((entry) => String(entry.data)))
    expect(said.join()).toContain("a computed retention takes SQS's longest (1209600 s) in their place")
  })

  test('follows what is stated of a queue', () => {
    const { data, seconds } = brought({
      visibilityTimeout: Duration.minutes(1),
      retentionPeriod: Duration.days(2),
      deadLetterQueue: undefined,
      deadLetterRetentionPeriod: Duration.days(5),
    })
    // Its dead letters are not named, so that nobody knows of what queue the five days are.
    expect(seconds).toBe(String(16 * 86_400 + 3_600))
    expect(warnings(data)).toEqual(['/Data/Queue lambda-once:numbers-not-known'])
  })

  test('follows what is stated of its dead letters', () => {
    const { data } = stacks()
    const table = new IdempotencyTable(data, 'Table')
    const consumer = new IdempotentFunction(data, 'Worker', { entry: ENTRY, table })
    new IdempotentQueue(data, 'Queue', {
      consumer,
      queue: Queue.fromQueueArn(data, 'Own', 'arn:aws:sqs:eu-central-1:123456789012:orders'),
      visibilityTimeout: Duration.minutes(1),
      retentionPeriod: Duration.days(2),
      deadLetterQueue: Queue.fromQueueArn(data, 'Dead', 'arn:aws:sqs:eu-central-1:123456789012:dead'),
      deadLetterRetentionPeriod: Duration.days(5),
    })
    expect(data.resolve(table.retentionSeconds)).toBe(String(7 * 86_400 + 3_600))
    expect(warnings(data)).toEqual([])
  })
})

test('an imported function gets no permission it has no role for, and its table is still judged', () => {
  const { data } = stacks()
  const table = new IdempotencyTable(data, 'Table', {
    table: new TableV2(data, 'Own', { partitionKey: { name: 'id', type: AttributeType.STRING } }),
  })
  const consumer = LambdaFunction.fromFunctionAttributes(data, 'Fn', {
    functionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:worker',
    sameEnvironment: true,
  })
  new IdempotentQueue(data, 'Queue', { consumer, consumerTimeout: Duration.seconds(5), table })
  expect(refusal(data)).toContain('(lambda-once:other-keys)')
})
