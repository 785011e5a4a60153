import { CfnParameter, Duration, RemovalPolicy, type Stack, Validations } from 'aws-cdk-lib'
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers'
import { AttributeType, type CfnGlobalTable, MultiRegionConsistency, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda'
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import type { IConstruct } from 'constructs'
import { describe, expect, test } from 'vitest'
import {
  IdempotencyTable,
  type IdempotencyTableProps,
  IdempotentApi,
  type IdempotentApiProps,
  IdempotentFunction,
  type IdempotentFunctionProps,
  IdempotentQueue,
  type IdempotentQueueProps,
  OutboxRelay,
  Reconciler,
} from '../../infra/constructs/index.ts'
import { ALL_CHECKS } from '../../lib/checks/all.ts'
import { ENTRY, newStack, plainFunction, refusal, warnings } from './constructs/set-up.ts'

const FUNCTION_ARN = 'arn:aws:lambda:eu-central-1:123456789012:function:worker'
const seconds = Duration.seconds

/** Breaks one rule in a stack that is sound otherwise, and answers the construct that has to say so. */
type Break = (stack: Stack) => IConstruct

const queue =
  (
    props: Partial<IdempotentQueueProps>,
    fn: Partial<IdempotentFunctionProps> = {},
    table: IdempotencyTableProps = {},
  ): Break =>
  (stack) =>
    new IdempotentQueue(stack, 'It', {
      consumer: new IdempotentFunction(stack, 'Worker', {
        entry: ENTRY,
        timeout: seconds(10),
        table: new IdempotencyTable(stack, 'Table', table),
        ...fn,
      }),
      ...props,
    })
const table =
  (props: IdempotencyTableProps): Break =>
  (stack) =>
    new IdempotencyTable(stack, 'It', props)
const tableOf =
  (props: Partial<ConstructorParameters<typeof TableV2>[2]>, reconciler = false): Break =>
  (stack) => {
    const own = new TableV2(stack, 'Own', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      timeToLiveAttribute: 'expiresAt',
      ...props,
    })
    const it = new IdempotencyTable(stack, 'It', { table: own })
    if (reconciler) new Reconciler(stack, 'Reconciler', { table: it, entry: ENTRY })
    return it
  }
const api =
  (props: IdempotentApiProps, timeout = seconds(10)): Break =>
  (stack) => {
    const authorizer = new HttpJwtAuthorizer('Callers', 'https://issuer.test', { jwtAudience: ['orders'] })
    const it = new IdempotentApi(stack, 'It', { authorizer, ...props })
    it.addRoute({ path: '/orders', handler: plainFunction(stack, 'Orders', { timeout }) })
    return it
  }
const relay =
  (change: (mapping: CfnEventSourceMapping) => void): Break =>
  (stack) => {
    const own = new IdempotencyTable(stack, 'Table', { stream: true, reconcilerIndex: true })
    new Reconciler(stack, 'Reconciler', { table: own, entry: ENTRY })
    const it = new OutboxRelay(stack, 'It', { table: own, entry: ENTRY })
    change(it.eventSourceMapping.node.defaultChild as CfnEventSourceMapping)
    return it
  }
const relayAlone =
  (acknowledgeNoReconciler: boolean): Break =>
  (stack) =>
    new OutboxRelay(stack, 'It', {
      table: new IdempotencyTable(stack, 'Table', { stream: true }),
      entry: ENTRY,
      acknowledgeNoReconciler,
    })

