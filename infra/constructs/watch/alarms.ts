import { Duration } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import { metricOperations, type WatchedEvent } from './metrics.ts'
import type { AlarmThresholds } from './thresholds.ts'
import type { Watched } from './watched.ts'

const PERIOD = Duration.minutes(5)

/** One alarm before it is made. */
interface Alert {
  readonly id: string
  readonly metric: IMetric
  readonly threshold: number
  /** What has happened and what to do, for whoever is called. */
  readonly description: string
}

/** An alarm for everything that needs somebody to look. */
export function alarmsFor(scope: Construct, watched: Watched, thresholds: Required<AlarmThresholds>): Alarm[] {
  const alerts = [
    ...queueAlerts(watched, thresholds),
    ...relayAlerts(watched, thresholds),
    ...operationAlerts(watched, thresholds),
  ]
  return alerts.map(
    ({ id, description, ...alert }) =>
      new Alarm(scope, id, {
        ...alert,
        alarmDescription: description,
        evaluationPeriods: 1,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        // No data is no trouble: nothing came, or nothing was counted.
        treatMissingData: TreatMissingData.NOT_BREACHING,
      }),
  )
}

function queueAlerts({ queues }: Watched, thresholds: Required<AlarmThresholds>): Alert[] {
  return queues.flatMap((queue) => {
    const name = queue.node.id
    const deadLetters = queue.metricDeadLetters({ period: PERIOD })
    return [
      ...(deadLetters
        ? [
            {
              id: `${name}DeadLetters`,
              metric: deadLetters,
              threshold: thresholds.deadLetters,
              description: `${name}: messages failed for good. Read them, fix the cause, then redrive: operations that are done are not done again.`,
            },
          ]
        : []),
      {
        id: `${name}OldestMessage`,
        metric: queue.metricOldestMessageAge({ period: PERIOD }),
        threshold: thresholds.oldestMessageAge.toSeconds(),
        description: `${name}: a message waits or comes again for too long. Is its consumer failing, throttled or too slow?`,
      },
    ]
  })
}

function relayAlerts({ relay, reconciler }: Watched, thresholds: Required<AlarmThresholds>): Alert[] {
  return [
    ...(relay
      ? [
          {
            id: 'OutboxBehind',
            metric: relay.metricIteratorAge({ period: PERIOD }),
            threshold: thresholds.iteratorAge.toMilliseconds(),
            description: 'The outbox relay is behind: committed messages are sent late. Are its targets reachable?',
          },
          {
            id: 'OutboxGivenUp',
            metric: relay.metricDeadLetters({ period: PERIOD }),
            threshold: 1,
            description:
              'Lambda gave up on changes of the outbox. The reconciler sends them; find out what refused them.',
          },
        ]
      : []),
    ...(reconciler
      ? [
          {
            id: 'ReconcilerFails',
            metric: reconciler.metricErrors({ period: PERIOD }),
            threshold: 1,
            description: 'The reconciler fails: crashed, due and stuck operations stay where they are.',
          },
        ]
      : []),
  ]
}

function operationAlerts({ namespaces }: Watched, thresholds: Required<AlarmThresholds>): Alert[] {
  const over = (event: WatchedEvent) => sumOver(namespaces, event)
  return [
    {
      id: 'LeaseLost',
      metric: over('lease-lost'),
      threshold: thresholds.leaseLost,
      description:
        'Executions lose their lease: they run longer than it. Effects outside of steps may have happened twice.',
    },
    {
      id: 'Mismatched',
      metric: over('mismatched'),
      threshold: thresholds.mismatched,
      description: 'One key comes with different requests: a client builds its keys wrongly. Nothing was run for them.',
    },
    {
      id: 'UnknownOutcome',
      metric: over('unknown'),
      threshold: thresholds.unknown,
      description: 'An effect was begun and nobody knows whether it happened. Look at the third party, then settle it.',
    },
    {
      id: 'StoreErrors',
      metric: over('store-error'),
      threshold: thresholds.storeErrors,
      description:
        'The idempotency table cannot be reached: work is refused until it can. Throttling, permissions, network?',
    },
  ]
}

/** An event over all namespaces. A search could do that too, but alarms take none. */
function sumOver(namespaces: readonly string[], event: WatchedEvent): IMetric {
  const usingMetrics = Object.fromEntries(
    namespaces.map((namespace, index) => [`m${index}`, metricOperations(namespace, event)]),
  )
  const expression = Object.keys(usingMetrics)
    .map((name) => `FILL(${name}, 0)`)
    .join(' + ')
  return new MathExpression({ expression, usingMetrics, label: event, period: PERIOD })
}
