import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import type { Observer } from '../base/ports.ts'
import { METRIC_DIMENSION, measuresOf, propertiesOf } from './measures.ts'

/** What is used of the `Metrics` of `@aws-lambda-powertools/metrics`, 2.0 or later. */
export interface PowertoolsMetrics {
  singleMetric(): {
    clearDefaultDimensions(): unknown
    addDimension(name: string, value: string): unknown
    addMetadata(key: string, value: string): unknown
    addMetric(name: string, unit: 'Count' | 'Milliseconds', value: number): unknown
  }
}

/**
 * Counts every event with Powertools' `Metrics`: in its namespace and where it writes to, with the operations' namespace
 * as the only dimension, each at once. Your own metrics, their dimensions and when they are published stay as they are.
 *
 * @example
 * const metrics = new Metrics({ namespace: 'lambda-once' })
 * const idempotency = createIdempotency({ store, namespace: 'payments', observer: powertoolsMetrics(metrics) })
 *
 * @throws InvalidOptionError when it is no `Metrics`
 */
export function powertoolsMetrics(metrics: PowertoolsMetrics): Observer {
  if (typeof metrics?.singleMetric !== 'function') {
    throw new InvalidOptionError(
      `powertoolsMetrics(metrics) takes a Metrics of @aws-lambda-powertools/metrics; got ${show(metrics)}.`,
    )
  }
  return (event) => {
    for (const { name, unit, value } of measuresOf(event)) {
      const single = metrics.singleMetric()
      // `service` and its like would make other metrics of them, which no dashboard of lambda-once looks at.
      single.clearDefaultDimensions()
      single.addDimension(METRIC_DIMENSION, event.namespace)
      for (const [key, property] of Object.entries(propertiesOf(event))) single.addMetadata(key, String(property))
      single.addMetric(name, unit, value)
    }
  }
}