/** Every check, broken through the constructs as a user does it; the second is the same with its acknowledgement. */
const BROKEN: Readonly<Record<string, readonly [Break, Break?]>> = {
  'visibility-below-timeout': [queue({ visibilityTimeout: seconds(9) })],
  'visibility-below-six-timeouts': [queue({ visibilityTimeout: seconds(59) })],
  'lease-beyond-visibility': [queue({}, { lease: seconds(61) })],
  'retention-below-redelivery': [queue({}, {}, { retention: Duration.days(17) })],
  'no-dead-letters': [(stack) => queue({ queue: new Queue(stack, 'Own', { visibilityTimeout: seconds(60) }) })(stack)],
  'dead-letters-not-kept-longer': [queue({ deadLetterRetentionPeriod: Duration.days(4) })],
  'dead-letters-of-other-type': [
    (stack) => {
      const dead = { queue: new Queue(stack, 'Dead', { retentionPeriod: Duration.days(14) }), maxReceiveCount: 5 }
      const own = new Queue(stack, 'Own', { fifo: true, visibilityTimeout: seconds(60), deadLetterQueue: dead })
      return queue({ queue: own })(stack)
    },
  ],
  'few-receives': [queue({ maxReceiveCount: 4 })],
  'batch-item-failures-off': [
    (stack) => {
      const it = queue({})(stack) as IdempotentQueue
      const mapping = it.eventSourceMapping.node.defaultChild as CfnEventSourceMapping
      mapping.functionResponseTypes = []
      return it
    },
  ],
  'batching-window-on-fifo': [queue({ fifo: true, maxBatchingWindow: seconds(1) })],
  'batch-size-on-fifo': [queue({ fifo: true, batchSize: 11 })],
  'batch-size-without-window': [queue({ batchSize: 11 })],
  'batch-size-beyond-limit': [queue({ batchSize: 10_001, maxBatchingWindow: seconds(1) })],
  'max-concurrency-too-low': [queue({ maxConcurrency: 1 })],
  'reserved-below-max-concurrency': [queue({ maxConcurrency: 6 }, { reservedConcurrentExecutions: 5 })],
  'reserved-without-max-concurrency': [queue({}, { reservedConcurrentExecutions: 4 })],
  'filter-deletes-messages': [
    queue({ filters: [{ body: { kind: ['order'] } }] }),
    queue({ filters: [{ body: { kind: ['order'] } }], acknowledgeDrop: true }),
  ],
  'permissions-not-granted': [
    (stack) =>
      new IdempotentQueue(stack, 'It', {
        consumer: LambdaFunction.fromFunctionArn(stack, 'Imported', FUNCTION_ARN),
        consumerTimeout: seconds(10),
        table: new IdempotencyTable(stack, 'Table'),
      }),
  ],
  'numbers-not-known': [
    (stack) =>
      queue({ queue: Queue.fromQueueArn(stack, 'Own', 'arn:aws:sqs:eu-central-1:123456789012:orders') })(stack),
  ],
  'strongly-consistent-replicas': [
    (stack) => {
      const it = table({ replicas: [{ region: 'eu-west-1' }, { region: 'eu-west-3' }], acknowledgeHomeRegion: true })(
        stack,
      )
      const resource = (it as IdempotencyTable).table.node.defaultChild as CfnGlobalTable
      resource.multiRegionConsistency = MultiRegionConsistency.STRONG
      return it
    },
  ],
  replicas: [
    table({ replicas: [{ region: 'eu-west-1' }] }),
    table({ replicas: [{ region: 'eu-west-1' }], acknowledgeHomeRegion: true }),
  ],
  'other-keys': [tableOf({ sortKey: { name: 'sk', type: AttributeType.NUMBER }, deletionProtection: true })],
  'other-ttl-attribute': [tableOf({ timeToLiveAttribute: 'ttl' })],
  'no-reconciler-index': [tableOf({}, true)],
  'other-reconciler-index': [
    tableOf(
      {
        globalSecondaryIndexes: [
          {
            indexName: 'due',
            partitionKey: { name: 'dueShard', type: AttributeType.STRING },
            sortKey: { name: 'dueAtMs', type: AttributeType.STRING },
          },
        ],
      },
      true,
    ),
  ],
  'no-stream': [
    (stack) => {
      const it = new IdempotencyTable(stack, 'It')
      new OutboxRelay(stack, 'Relay', { table: it, entry: ENTRY, acknowledgeNoReconciler: true })
      return it
    },
  ],
  'records-can-be-lost': [table({ removalPolicy: RemovalPolicy.DESTROY })],
  'anonymous-routes': [api({ authorizer: undefined }), api({ authorizer: undefined, acknowledgeAnonymous: true })],
  'api-gives-up-first': [api({}, seconds(31))],
  'cors-without-key-header': [api({ corsPreflight: { allowHeaders: ['content-type'] } })],
  'relay-without-reconciler': [relayAlone(false), relayAlone(true)],
  'relay-stops-the-shard': [
    relay((mapping) => {
      mapping.maximumRetryAttempts = -1
    }),
  ],
  'relay-misses-messages': [
    relay((mapping) => {
      mapping.startingPosition = 'LATEST'
    }),
  ],
  'reconciler-overlaps': [
    (stack) =>
      new Reconciler(stack, 'It', {
        table: new IdempotencyTable(stack, 'Table', { reconcilerIndex: true }),
        entry: ENTRY,
        functionProps: { timeout: Duration.minutes(2) },
        period: Duration.minutes(1),
      }),
  ],
}

test('there is a stack for every check', () => {
  expect(Object.keys(BROKEN)).toEqual(ALL_CHECKS.map(({ id }) => id))
})

const REFUSED = ALL_CHECKS.filter(({ severity }) => severity === 'refused')
const WARNED = ALL_CHECKS.filter(({ severity }) => severity === 'warned')

describe('is found at synth, with the path, two numbers or more, and what to do', () => {
  test.each(ALL_CHECKS)('$id', ({ id, severity }) => {
    const stack = newStack()
    const { path } = BROKEN[id]![0](stack).node
    const refused = refusal(stack)
    const said = severity === 'refused' ? refused : warningsInWords(stack)
    const message = said.split('\n').find((line) => line.includes(`lambda-once:${id}`)) ?? ''
    expect(message).toContain(path)
    const words = message.replace(path, '').replace(/\(?\[?(?:ack: )?lambda-once:[\w-]+[\])]?/g, '')
    // What is of two kinds has no number.
    const numbers = id === 'dead-letters-of-other-type' ? 0 : 2
    expect(words.match(/\d+/g)?.length ?? 0).toBeGreaterThanOrEqual(numbers)
    expect(words).toMatch(/\b(Set|Make|Give|Leave|Use|Send|Add|Filter|State|Import)\b/)
    // And it is all that is found.
    expect(refused.match(/\(lambda-once:[\w-]+\)/g) ?? []).toEqual(
      severity === 'refused' ? [`(lambda-once:${id})`] : [],
    )
    if (severity === 'warned') expect(warnings(stack)).toEqual([`/${path} lambda-once:${id}`])
  })
})

