export { type EmfMetricsOptions, emfMetrics } from './emf.ts'
export { DURATION_METRIC, EVENT_TYPES, METRIC_DIMENSION, METRIC_NAMESPACE } from './measures.ts'
export { observers } from './observers.ts'
export { type PowertoolsMetrics, powertoolsMetrics } from './powertools.ts'
