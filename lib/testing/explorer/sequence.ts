import type { Context } from 'aws-lambda'
import type { InvalidOptionError } from '../../base/errors.ts'
import { memoryStore } from '../../memory/memory-store.ts'
import type { OperationRecord } from '../../record/record.ts'
import { fakeClock } from '../fake-clock.ts'
import { isTooOften, judge } from '../findings/judge.ts'
import { type Counts, countsOf, type EffectCall, openLedger } from '../world/ledger.ts'
import { createSandbox, type Outside, type Sandbox } from '../world/sandbox.ts'
import type { World } from '../world/world.ts'
import { deliveriesOf } from './deliveries.ts'
import { UnverifiableError } from './errors.ts'
import { type InvocationResult, invoke } from './invocation.ts'
import type { VerifySettings } from './options.ts'
import type { Fault, Point, Schedule } from './schedules.ts'

/** A handler under test. A method, so that Middy's handlers, which ask for more in the context, are taken too. */
export type HandlerUnderTest<E> = { handle(event: E, context: Context): unknown }['handle']

/**
 * Makes the handler, as each process does when it starts. `H` is the handler's own type: with a type parameter to infer,
 * TypeScript leaves the types inside of a Middy chain alone.
 */
export type Build<E, H = unknown> = (world: World) => (H & HandlerUnderTest<E>) | PromiseLike<H & HandlerUnderTest<E>>

/** A point that was come to, and what went wrong there. */
export type PointMet = Point & { readonly fault: Fault | undefined }

/** Everything that happened in one sequence of deliveries. */
export interface Run {
  readonly schedule: Schedule
  readonly trace: readonly PointMet[]
  readonly calls: readonly EffectCall[]
  /** What had happened when nothing was left to be done for the first time. */
  readonly intended: Counts
  /** How many operations there were by then. */
  readonly intendedOperations: number
  /** What has happened in the end. */
  readonly counts: Counts
  /** How each delivery ended, in the order in which they began. */
  readonly results: readonly InvocationResult[]
  /** Whether the last deliveries changed nothing any more. */
  readonly isAtRest: boolean
  readonly records: readonly OperationRecord[]
  /** An effect that was called wrongly. */
  readonly misuse: InvalidOptionError | undefined
}

/** What comes to an end, is at rest long before. */
const MOST_DELIVERIES = 20
/** How long after the end of a lease the next delivery comes: more than clocks may differ, in ms. */
const AFTER_LEASE_MS = 60_000
/** Between two deliveries, in ms. */
const PAUSE_MS = 1_000

/**
 * Delivers the event, with faults at chosen points, and then again until nothing changes any more, or until an effect has
 * happened too often.
 *
 * @param undisturbed - what happens in one undisturbed delivery, where that is known
 */
export async function runSequence<E>(
  build: Build<E>,
  event: E,
  schedule: Schedule,
  settings: VerifySettings,
  undisturbed?: Counts,
): Promise<Run> {
  const memory = memoryStore()
  const clock = fakeClock()
  const ledger = openLedger()
  const trace: PointMet[] = []
  const results: InvocationResult[] = []
  const idle: Sandbox[] = []
  const deliveries = deliveriesOf(event, clock.now, settings.asyncInvocation)
  let misuse: InvalidOptionError | undefined
  let ids = 0
  let begun = 0

  const outside: Outside = {
    store: memory,
    clock,
    ledger,
    newId: () => `id-${++ids}`,
    arrive(kind, what, delivery) {
      const fault = schedule.get(trace.length)
      trace.push({ index: trace.length, delivery, kind, what, fault })
      return fault
    },
    overlap: async () => void (await deliver('all')),
    misused(error) {
      misuse ??= error
    },
  }
  const handlers = new Map<Sandbox, HandlerUnderTest<E>>()

  async function start(): Promise<Sandbox> {
    const sandbox = createSandbox(outside)
    try {
      const handler = await build(sandbox.world)
      if (typeof handler !== 'function') throw new TypeError('it gave no function')
      handlers.set(sandbox, handler)
    } catch (error) {
      throw new UnverifiableError(
        `The handler could not be built: ${error instanceof Error ? error.message : error}.`,
        {
          cause: error,
        },
      )
    }
    return sandbox
  }

  async function deliver(what: 'all' | 'left'): Promise<InvocationResult> {
    const delivery = ++begun
    const sandbox = idle.pop() ?? (await start())
    const brought = deliveries.next(what)
    const handler = handlers.get(sandbox)
    const { timeoutSeconds, patienceMs, asyncInvocation } = settings
    const result = await invoke(sandbox, (context) => handler?.(brought, context), {
      clock,
      delivery,
      timeoutSeconds,
      patienceMs,
      awsRequestId: `request-${asyncInvocation ? 1 : delivery}`,
    })
    if (sandbox.death === undefined) idle.push(sandbox)
    deliveries.ended(brought, result)
    results[delivery - 1] = result
    return result
  }

  /** All that a delivery can change for good. */
  const state = () =>
    JSON.stringify([
      memory.records().map(({ id, token, rev, status }) => [id, token, rev, status]),
      ledger.calls.filter(({ isCounted }) => isCounted).length,
    ])

  const faults = () => trace.filter(({ fault }) => fault !== undefined).length

  let intended: Pick<Run, 'intended' | 'intendedOperations'> | undefined
  let isAtRest = false
  let wasQuiet = false
  while (!isAtRest && begun < MOST_DELIVERIES) {
    const before = state()
    const faultsBefore = faults()
    const what = deliveries.isLeft && !wasQuiet ? 'left' : 'all'
    const result = await deliver(what)
    if (misuse !== undefined || (result.kind === 'died' && (result.of === 'stuck' || result.of === 'endless'))) break
    const records = memory.records()
    if (!records.some(isUnfinished)) {
      intended ??= { intended: countsOf(ledger.calls), intendedOperations: records.length }
    }
    const finding = judge(undisturbed ?? intended?.intended, countsOf(ledger.calls), settings.expectations)
    if (finding !== undefined && isTooOften(finding)) break
    clock.advance(nextDeliveryMs(records, clock.now()) - clock.now())
    // A delivery that was disturbed says nothing of what an undisturbed one would still change.
    wasQuiet = state() === before && faults() === faultsBefore
    isAtRest = wasQuiet && what === 'all' && begun >= settings.deliveries
  }

  const counts = countsOf(ledger.calls)
  return {
    schedule,
    trace,
    calls: ledger.calls,
    ...(intended ?? { intended: counts, intendedOperations: memory.records().length }),
    counts,
    results,
    isAtRest,
    records: memory.records(),
    misuse,
  }
}

/** Whether a further delivery goes on with it. */
function isUnfinished({ status, takeover, resumeAtMs }: OperationRecord): boolean {
  if (status === 'IN_PROGRESS') return takeover === 'auto'
  return status === 'RETRYABLE' || status === 'RELEASED' || (status === 'WAITING' && resumeAtMs !== undefined)
}

/** When the next delivery comes: past every lease that has to end first, and when what waits is due. */
function nextDeliveryMs(records: readonly OperationRecord[], nowMs: number): number {
  const waitedFor = records.filter(isUnfinished).map(({ status, leaseUntil = 0, resumeAtMs = 0 }) => {
    return status === 'IN_PROGRESS' ? leaseUntil + AFTER_LEASE_MS : resumeAtMs
  })
  return Math.max(nowMs, ...waitedFor) + PAUSE_MS
}
