import { SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, PermanentError, RetryLater } from '../../lib/index.ts'
import { openTelemetry } from '../../lib/observability/opentelemetry/index.ts'
import { codeOf, ORDER, setUp as setUpEngine } from '../core/harness.ts'
import { createTable, localClient } from '../stores/table.ts'
import { recordSpans, type Spans } from './spans.ts'

let spans: Spans

beforeEach(() => {
  spans = recordSpans()
})

afterEach(() => spans.stop())

const setUp = (options: Parameters<typeof setUpEngine>[0] = {}, faults: Parameters<typeof setUpEngine>[1] = {}) =>
  setUpEngine({ tracing: openTelemetry(spans.tracer), ...options }, faults)

const OPERATION = 'operation payments'
const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId
const idOf = (span: ReadableSpan) => span.spanContext().spanId
const linksOf = (span: ReadableSpan | undefined) => span?.links.map(({ context }) => context.spanId)
const operations = () => spans.all().filter(({ name }) => name === OPERATION)
const outcomes = () => operations().map(({ attributes }) => attributes['lambda_once.outcome'])

describe('an operation', () => {
  test('is a span, with its steps and its commit inside', async () => {
    const { idempotency } = setUp()
    await idempotency.run(ORDER, async (operation) => {
      await operation.step('charge', async () => 'charged')
      return operation.commit('done')
    })
    const operation = spans.named(OPERATION)
    expect(operation.attributes).toMatchObject({
      'lambda_once.namespace': 'payments',
      'lambda_once.operation.id': expect.stringContaining('payments'),
      'lambda_once.attempt': 1,
      'lambda_once.outcome': 'completed',
    })
    expect(operation.status.code).toBe(SpanStatusCode.UNSET)
    expect(operation.events.map(({ name }) => name)).toEqual(['claimed', 'completed'])
    expect(parentOf(spans.named('step charge'))).toBe(idOf(operation))
    expect(parentOf(spans.named('commit'))).toBe(idOf(operation))
  })

  test('lies in the span that asked for it', async () => {
    const { idempotency } = setUp()
    await spans.tracer.startActiveSpan('invocation', async (invocation) => {
      await idempotency.run(ORDER, () => 'done')
      invocation.end()
    })
    expect(parentOf(spans.named(OPERATION))).toBe(idOf(spans.named('invocation')))
  })

  test('holds what its work traces, and a step what the step traces', async () => {
    const { idempotency } = setUp()
    const traced = async (name: string) => {
      await Promise.resolve()
      spans.tracer.startSpan(name).end()
    }
    await idempotency.run(ORDER, async (operation) => {
      await traced('query')
      await operation.step('charge', () => traced('POST /charges'))
      await spans.tracer.startActiveSpan('mail', async (mail) => {
        await operation.step('send', () => 'sent')
        mail.end()
      })
    })
    expect(parentOf(spans.named('query'))).toBe(idOf(spans.named(OPERATION)))
    expect(parentOf(spans.named('POST /charges'))).toBe(idOf(spans.named('step charge')))
    expect(parentOf(spans.named('step send'))).toBe(idOf(spans.named('mail')))
  })

  test('keeps parallel operations of one process apart', async () => {
    const { idempotency } = setUp()
    await Promise.all(
      ['a', 'b', 'c'].map((key) =>
        idempotency.run({ key, input: key }, (operation) => operation.step(key, async () => key)),
      ),
    )
    const parents = ['a', 'b', 'c'].map((key) => parentOf(spans.named(`step ${key}`)))
    expect(new Set(parents)).toEqual(new Set(operations().map(idOf)))
  })

  test('tells of an error its name and code, and nothing else', async () => {
    const { idempotency } = setUp()
    const error = Object.assign(new RangeError('card 4111'), { code: 'E_CARD' })
    const thrown = idempotency.run(ORDER, (operation) => operation.step('charge', () => Promise.reject(error)))
    await expect(thrown).rejects.toBe(error)
    for (const span of [spans.named(OPERATION), spans.named('step charge')]) {
      expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: 'RangeError' })
      expect(span.attributes).toMatchObject({ 'error.type': 'RangeError', 'lambda_once.error.code': 'E_CARD' })
      expect(span.events.map(({ name }) => name)).not.toContain('exception')
      expect(JSON.stringify([span.status, span.attributes, span.events])).not.toContain('4111')
    }
  })
})

