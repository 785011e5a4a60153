import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2, Context } from 'aws-lambda'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { createIdempotency, type Operation } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { openTelemetry } from '../../lib/observability/opentelemetry/index.ts'
import { sqsEvent } from '../../lib/testing/index.ts'
import { httpEvent, lambdaContext } from '../http/events.ts'
import { recordSpans, type Spans } from './spans.ts'

let spans: Spans

beforeEach(() => {
  spans = recordSpans()
})

afterEach(() => spans.stop())

async function work(operation: Operation) {
  spans.tracer.startSpan('query').end()
  await operation.step('charge', async () => spans.tracer.startSpan('POST /charges').end())
  return { statusCode: 201, body: 'done' }
}

const SHELLS = {
  idempotent: (idempotency) => {
    const handler = idempotent({ idempotency }, (_event: unknown, { operation }) => work(operation))
    return (context) => handler(httpEvent() as never, context)
  },
  idempotentHttp: (idempotency) => {
    const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyResultV2>()
      .use(idempotentHttp({ idempotency }))
      .handler((_event, { operation }) => work(operation))
    return async (context) => handler(httpEvent() as never, context as never)
  },
  batchHandler: (idempotency) => {
    const handler = batchHandler({ idempotency }, (_record, operation) => work(operation))
    const event = sqsEvent({ body: { id: 1 } })
    return (context) => handler(event, context)
  },
} satisfies Record<
  string,
  (idempotency: ReturnType<typeof createIdempotency>) => (context: Context) => Promise<unknown>
>

/** The span a span lies in, by name. */
function parents(): Record<string, string | undefined> {
  const names = new Map(spans.all().map((span) => [span.spanContext().spanId, span.name]))
  return Object.fromEntries(
    spans.all().map(({ name, parentSpanContext }) => [name, names.get(parentSpanContext?.spanId ?? '')]),
  )
}

describe.each(Object.entries(SHELLS))('%s', (shell, build) => {
  test('traces each delivery, its step, and what the step does', async () => {
    const tracing = openTelemetry(spans.tracer)
    const deliver = build(createIdempotency({ store: memoryStore(), namespace: 'orders', tracing }))
    await spans.tracer.startActiveSpan('invocation', async (invocation) => {
      await deliver(lambdaContext())
      invocation.end()
    })
    expect(parents()).toEqual({
      // Middy calls the handler itself, so that nobody can put it into a span.
      query: shell === 'idempotentHttp' ? 'invocation' : 'operation orders',
      'POST /charges': 'step charge',
      'step charge': 'operation orders',
      'operation orders': 'invocation',
      invocation: undefined,
    })
    spans.clear()
    await deliver(lambdaContext())
    expect(spans.named('operation orders').attributes['lambda_once.outcome']).toBe('replay')
    expect(spans.named('operation orders').links).toHaveLength(1)
  })
})
