import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch'

/** Where the runtime's metrics lie in CloudWatch. */
export const METRIC_NAMESPACE = 'lambda-once'
/** The dimension that tells one operation namespace ("payments") from another. */
export const METRIC_DIMENSION = 'namespace'

/** The runtime's events that are watched: each is a metric of its own name, counted once per event. */
export const WATCHED_EVENTS = [
  'claimed',
  'replayed',
  'conflicted',
  'mismatched',
  'taken-over',
  'lease-lost',
  'completed',
  'failed',
  'unknown',
  'store-error',
] as const

/** An event of an operation that is counted. */
export type WatchedEvent = (typeof WATCHED_EVENTS)[number]

/**
 * How often something happened to operations of a namespace.
 *
 * @example
 * metricOperations('payments', 'lease-lost').createAlarm(this, 'LeaseLost', { threshold: 5, evaluationPeriods: 1 })
 */
export function metricOperations(namespace: string, event: WatchedEvent, props?: MetricOptions): Metric {
  return new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: event,
    dimensionsMap: { [METRIC_DIMENSION]: namespace },
    statistic: Stats.SUM,
    ...props,
  })
}
