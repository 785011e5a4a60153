import { InvalidOptionError } from '../base/errors.ts'
import { functionOption, refuseUnknown, show } from '../base/guards.ts'
import type { Observer, OperationEvent } from '../base/ports.ts'
import {
  DURATION_METRIC,
  EVENT_TYPES,
  METRIC_DIMENSION,
  METRIC_NAMESPACE,
  measuresOf,
  PROPERTY_NAMES,
  propertiesOf,
} from './measures.ts'

/** Options of `emfMetrics`. */
export interface EmfMetricsOptions {
  /**
   * Where the metrics lie in CloudWatch. The dashboard of `lambda-once/cdk` looks in the default.
   * @defaultValue 'lambda-once'
   */
  readonly metricNamespace?: string
  /**
   * Fixed dimensions, such as `{ service: 'checkout' }`. Each metric is then there twice, with the namespace alone and
   * with these too: every combination of values is billed as a metric.
   * @defaultValue none: the operations' namespace is the only dimension
   */
  readonly dimensions?: Readonly<Record<string, string>>
  /**
   * Which events are counted. An event that is not costs nothing.
   * @defaultValue all of them
   */
  readonly events?: readonly OperationEvent['type'][]
  /**
   * Writes one line, without its line break.
   * @defaultValue straight to stdout: Lambda's `console` puts something before a line, which is no metric any more
   */
  readonly write?: (line: string) => void
}

/** CloudWatch takes at most 30 dimensions in a set; one is the namespace. */
const MAX_DIMENSIONS = 29
/** Printable ASCII that does not begin with a colon, and is not blank: what CloudWatch takes for names and values. */
const METRIC_TEXT = /^(?!:)(?=.*[!-~])[ -~]{1,250}$/

/**
 * Counts every event as a CloudWatch metric: one line of the embedded metric format per event, written at once, so that
 * an invocation that is killed has still said what it did. The operation's id is a property of the line.
 *
 * @example
 * const idempotency = createIdempotency({ store, namespace: 'payments', observer: emfMetrics() })
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function emfMetrics(options: EmfMetricsOptions = {}): Observer {
  refuseUnknown('emfMetrics', options, ['metricNamespace', 'dimensions', 'events', 'write'])
  const metricNamespace = namespaceOption(options.metricNamespace)
  const dimensions = dimensionsOption(options.dimensions)
  const names = Object.keys(dimensions)
  const sets = [[METRIC_DIMENSION], ...(names.length > 0 ? [[METRIC_DIMENSION, ...names]] : [])]
  const counted = new Set(eventsOption(options.events))
  const write = functionOption('write', options.write) ?? toStdout

  return (event) => {
    if (!counted.has(event.type)) return
    const measures = measuresOf(event)
    const directive = {
      Namespace: metricNamespace,
      Dimensions: sets,
      Metrics: measures.map(({ name, unit }) => ({ Name: name, Unit: unit })),
    }
    write(
      JSON.stringify({
        _aws: { Timestamp: event.atMs, CloudWatchMetrics: [directive] },
        ...propertiesOf(event),
        ...dimensions,
        [METRIC_DIMENSION]: event.namespace,
        ...Object.fromEntries(measures.map(({ name, value }) => [name, value])),
      }),
    )
  }
}

function toStdout(line: string): void {
  process.stdout.write(`${line}\n`)
}

function namespaceOption(value: string | undefined): string {
  if (value === undefined) return METRIC_NAMESPACE
  if (typeof value === 'string' && METRIC_TEXT.test(value) && !value.startsWith('AWS/')) return value
  throw new InvalidOptionError(
    `metricNamespace must be 1 to 250 printable ASCII characters, not beginning with "AWS/" or ":"; got ${show(value)}.`,
  )
}

function eventsOption(value: readonly OperationEvent['type'][] | undefined): readonly OperationEvent['type'][] {
  if (value === undefined) return EVENT_TYPES
  if (!Array.isArray(value)) throw new InvalidOptionError(`events must be an array of events; got ${show(value)}.`)
  const wrong = value.find((type) => !EVENT_TYPES.includes(type))
  if (wrong === undefined) return value
  throw new InvalidOptionError(`events must name events (${EVENT_TYPES.join(', ')}); got ${show(wrong)}.`)
}

function dimensionsOption(value: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidOptionError(`dimensions must be an object of texts; got ${show(value)}.`)
  }
  const entries = Object.entries(value)
  if (entries.length > MAX_DIMENSIONS) {
    throw new InvalidOptionError(`dimensions must be at most ${MAX_DIMENSIONS}; got ${entries.length}.`)
  }
  const taken = [METRIC_DIMENSION, DURATION_METRIC, ...EVENT_TYPES, ...PROPERTY_NAMES]
  for (const [name, text] of entries) {
    if (taken.includes(name)) throw new InvalidOptionError(`dimensions must not have "${name}": that name is taken.`)
    if (METRIC_TEXT.test(name) && typeof text === 'string' && METRIC_TEXT.test(text)) continue
    throw new InvalidOptionError(
      `dimensions must have names and values of 1 to 250 printable ASCII characters, not beginning with ":"; got ${show(name)}: ${show(text)}.`,
    )
  }
  return Object.fromEntries(entries)
}