test.each(WARNED)('$id is silent once it is acknowledged by its id', ({ id }) => {
  const stack = newStack()
  Validations.of(BROKEN[id]![0](stack)).acknowledge({ id: `lambda-once:${id}`, reason: 'This test says so.' })
  expect(refusal(stack)).toBe('')
  expect(warnings(stack)).toEqual([])
})

test.each(REFUSED.filter(({ acknowledgedBy }) => acknowledgedBy))(
  '$id passes once it is acknowledged by $acknowledgedBy',
  ({ id }) => {
    const stack = newStack()
    BROKEN[id]![1]!(stack)
    expect(refusal(stack)).toBe('')
  },
)

function warningsInWords(stack: Stack): string {
  return stack.node
    .findAll()
    .flatMap(({ node }) => node.metadata.map(({ data }) => `${node.path} ${String(data)}`))
    .join('\n')
}

describe('what is known only at deployment', () => {
  const token = (stack: Stack) => new CfnParameter(stack, 'Number', { type: 'Number' }).valueAsNumber

  test.each<[string, (stack: Stack, value: number) => Partial<IdempotentQueueProps>, string[]]>([
    ['visibilityTimeout', (_, value) => ({ visibilityTimeout: seconds(value) }), ['visibilityTimeout']],
    ['retentionPeriod', (_, value) => ({ retentionPeriod: seconds(value) }), ['retentionPeriod']],
    [
      'deadLetterRetentionPeriod',
      (_, value) => ({ deadLetterRetentionPeriod: seconds(value) }),
      ['deadLetterRetentionPeriod'],
    ],
  ])('a %s as a parameter is warned of, and not compared', (_, propsOf, unknown) => {
    const stack = newStack()
    queue(propsOf(stack, token(stack)))(stack)
    expect(refusal(stack)).toBe('')
    expect(warnings(stack)).toEqual(['/Stack/It lambda-once:numbers-not-known'])
    for (const name of unknown) expect(warningsInWords(stack)).toContain(`(${name})`)
  })

  test.each<[string, (value: number) => Partial<IdempotentQueueProps>, string]>([
    ['batchSize', (batchSize) => ({ batchSize }), 'BatchSize'],
    ['maxConcurrency', (maxConcurrency) => ({ maxConcurrency }), 'ScalingConfig'],
    ['maxReceiveCount', (maxReceiveCount) => ({ maxReceiveCount }), 'RedrivePolicy'],
  ])('a %s as a parameter reaches the template, and is not compared', (_, propsOf, property) => {
    const stack = newStack()
    queue(propsOf(token(stack)))(stack)
    expect(refusal(stack)).toBe('')
    expect(warnings(stack)).toEqual([])
    const resources = JSON.stringify(Object.values(stack.node.findAll().length ? templateOf(stack) : {}))
    expect(resources).toContain('{"Ref":"Number"}')
    expect(resources).toContain(property)
    expect(resources).not.toMatch(/e\+\d\d\d|NaN/)
  })

  test.each<[string, Break]>([
    ['lease', (stack) => queue({}, { lease: seconds(token(stack)) })(stack)],
    ['lease', (stack) => queue({ lease: Duration.minutes(token(stack)) })(stack)],
    ['retention', (stack) => table({ retention: Duration.days(token(stack)) })(stack)],
    ['maxBatchingWindow', (stack) => queue({ maxBatchingWindow: seconds(token(stack)) })(stack)],
    [
      'period',
      (stack) =>
        new Reconciler(stack, 'It', {
          table: new IdempotencyTable(stack, 'Table', { reconcilerIndex: true }),
          entry: ENTRY,
          period: Duration.minutes(token(stack)),
        }),
    ],
  ])('a %s as a parameter is refused: other numbers follow from it', (name, make) => {
    expect(() => make(newStack())).toThrow(new RegExp(`^\\[Stack/\\w+\\] ${name} is a token, known only at deployment`))
  })

  test("a function's timeout as a parameter needs the timeout said, as that of an imported one", () => {
    const stack = newStack()
    const timeout = seconds(token(stack))
    expect(() => queue({}, { timeout })(stack)).toThrow(
      '[Stack/It] The consumer is imported, or its timeout is a token',
    )
    const said = newStack()
    queue({ consumerTimeout: seconds(20) }, { timeout: seconds(token(said)) })(said)
    expect(refusal(said)).toBe('')
    expect(JSON.stringify(templateOf(said))).toContain('"VisibilityTimeout":120')
  })
})

function templateOf(stack: Stack): object {
  const { stacks } = (stack.node.root as import('aws-cdk-lib').App).synth()
  return stacks[0]!.template
}
