import {
  type Alarm,
  AlarmStatusWidget,
  Color,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { IdempotentQueue } from '../queue/idempotent-queue.ts'
import { metricOperations, type WatchedEvent } from './metrics.ts'
import type { Watched } from './watched.ts'

/** A row of the dashboard: what an operator asks, and what answers it. */
export interface Answer {
  readonly question: string
  readonly widgets: readonly IWidget[]
}

const FULL = 24
const HALF = 12
const THIRD = 8
/** Periods are five minutes; drain times are shown in minutes. */
const MINUTES_PER_PERIOD = 5

/** The rows of the dashboard, the most urgent first. */
export function widgetsFor(watched: Watched, alarms: readonly Alarm[]): Answer[] {
  const { queues, functions, api, relay, reconciler, table } = watched
  return [
    { question: 'Does anything need me?', widgets: [new AlarmStatusWidget({ alarms: [...alarms], width: FULL })] },
    ...(queues.length > 0
      ? [{ question: 'Is anything lost, and what is waiting?', widgets: queueWidgets(queues) }]
      : []),
    { question: 'Does the protection work?', widgets: operationWidgets(watched) },
    ...(relay || reconciler ? [{ question: 'Does the outbox go out?', widgets: outboxWidgets(watched) }] : []),
    ...(api
      ? [
          {
            question: 'What do callers see?',
            widgets: [
              graph('Refused and failed requests', [api.metricClientError(), api.metricServerError()], HALF),
              graph(
                'Latency, ms',
                [api.metricLatency({ statistic: 'p50' }), api.metricLatency({ statistic: 'p99' })],
                HALF,
              ),
            ],
          },
        ]
      : []),
    ...(functions.length > 0
      ? [
          {
            question: 'Do the functions keep up?',
            widgets: [
              graph(
                'Errors',
                functions.map((fn) => fn.metricErrors({ label: fn.node.path })),
                THIRD,
              ),
              graph(
                'Throttles',
                functions.map((fn) => fn.metricThrottles({ label: fn.node.path })),
                THIRD,
              ),
              graph(
                'Slowest runs, ms',
                functions.map((fn) => fn.metricDuration({ statistic: 'p99', label: fn.node.path })),
                THIRD,
              ),
            ],
          },
        ]
      : []),
    {
      question: 'Does the table keep up?',
      widgets: [
        graph('Refused writes (each is a repetition that was caught)', [table.metricRefusedWrites()], HALF),
        graph('Capacity', [table.metricWriteUnits(), table.metricReadUnits()], HALF),
      ],
    },
  ]
}

function queueWidgets(queues: readonly IdempotentQueue[]): IWidget[] {
  const deadLetters = queues.flatMap((queue) => queue.metricDeadLetters({ label: queue.node.id }) ?? [])
  return [
    graph('In the dead letters', deadLetters, THIRD),
    graph(
      'Oldest message, s',
      queues.map((queue) => queue.metricOldestMessageAge({ label: queue.node.id })),
      THIRD,
    ),
    graph('Minutes until worked off', queues.map(drainTime), THIRD),
  ]
}

function drainTime(queue: IdempotentQueue, index: number): IMetric {
  // All metrics of a graph share one space of ids.
  const [backlog, workedOff] = [`backlog${index}`, `workedOff${index}`]
  return new MathExpression({
    // Where nothing is worked off there is no answer: the graph has a gap, and the age of the oldest message grows.
    expression: `IF(${workedOff} > 0, ${MINUTES_PER_PERIOD} * ${backlog} / ${workedOff})`,
    usingMetrics: { [backlog]: queue.metricBacklog(), [workedOff]: queue.metricWorkedOff() },
    label: queue.node.id,
  })
}

function operationWidgets({ namespaces }: Watched): IWidget[] {
  const each = (events: readonly WatchedEvent[]) =>
    namespaces.flatMap((namespace) =>
      events.map((event) => metricOperations(namespace, event, { label: `${namespace}: ${event}` })),
    )
  return [
    graph('New operations and repetitions answered', each(['claimed', 'completed', 'replayed']), THIRD),
    graph('Repetitions refused', each(['conflicted', 'mismatched']), THIRD),
    graph(
      'Crashes, lost leases and unknown outcomes',
      each(['taken-over', 'lease-lost', 'failed', 'unknown', 'store-error']),
      THIRD,
    ),
  ]
}

function outboxWidgets({ relay, reconciler }: Watched): IWidget[] {
  return [
    ...(relay
      ? [
          graph('Behind the stream, ms', [relay.metricIteratorAge()], THIRD),
          graph('Given up', [relay.metricDeadLetters()], THIRD),
        ]
      : []),
    ...(reconciler
      ? [
          graph(
            'Reconciler runs and errors',
            [reconciler.metricRuns(), reconciler.metricErrors({ color: Color.RED })],
            THIRD,
          ),
        ]
      : []),
  ]
}

function graph(title: string, left: readonly IMetric[], width: number): GraphWidget {
  return new GraphWidget({ title, left: [...left], width })
}
