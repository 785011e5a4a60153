import { type Context, context, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { InvalidOptionError } from '../../base/errors.ts'
import { show } from '../../base/guards.ts'
import type { Trace, TracedPart, TraceEnd, Tracing } from '../../operation/tracing.ts'
import { errorWords } from '../measures.ts'
import { spanContextFrom, traceparentOf } from './span-context.ts'

/** Ends that somebody should look at, though nothing was thrown. */
const BAD_ENDS: readonly TraceEnd[] = [
  'failed',
  'unknown',
  'unrecorded',
  'lease-lost',
  'store-unavailable',
  'outcome-lost',
  'broken',
]

/**
 * Follows operations with OpenTelemetry: a span per delivery, from before its claim to its last word, and in it one per
 * step and commit. A delivery that finds an earlier execution links to that one's span, whatever process it ran in.
 *
 * Of errors the name and code are recorded, never a message; keys, scopes and bodies are not.
 *
 * @example
 * const tracing = openTelemetry(trace.getTracer('orders'))
 * const idempotency = createIdempotency({ store, namespace: 'payments', tracing })
 *
 * @throws InvalidOptionError when it is no tracer
 */
export function openTelemetry(tracer: Tracer): Tracing {
  if (typeof tracer?.startSpan !== 'function') {
    throw new InvalidOptionError(
      `openTelemetry(tracer) takes a Tracer, such as trace.getTracer('orders') of @opentelemetry/api; got ${show(tracer)}.`,
    )
  }
  return Object.freeze({
    begin({ namespace, operationId }: { readonly namespace: string; readonly operationId: string }): Trace {
      const span = tracer.startSpan(`operation ${namespace}`, {
        attributes: { 'lambda_once.namespace': namespace, 'lambda_once.operation.id': operationId },
      })
      return follow(tracer, span, trace.setSpan(context.active(), span))
    },
  })
}

function follow(tracer: Tracer, span: Span, own: Context): Trace {
  let isWorkInside = false

  /** Spans that the work has opened around a part hold it; where the work does not run inside of ours, ours does. */
  function parent(): Context {
    const active = context.active()
    return isWorkInside && trace.getSpan(active) !== undefined ? active : own
  }

  return {
    context: traceparentOf(span.spanContext()),

    saw(event) {
      if ('attempt' in event) span.setAttribute('lambda_once.attempt', event.attempt)
      span.addEvent(event.type, {
        ...('during' in event && { 'lambda_once.during': event.during }),
        ...('hook' in event && { 'lambda_once.hook': event.hook }),
        ...('error' in event && errorAttributes(event.error)),
      })
      const origin = 'origin' in event && event.origin !== undefined ? spanContextFrom(event.origin) : undefined
      if (origin !== undefined) span.addLink({ context: origin })
    },

    within(part, run) {
      if (part.kind === 'work') {
        isWorkInside = true
        return context.with(own, run)
      }
      const around = parent()
      const inner = tracer.startSpan(...named(part), around)
      return context.with(trace.setSpan(around, inner), run).then(
        () => {
          if (part.kind === 'step') inner.setAttribute('lambda_once.step.recalled', part.isRecalled())
          inner.end()
        },
        (error: unknown) => {
          markFailed(inner, error)
          inner.end()
        },
      )
    },

    end(how, thrown) {
      span.setAttribute('lambda_once.outcome', how)
      if (thrown !== undefined) markFailed(span, thrown.error)
      else if (BAD_ENDS.includes(how)) span.setStatus({ code: SpanStatusCode.ERROR, message: how })
      span.end()
    },
  }
}

function named(part: Exclude<TracedPart, { kind: 'work' }>): [string, { attributes: Record<string, string> }] {
  if (part.kind === 'commit') return ['commit', { attributes: {} }]
  return [`step ${part.name}`, { attributes: { 'lambda_once.step.name': part.name } }]
}

function markFailed(span: Span, error: unknown): void {
  const attributes = errorAttributes(error)
  span.setAttributes(attributes)
  span.setStatus({ code: SpanStatusCode.ERROR, message: attributes['error.type'] })
}

/** `recordException` would record the message and the stack, which may quote the request. */
function errorAttributes(error: unknown): { readonly 'error.type': string } & Record<string, string> {
  const { errorName = 'unknown', errorCode } = errorWords(error)
  return { 'error.type': errorName, ...(errorCode !== undefined && { 'lambda_once.error.code': errorCode }) }
}
