import { afterEach, describe, expect, test, vi } from 'vitest'
import { type OperationEvent, RetryLater } from '../../lib/index.ts'
import { EVENT_TYPES, emfMetrics } from '../../lib/observability/index.ts'
import { codeOf, ORDER, setUp } from '../core/harness.ts'
import { type EmfDocument, readEmf } from './emf-format.ts'

afterEach(() => vi.restoreAllMocks())

const NAMED = { namespace: 'payments', operationId: 'payments#abc', atMs: 1_700_000_000_000 }

/** Every event, with everything it can tell. */
const EVENTS: readonly OperationEvent[] = EVENT_TYPES.map((type) => {
  const error = Object.assign(new Error('card 4111'), { code: 'ECONNRESET' })
  const details = {
    attempt: 2,
    durationMs: 12,
    status: 'FAILED',
    why: 'poison',
    hook: 'onError',
    during: 'claim',
    error,
  }
  return { ...NAMED, type, ...details } as unknown as OperationEvent
})

function linesOf(events: readonly OperationEvent[], options: Parameters<typeof emfMetrics>[0] = {}): EmfDocument[] {
  const lines: string[] = []
  const observer = emfMetrics({ ...options, write: (line) => lines.push(line) })
  for (const event of events) observer(event)
  return lines.map(readEmf)
}

describe('a line of the embedded metric format', () => {
  test.each(EVENTS)('is what CloudWatch reads: $type', (event) => {
    const [line] = linesOf([event])
    expect(line?._aws.CloudWatchMetrics).toEqual([
      {
        Namespace: 'lambda-once',
        Dimensions: [['namespace']],
        Metrics: [
          { Name: event.type, Unit: 'Count' },
          { Name: 'duration', Unit: 'Milliseconds' },
        ],
      },
    ])
    expect(line).toMatchObject({ namespace: 'payments', [event.type]: 1, duration: 12, operationId: 'payments#abc' })
  })

  test('is written for each event of a run, and times how an attempt ended', async () => {
    const lines: string[] = []
    const { idempotency, clock } = setUp({ observer: emfMetrics({ write: (line) => lines.push(line) }) })
    await idempotency.run(ORDER, () => clock.advance(250))
    await idempotency.run(ORDER, () => 'again')
    const read = lines.map(readEmf)
    expect(read.map((line) => line._aws.CloudWatchMetrics[0]?.Metrics.map(({ Name }) => Name))).toEqual([
      ['claimed'],
      ['completed', 'duration'],
      ['replayed'],
    ])
    expect(read[1]?.duration).toBe(250)
    expect(new Set(read.map(({ operationId }) => operationId)).size).toBe(1)
  })

  test('has no duration when a clock was set back', () => {
    const [line] = linesOf([{ ...NAMED, type: 'completed', attempt: 1, durationMs: -5 }])
    expect(line).not.toHaveProperty('duration')
  })

  test('tells of an error its name and code, and never its message', () => {
    const error = Object.assign(new TypeError('customer ann@example.com'), { code: 'ECONNRESET' })
    const [line] = linesOf([{ ...NAMED, type: 'store-error', during: 'claim', error }])
    expect(line).toMatchObject({ errorName: 'TypeError', errorCode: 'ECONNRESET', during: 'claim' })
    expect(JSON.stringify(line)).not.toContain('ann@')
  })

  test.each([
    ['a text for an error', 'card 4111'],
    ['a name that is a sentence', Object.assign(new Error('x'), { name: 'No such card: 4111' })],
    ['a code that is a sentence', Object.assign(new Error('x'), { code: 'card 4111' })],
    ['a code that is a number', { name: 42, code: 4111 }],
    ['nothing', undefined],
  ])('leaves out what may be somebody’s data: %s', (_what, error) => {
    expect(JSON.stringify(linesOf([{ ...NAMED, type: 'store-error', during: 'claim', error }]))).not.toContain('4111')
  })
})

describe('options', () => {
  test('dimensions come beside the namespace, which stays there alone for the dashboard', () => {
    const [line] = linesOf(EVENTS.slice(0, 1), { dimensions: { service: 'checkout' }, metricNamespace: 'Shop' })
    expect(line?._aws.CloudWatchMetrics[0]).toMatchObject({
      Namespace: 'Shop',
      Dimensions: [['namespace'], ['namespace', 'service']],
    })
    expect(line?.service).toBe('checkout')
  })

  test('only the events that are asked for are counted', () => {
    expect(linesOf(EVENTS, { events: ['lease-lost', 'unknown'] })).toHaveLength(2)
    expect(linesOf(EVENTS, { events: [] })).toEqual([])
  })

  test('without write lines go to stdout as they are', () => {
    const written = vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
    emfMetrics()(EVENTS[0] as OperationEvent)
    const [text] = written.mock.calls[0] ?? []
    expect(String(text).endsWith('}\n')).toBe(true)
    expect(readEmf(String(text).trimEnd())).toHaveProperty('claimed', 1)
  })

  test.each([
    ['an unknown option', { dimension: {} }, 'dimension'],
    ['a namespace of AWS', { metricNamespace: 'AWS/Lambda' }, 'metricNamespace'],
    ['a blank namespace', { metricNamespace: ' ' }, 'metricNamespace'],
    ['a namespace with a colon first', { metricNamespace: ':a' }, 'metricNamespace'],
    ['dimensions in a list', { dimensions: ['service'] }, 'dimensions'],
    ['a dimension without a value', { dimensions: { service: '' } }, 'service'],
    ['a dimension that is no text', { dimensions: { service: 1 } }, 'service'],
    ['a dimension that is no ASCII', { dimensions: { service: 'münchen' } }, 'service'],
    ['a dimension named like a metric', { dimensions: { claimed: 'x' } }, 'claimed'],
    ['a dimension named like a property', { dimensions: { operationId: 'x' } }, 'operationId'],
    [
      'thirty dimensions',
      { dimensions: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`d${n}`, 'x'])) },
      '30',
    ],
    ['an event there is not', { events: ['lost'] }, '"lost"'],
    ['events that are no list', { events: 'claimed' }, 'events'],
    ['write that is no function', { write: 'stdout' }, 'write'],
  ])('refuses %s', (_what, options, named) => {
    expect(() => emfMetrics(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(() => emfMetrics(options as never)).toThrow(named)
  })
})

describe('durations and beginnings', () => {
  test('what took over after a crash is told from what was continued on purpose', async () => {
    const { idempotency, clock, types } = setUp({ leaseSeconds: 10 })
    expect(await codeOf(idempotency.run(ORDER, () => Promise.reject(new RetryLater('busy'))))).toBe('RETRY_LATER')
    await idempotency.run(ORDER, async () => {
      clock.advance(11_001)
      return idempotency.run(ORDER, () => 'done')
    })
    expect(types()).toEqual(['claimed', 'resumable', 'resumed', 'taken-over', 'completed', 'lease-lost'])
  })

  test('a commit is timed from the claim too', async () => {
    const seen: OperationEvent[] = []
    const { idempotency, clock } = setUp({ observer: (event) => seen.push(event) })
    await idempotency.run(ORDER, async (operation) => {
      clock.advance(40)
      return operation.commit('done')
    })
    expect(seen.at(-1)).toMatchObject({ type: 'completed', durationMs: 40 })
  })
})