describe('a later delivery links to the execution it found', () => {
  test('when it replays', async () => {
    const { idempotency, record } = setUp()
    await idempotency.run(ORDER, () => 'done')
    await idempotency.run(ORDER, () => 'again')
    const [first, replay] = operations()
    expect(first && idOf(first)).toBe(record()?.trace?.split('-')[2])
    expect(linksOf(replay)).toEqual([first && idOf(first)])
    expect(replay?.attributes['lambda_once.outcome']).toBe('replay')
    expect(replay?.spanContext().traceId).not.toBe(first?.spanContext().traceId)
    expect(linksOf(first)).toEqual([])
  })

  test('when it is refused', async () => {
    const { idempotency } = setUp()
    await idempotency.run(ORDER, async () => {
      expect(await codeOf(idempotency.run(ORDER, () => 'twice'))).toBe('IN_PROGRESS')
      expect(await codeOf(idempotency.run({ ...ORDER, input: 'other' }, () => 'twice'))).toBe('MISMATCH')
    })
    const [conflict, mismatch, first] = operations()
    expect(outcomes()).toEqual(['in-progress', 'mismatch', 'completed'])
    expect([linksOf(conflict), linksOf(mismatch)]).toEqual([[first && idOf(first)], [first && idOf(first)]])
  })

  test('when it goes on after a crash or where another has stopped, each to the one before', async () => {
    const { idempotency, clock } = setUp({ leaseSeconds: 10 })
    await codeOf(
      idempotency.run(ORDER, async (operation) => {
        await operation.step('charge', () => 'charged')
        throw new RetryLater('busy')
      }),
    )
    await idempotency.run(ORDER, async () => {
      clock.advance(11_001)
      return idempotency.run(ORDER, (operation) => operation.step('charge', () => 'charged twice'))
    })
    await idempotency.run(ORDER, () => 'again')
    const [first, third, second] = operations()
    expect(outcomes()).toEqual(['resumable', 'completed', 'replay', 'replay'])
    expect(operations().map(linksOf)).toEqual([
      [],
      [second && idOf(second)],
      [first && idOf(first)],
      [third && idOf(third)],
    ])
    const recalled = spans.all().filter(({ name }) => name === 'step charge')
    expect(recalled.map(({ attributes }) => attributes['lambda_once.step.recalled'])).toEqual([false, true])
    expect(second?.events.map(({ name }) => name)).toEqual(['resumed', 'lease-lost'])
  })

  test('over processes that share nothing but the table, where a commit ended it', async () => {
    const client = localClient(inject('dynamoDbEndpoint'))
    const store = () => dynamoStore({ tableName, client })
    const tableName = await createTable(client)
    const deliver = () =>
      createIdempotency({ store: store(), namespace: 'payments', tracing: openTelemetry(spans.tracer) }).run(
        ORDER,
        (operation) => operation.commit('done'),
      )
    await deliver()
    await deliver()
    const [first, replay] = operations()
    expect(linksOf(replay)).toEqual([first && idOf(first)])
  })

  test('when that one was not sampled: it still says which trace it was', async () => {
    await spans.stop()
    spans = recordSpans({ sampled: false })
    const { idempotency, record } = setUp()
    await idempotency.run(ORDER, () => 'done')
    expect(record()?.trace).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    expect(spans.all()).toEqual([])
  })
})

describe('every delivery ends its span', () => {
  test.each([
    ['a value', () => 'done', 'completed', false],
    ['a permanent error', () => Promise.reject(new PermanentError('no')), 'failed', true],
    ['an error that is safe to repeat', () => Promise.reject(new RetryLater('busy')), 'resumable', true],
    ['an error that is no error', () => Promise.reject('text'), 'failed', true],
  ])('that came to %s', async (_what, work, outcome, isError) => {
    const { idempotency } = setUp()
    await codeOf(idempotency.run(ORDER, work))
    expect(outcomes()).toEqual([outcome])
    expect(operations()[0]?.status.code).toBe(isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET)
  })

  test('that could not reach the store', async () => {
    const { idempotency } = setUp({}, { put: ['refused'] })
    expect(await codeOf(idempotency.run(ORDER, () => 'done'))).toBe('STORE_UNAVAILABLE')
    expect(outcomes()).toEqual(['store-unavailable'])
    expect(operations()[0]?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'store-unavailable' })
    expect(operations()[0]?.events.map(({ name, attributes }) => [name, attributes?.['error.type']])).toEqual([
      ['store-error', 'StoreError'],
    ])
  })

  test('that lost its lease to one that is still running', async () => {
    const { idempotency, clock } = setUp({ leaseSeconds: 10 })
    const { promise, resolve } = Promise.withResolvers<void>()
    let second: Promise<unknown> = Promise.resolve()
    const first = idempotency.run(ORDER, async () => {
      clock.advance(11_001)
      second = idempotency.run(ORDER, () => promise)
      await new Promise(setImmediate)
    })
    expect(await codeOf(first)).toBe('LEASE_LOST')
    resolve()
    await second
    expect(outcomes()).toEqual(['lease-lost', 'completed'])
    expect(operations()[0]?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'lease-lost' })
  })
})

test('without a registered SDK nothing is traced and nothing is stored', async () => {
  await spans.stop()
  const { idempotency, record } = setUpEngine({ tracing: openTelemetry(trace.getTracer('none')) })
  expect(await idempotency.run(ORDER, (operation) => operation.step('charge', () => 1))).toMatchObject({ value: 1 })
  expect(record()).not.toHaveProperty('trace')
})

test('what is no tracer is refused', () => {
  expect(() => openTelemetry({} as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  expect(() => setUpEngine({ tracing: spans.tracer as never })).toThrow('tracing must be')
})
