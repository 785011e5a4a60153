import { randomUUID } from 'node:crypto'
import type { InvocableFunction, InvocationResult } from '../lambda/invocation.ts'
import type { LocalSchedule } from '../template/model.ts'
import { scheduledEvent } from './scheduled-event.ts'

/** Options of {@link startTicker}. */
export interface TickerOptions {
  readonly schedule: LocalSchedule
  readonly worker: InvocableFunction
  /** Instead of the schedule's own rate. */
  readonly everySeconds?: number | undefined
  /** Hears of every run and how it ended. */
  readonly onRun?: (functionName: string, result: InvocationResult) => void
}

/** A running schedule. */
export interface Ticker {
  /** Starts no new run and resolves when those in flight are done. */
  stop(): Promise<void>
}

/**
 * Invokes a function at a fixed rate, the first time after one period.
 * Where the rate is faster than the template's, runs still never overlap that would not as deployed: a tick is left out
 * while a run is in flight that is younger than the template's own period.
 */
export function startTicker(options: TickerOptions): Ticker {
  const { schedule, worker } = options
  const everyMs = (options.everySeconds ?? schedule.everySeconds) * 1000
  const inFlight = new Map<Promise<void>, number>()

  const run = async (dueAtMs: number): Promise<void> => {
    const result = await worker.invoke(scheduledEvent(schedule, { id: randomUUID(), dueAtMs }))
    options.onRun?.(schedule.functionName, result)
  }

  const tick = (): void => {
    const nowMs = Date.now()
    const isTooSoon = [...inFlight.values()].some((startedAtMs) => nowMs - startedAtMs < schedule.everySeconds * 1000)
    if (isTooSoon) return
    const running = run(nowMs)
    inFlight.set(running, nowMs)
    // A function's failure is a result. What rejects is the runner's own: it stays, and stop() reports it.
    running.then(
      () => inFlight.delete(running),
      () => undefined,
    )
  }

  const timer = setInterval(tick, everyMs)
  return Object.freeze({
    stop: async () => {
      clearInterval(timer)
      await Promise.all(inFlight.keys())
    },
  })
}
