import { Duration, type Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  ALARM_THRESHOLDS,
  IdempotencyDashboard,
  type IdempotencyDashboardProps,
  IdempotencyTable,
  IdempotentApi,
  IdempotentFunction,
  IdempotentQueue,
  metricOperations,
  OutboxRelay,
  Reconciler,
  type WatchedEvent,
} from '../../../infra/constructs/index.ts'
import type { OperationEvent } from '../../../lib/index.ts'
import { ENTRY, newStack, only } from './set-up.ts'

function watched(props: Partial<IdempotencyDashboardProps> = {}): Stack {
  const stack = newStack()
  const table = new IdempotencyTable(stack, 'Table', { stream: true, reconcilerIndex: true })
  const worker = new IdempotentFunction(stack, 'Worker', { entry: ENTRY, table })
  new IdempotencyDashboard(stack, 'Watch', {
    table,
    namespaces: ['orders', 'payments'],
    queues: [new IdempotentQueue(stack, 'Payments', { consumer: worker })],
    functions: [worker],
    api: new IdempotentApi(stack, 'Api'),
    relay: new OutboxRelay(stack, 'Relay', { table, entry: ENTRY }),
    reconciler: new Reconciler(stack, 'Reconciler', { table, entry: ENTRY }),
    ...props,
  })
  return stack
}

function alarmsOf(stack: Stack) {
  return Object.entries(Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm')).map(
    ([id, { Properties }]) => ({
      id: id.replace(/^Watch|[0-9A-F]{8}$/g, ''),
      ...Properties,
    }),
  )
}

describe('alarms', () => {
  test('call for everything that needs somebody, from their thresholds on', () => {
    const thresholds = Object.fromEntries(alarmsOf(watched()).map(({ id, Threshold }) => [id, Threshold]))
    expect(thresholds).toEqual({
      PaymentsDeadLetters: 1,
      PaymentsOldestMessage: 900,
      OutboxBehind: 300_000,
      OutboxGivenUp: 1,
      ReconcilerFails: 1,
      LeaseLost: 5,
      Mismatched: 10,
      UnknownOutcome: 1,
      StoreErrors: 10,
    })
  })

  test('take other thresholds one by one', () => {
    const stack = watched({ thresholds: { oldestMessageAge: Duration.hours(1) } })
    const alarms = alarmsOf(stack)
    expect(alarms.find(({ id }) => id === 'PaymentsOldestMessage')?.Threshold).toBe(3_600)
    expect(alarms.find(({ id }) => id === 'LeaseLost')?.Threshold).toBe(ALARM_THRESHOLDS.leaseLost)
  })

  test('count an event over all namespaces', () => {
    const leaseLost = alarmsOf(watched()).find(({ id }) => id === 'LeaseLost')
    const [expression, ...metrics] = leaseLost?.Metrics ?? []
    expect(expression.Expression).toBe('FILL(m0, 0) + FILL(m1, 0)')
    expect(metrics.map(({ MetricStat }: { MetricStat: { Metric: object } }) => MetricStat.Metric)).toEqual(
      ['orders', 'payments'].map((Value) => ({
        Namespace: 'lambda-once',
        MetricName: 'lease-lost',
        Dimensions: [{ Name: 'namespace', Value }],
      })),
    )
  })

  test('do what they are told, say what to do, and are quiet without data', () => {
    const stack = newStack()
    const table = new IdempotencyTable(stack, 'Table')
    const topic = new Topic(stack, 'OnCall')
    new IdempotencyDashboard(stack, 'Watch', {
      table,
      namespaces: ['orders'],
      alarmActions: [new SnsAction(topic)],
    })
    const alarms = alarmsOf(stack)
    expect(alarms).not.toEqual([])
    for (const alarm of alarms) {
      expect(alarm.AlarmActions).toEqual([{ Ref: expect.stringMatching(/^OnCall/) }])
      expect(alarm.AlarmDescription).toMatch(/\w+ \w+/)
      expect(alarm.TreatMissingData).toBe('notBreaching')
    }
  })
})

describe('the dashboard', () => {
  const body = (stack: Stack) => JSON.stringify(only(stack, 'AWS::CloudWatch::Dashboard').properties.DashboardBody)

  test('answers what an operator asks, the most urgent first', () => {
    const questions = [...body(watched()).matchAll(/## ([^"\\]+)/g)].map(([, question]) => question)
    expect(questions).toEqual([
      'Does anything need me?',
      'Is anything lost, and what is waiting?',
      'Does the protection work?',
      'Does the outbox go out?',
      'What do callers see?',
      'Do the functions keep up?',
      'Does the table keep up?',
    ])
  })

  test('asks nothing about what is not there', () => {
    const questions = [
      ...body(watched({ queues: [], functions: [], api: undefined, relay: undefined, reconciler: undefined })).matchAll(
        /## ([^"\\]+)/g,
      ),
    ]
    expect(questions).toHaveLength(3)
  })

  test('needs to know the namespaces', () => {
    expect(() => watched({ namespaces: [] })).toThrow('[Stack/Watch] namespaces is empty')
  })
})

test('what is watched are events of the runtime', () => {
  expectTypeOf<WatchedEvent>().toExtend<OperationEvent['type']>()
  expect(metricOperations('payments', 'mismatched').toMetricConfig().metricStat).toMatchObject({
    namespace: 'lambda-once',
    metricName: 'mismatched',
    dimensions: [{ name: 'namespace', value: 'payments' }],
    statistic: 'Sum',
  })
})
