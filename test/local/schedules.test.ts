import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { InvocableFunction, InvocationResult } from '../../infra/local/lambda/invocation.ts'
import { scheduledEvent } from '../../infra/local/schedules/scheduled-event.ts'
import { startTicker, type Ticker } from '../../infra/local/schedules/ticker.ts'
import type { LocalSchedule } from '../../infra/local/template/model.ts'

const schedule: LocalSchedule = {
  logicalId: 'Sweep',
  arn: 'arn:aws:events:eu-central-1:000000000000:rule/sweep',
  functionName: 'sweeper',
  everySeconds: 60,
  event: { kind: 'rule' },
}
const run = { id: 'an-id', dueAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678) }

describe('the event of', () => {
  test('an EventBridge rule', () => {
    expect(scheduledEvent(schedule, run)).toEqual({
      version: '0',
      id: 'an-id',
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: '000000000000',
      time: '2026-01-02T03:04:05Z',
      region: 'eu-central-1',
      resources: [schedule.arn],
      detail: {},
    })
  })

  test('EventBridge Scheduler', () => {
    expect(scheduledEvent({ ...schedule, event: { kind: 'scheduler' } }, run)).toMatchObject({
      source: 'aws.scheduler',
      detail: '{}',
    })
  })

  test('the template, with the attributes of the run put in', () => {
    const json =
      '{"at":"<aws.scheduler.scheduled-time>","of":"<aws.scheduler.execution-id>","as":"<aws.scheduler.new>"}'
    expect(scheduledEvent({ ...schedule, event: { kind: 'input', json } }, run)).toEqual({
      at: '2026-01-02T03:04:05Z',
      of: 'an-id',
      as: '<aws.scheduler.new>',
    })
  })
})

describe('a schedule', () => {
  let ticker: Ticker | undefined
  let runs: PromiseWithResolvers<InvocationResult>[]
  const worker = {
    invoke: () => {
      const invocation = Promise.withResolvers<InvocationResult>()
      runs.push(invocation)
      return invocation.promise
    },
  } as unknown as InvocableFunction
  const returned: InvocationResult = { kind: 'returned', requestId: 'r', payload: null }

  beforeEach(() => {
    vi.useFakeTimers()
    runs = []
  })
  afterEach(async () => {
    for (const { resolve } of runs) resolve(returned)
    await ticker?.stop()
    vi.useRealTimers()
  })

  test('runs at the template’s rate, the first time after one period', async () => {
    ticker = startTicker({ schedule, worker })
    await vi.advanceTimersByTimeAsync(59_000)
    expect(runs).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(runs).toHaveLength(1)
    runs[0]?.resolve(returned)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runs).toHaveLength(2)
  })

  test('that is sped up overlaps only where it would as deployed', async () => {
    ticker = startTicker({ schedule, worker, everySeconds: 5 })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runs).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(runs).toHaveLength(2)
    for (const { resolve } of runs) resolve(returned)
    await vi.advanceTimersByTimeAsync(10_000)
    runs.at(-1)?.resolve(returned)
    expect(runs).toHaveLength(3)
  })

  test('tells how each run ended, and goes on after a failed one', async () => {
    const ended: unknown[] = []
    ticker = startTicker({ schedule, worker, onRun: (name, { kind }) => ended.push([name, kind]) })
    await vi.advanceTimersByTimeAsync(60_000)
    runs[0]?.resolve({ kind: 'error', requestId: 'r', errorType: 'Error', errorMessage: 'x' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runs).toHaveLength(2)
    expect(ended).toEqual([['sweeper', 'error']])
  })

  test('that is stopped waits for the run in flight and starts no other', async () => {
    ticker = startTicker({ schedule, worker })
    await vi.advanceTimersByTimeAsync(60_000)
    let stopped = false
    const stopping = ticker.stop().then(() => {
      stopped = true
    })
    await vi.advanceTimersByTimeAsync(120_000)
    expect([runs.length, stopped]).toEqual([1, false])
    runs[0]?.resolve(returned)
    await stopping
    expect(stopped).toBe(true)
  })
})
