import type { OperationEvent } from '../base/ports.ts'

/** Where the metrics lie in CloudWatch, unless another place is named: where the dashboard of `lambda-once/cdk` looks. */
export const METRIC_NAMESPACE = 'lambda-once'
/** The one dimension, which tells one operation namespace ("payments") from another. */
export const METRIC_DIMENSION = 'namespace'
/** Time from an attempt's claim to its end, in ms. */
export const DURATION_METRIC = 'duration'

type EventType = OperationEvent['type']

/** A record, so that an event that is added one day cannot be forgotten here. */
const EACH: Readonly<Record<EventType, true>> = {
  claimed: true,
  'taken-over': true,
  resumed: true,
  completed: true,
  failed: true,
  resumable: true,
  released: true,
  suspended: true,
  signalled: true,
  settled: true,
  replayed: true,
  conflicted: true,
  mismatched: true,
  waiting: true,
  unknown: true,
  'lease-lost': true,
  'store-error': true,
  unprotected: true,
  rejected: true,
  'hook-failed': true,
}

/** Every event there is. Each is a metric of its own name. */
export const EVENT_TYPES: readonly EventType[] = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.keys(EACH) as EventType[],
)

/** One number to be counted. */
export interface Measure {
  readonly name: string
  readonly unit: 'Count' | 'Milliseconds'
  readonly value: number
}

/** What is measured of an event: that it happened and, where it ended an attempt, how long that took. */
export function measuresOf(event: OperationEvent): readonly Measure[] {
  const counted: Measure = { name: event.type, unit: 'Count', value: 1 }
  const durationMs = 'durationMs' in event ? event.durationMs : undefined
  // Clocks are set back now and then, and a negative duration would spoil every average.
  if (durationMs === undefined || durationMs < 0) return [counted]
  return [counted, { name: DURATION_METRIC, unit: 'Milliseconds', value: durationMs }]
}

/**
 * What helps to find the operation again, and never to group by. Chosen field by field: whatever events may carry one
 * day, nothing comes out here that was not meant to.
 */
export function propertiesOf(event: OperationEvent): Readonly<Record<string, string | number>> {
  return {
    operationId: event.operationId,
    ...('attempt' in event && { attempt: event.attempt }),
    ...('status' in event && { status: event.status }),
    ...('during' in event && { during: event.during }),
    ...('hook' in event && { hook: event.hook }),
    ...('why' in event && { why: event.why }),
    ...('error' in event && errorWords(event.error)),
  }
}

/** The names that {@link propertiesOf} and the format itself use. */
export const PROPERTY_NAMES: readonly string[] = /* @__PURE__ */ Object.freeze([
  '_aws',
  'operationId',
  'attempt',
  'status',
  'during',
  'hook',
  'why',
  'errorName',
  'errorCode',
])

/** What may be told of an error: which kind it is. Its message may quote the request. */
export function errorWords(error: unknown): { readonly errorName?: string; readonly errorCode?: string } {
  const errorName = word(error, 'name')
  const errorCode = word(error, 'code')
  return { ...(errorName !== undefined && { errorName }), ...(errorCode !== undefined && { errorCode }) }
}

/** A field that looks like an identifier; anything else may be text with somebody's data in it. */
function word(error: unknown, field: string): string | undefined {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, field) : undefined
  return typeof value === 'string' && /^[A-Za-z_][\w.:/-]{0,63}$/.test(value) ? value : undefined
}
