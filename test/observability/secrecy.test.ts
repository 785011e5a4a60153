import diagnostics from 'node:diagnostics_channel'
import { Metrics } from '@aws-lambda-powertools/metrics'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2 } from 'aws-lambda'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { createIdempotency, type Operation, RetryLater } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { EVENT_TYPES, emfMetrics, observers, powertoolsMetrics } from '../../lib/observability/index.ts'
import { openTelemetry } from '../../lib/observability/opentelemetry/index.ts'
import { sqsEvent } from '../../lib/testing/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { type Fault, faultyStore } from '../core/faulty-store.ts'
import { httpEvent, lambdaContext } from '../http/events.ts'
import { readEmf } from './emf-format.ts'
import { recordSpans, type Spans } from './spans.ts'

/** One in each thing that nobody may read in a log, a metric or a trace. */
const SECRETS = {
  key: 'sekret-key',
  otherKey: 'sekret-other-key',
  body: 'sekret-body',
  principal: 'sekret-principal',
  scope: 'sekret-scope',
  path: 'sekret-path',
  answer: 'sekret-answer',
  error: 'sekret-error',
  note: 'sekret-note',
  signal: 'sekret-signal',
}

let spans: Spans
let written: string[]

beforeEach(() => {
  spans = recordSpans()
  written = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text).trimEnd())
    return true
  })
})

afterEach(async () => {
  vi.restoreAllMocks()
  await spans.stop()
})

/** Handlers of all kinds, to which everything happens that has an event. */
async function runEverything(): Promise<{ readonly seen: readonly unknown[] }> {
  const seen: unknown[] = []
  const collect = (event: unknown) => seen.push(event)
  for (const type of EVENT_TYPES) diagnostics.subscribe(`lambda-once:${type}`, collect)
  const clock = fakeClock()
  const nextPuts: Fault[] = []
  const store = faultyStore(memoryStore(), { put: nextPuts })
  const idempotency = createIdempotency({
    store,
    clock,
    namespace: 'payments',
    leaseSeconds: 10,
    reconcilerShards: 1,
    reconcilerRecovers: true,
    onStoreError: 'open',
    onError: () => {
      throw new Error(SECRETS.error)
    },
    observer: observers(emfMetrics(), powertoolsMetrics(new Metrics({ namespace: 'lambda-once' }))),
    tracing: openTelemetry(spans.tracer),
  })
  const failure = () => Object.assign(new Error(SECRETS.error), { name: SECRETS.error.repeat(9), code: 'E_PAY' })
  const quiet = (promise: Promise<unknown>) => promise.catch(() => undefined)

  // HTTP: answered, replayed, mismatched, in progress, failed, released.
  const asked = { key: SECRETS.key, sub: SECRETS.principal, path: `/${SECRETS.path}` }
  const serve = (work: (operation: Operation) => unknown) =>
    middy<APIGatewayProxyEventV2, APIGatewayProxyResultV2>()
      .use(idempotentHttp({ idempotency }))
      .handler(async (_event, { operation }) => {
        await work(operation)
        return { statusCode: 201, body: SECRETS.answer }
      })
  const post = (handler: ReturnType<typeof serve>, body: string, key = SECRETS.key) =>
    quiet(Promise.resolve(handler(httpEvent({ ...asked, key, body }) as never, lambdaContext() as never)))
  const answering = serve(async (operation) => {
    await operation.step('charge', async () => SECRETS.answer)
    await post(answering, SECRETS.body)
  })
  await post(answering, SECRETS.body)
  await post(answering, SECRETS.body)
  await post(answering, `${SECRETS.body}, another`)
  await post(
    serve(() => Promise.reject(failure())),
    SECRETS.body,
    SECRETS.otherKey,
  )
  const wrapped = idempotent({ idempotency, keyFrom: () => `${SECRETS.key}-wrapped` }, async () => ({
    statusCode: 503,
    body: SECRETS.answer,
  }))
  await quiet(Promise.resolve(wrapped(httpEvent(asked) as never, lambdaContext())))

  // The store is down for one claim, and the handler runs open.
  nextPuts.push('refused')
  await quiet(idempotency.run({ key: `${SECRETS.key}-open`, scope: SECRETS.scope, input: SECRETS.body }, () => 1))

  // Batches: done, thrown, poison.
  const batch = batchHandler<{ id: string }>(
    { idempotency, scope: SECRETS.scope, key: ({ body }) => body.id, onFailure: () => undefined },
    async ({ body }) => {
      if (body.id.endsWith('throw')) throw failure()
    },
  )
  const bodies = [SECRETS.body, `${SECRETS.body}-throw`].map((id) => ({ body: JSON.stringify({ id }) }))
  const messages = sqsEvent(...bodies, { body: `{${SECRETS.body}` })
  await batch(messages, lambdaContext())
  await batch(messages, lambdaContext())

  // Anything else: crashed, unknown, suspended, signalled, settled, committed, released.
  const run = (key: string, work: (operation: Operation) => unknown) =>
    quiet(
      idempotency.run(
        { key: `${SECRETS.key}-${key}`, scope: SECRETS.scope, input: SECRETS.body, metadata: { note: SECRETS.note } },
        work,
      ),
    )
  await run('late', async () => {
    clock.advance(11_001)
    await run('late', (operation) => operation.commit(SECRETS.answer, { receipt: SECRETS.answer }))
  })
  await run('stop', (operation) => operation.step('charge', () => Promise.reject(failure()), { onUnknown: 'stop' }))
  await run('stop', (operation) => operation.step('charge', () => 1, { onUnknown: 'stop' }))
  await run('stop', () => 1)
  const name = (key: string) => ({ key: `${SECRETS.key}-${key}`, scope: SECRETS.scope })
  await idempotency.settle(name('stop'), { error: failure() })
  await run('wait', (operation) => operation.wait(SECRETS.note))
  await run('wait', () => 1)
  await idempotency.signal(name('wait'), SECRETS.signal)
  await run('wait', async (operation) => operation.signals())
  await run('retry', () => Promise.reject(new RetryLater(SECRETS.error)))
  await run('free', (operation) => operation.release())

  for (const type of EVENT_TYPES) diagnostics.unsubscribe(`lambda-once:${type}`, collect)
  return { seen }
}

test('no key, scope, body, principal, answer or message of an error is in any event, line or span of a whole run', async () => {
  const { seen } = await runEverything()
  const types = new Set(seen.map((event) => Reflect.get(Object(event), 'type')))
  // Whatever is missing here was not looked at.
  expect([...types].sort()).toEqual([...EVENT_TYPES].sort())

  const lines = written.filter((line) => line.startsWith('{'))
  lines.map(readEmf)
  const traces = spans.all().map(({ name, attributes, events, links, status, resource }) => {
    return JSON.stringify({ name, attributes, events, links, status, resource: resource.attributes })
  })
  // An event carries the error itself, for observers that know what to do with it; everything else is looked at.
  const events = seen.map((event) => JSON.stringify({ ...Object(event), error: undefined }))
  expect([lines.length, traces.length, events.length].every((count) => count > 20)).toBe(true)
  for (const output of [...lines, ...traces, ...events]) {
    for (const secret of Object.values(SECRETS)) expect(output).not.toContain(secret)
  }
})
