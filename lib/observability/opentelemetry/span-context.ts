import { isSpanContextValid, type SpanContext } from '@opentelemetry/api'

const VERSION = '00'
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/

/** The W3C `traceparent` of a span. `undefined`: the tracer traces nothing. */
export function traceparentOf(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined
  const flags = span.traceFlags.toString(16).padStart(2, '0')
  return `${VERSION}-${span.traceId}-${span.spanId}-${flags}`
}

/** The span that a `traceparent` names. `undefined`: it is none. */
export function spanContextFrom(traceparent: string): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? []
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(span) ? span : undefined
}
