import type { BatchReport } from '../event-source-mapping/batch-response.ts'
import type { InvocationResult } from '../lambda/invocation.ts'
import type { PartName } from '../parts.ts'

/** What a queue or stream delivered. */
export interface SourceCounts {
  /** How often each message or record was handed to the function, by its id. */
  readonly deliveriesById: ReadonlyMap<string, number>
  /** All of them together. */
  readonly deliveries: number
  readonly lostDeletes: number
  readonly failedBatches: number
  readonly failedItems: number
}

/** What was counted so far. */
export interface Counts {
  readonly requests: number
  /** By status. */
  readonly answers: ReadonlyMap<number, number>
  readonly replayedAnswers: number
  readonly connectionFailures: number
  /** What was delivered, by the name of the queue or table. */
  readonly sources: ReadonlyMap<string, SourceCounts>
  /** Runs of schedules, by function name. */
  readonly scheduledRuns: ReadonlyMap<string, { readonly runs: number; readonly failures: number }>
  /** By part. */
  readonly kills: ReadonlyMap<PartName, number>
  /** `namespace/event` of the functions' log lines. */
  readonly events: ReadonlyMap<string, number>
}

/** The job's counters. */
export interface Tally {
  requestSent(): void
  answered(status: number, replayed: boolean): void
  connectionFailed(): void
  batchDone(batch: BatchReport): void
  deleteLost(source: string): void
  scheduledRunDone(functionName: string, result: InvocationResult): void
  killed(part: PartName): void
  /** Counts a line a function wrote, when it is one of our structured events. */
  lineWritten(line: string): void
  counts(): Counts
}

interface SourceCounter {
  readonly deliveriesById: Map<string, number>
  deliveries: number
  lostDeletes: number
  failedBatches: number
  failedItems: number
}

/** Makes a tally at zero. */
export function createTally(): Tally {
  const totals = { requests: 0, replayedAnswers: 0, connectionFailures: 0 }
  const answers = new Map<number, number>()
  const sources = new Map<string, SourceCounter>()
  const scheduledRuns = new Map<string, { runs: number; failures: number }>()
  const kills = new Map<PartName, number>()
  const events = new Map<string, number>()
  const sourceOf = (name: string): SourceCounter => {
    const counter = sources.get(name) ?? {
      deliveriesById: new Map(),
      deliveries: 0,
      lostDeletes: 0,
      failedBatches: 0,
      failedItems: 0,
    }
    sources.set(name, counter)
    return counter
  }
  return Object.freeze({
    requestSent: () => {
      totals.requests += 1
    },
    answered: (status: number, replayed: boolean) => {
      addOne(answers, status)
      if (replayed) totals.replayedAnswers += 1
    },
    connectionFailed: () => {
      totals.connectionFailures += 1
    },
    batchDone: ({ source, ids, verdict }: BatchReport) => {
      const counter = sourceOf(source)
      for (const id of ids) addOne(counter.deliveriesById, id)
      counter.deliveries += ids.length
      if (verdict.kind === 'all-failed') counter.failedBatches += 1
      if (verdict.kind === 'some-failed') counter.failedItems += verdict.failedIds.size
    },
    deleteLost: (source: string) => {
      sourceOf(source).lostDeletes += 1
    },
    scheduledRunDone: (functionName: string, { kind }: InvocationResult) => {
      const { runs, failures } = scheduledRuns.get(functionName) ?? { runs: 0, failures: 0 }
      scheduledRuns.set(functionName, { runs: runs + 1, failures: failures + (kind === 'returned' ? 0 : 1) })
    },
    killed: (part: PartName) => addOne(kills, part),
    lineWritten: (line: string) => {
      const name = eventName(line)
      if (name !== undefined) addOne(events, name)
    },
    counts: () => ({ ...totals, answers, sources, scheduledRuns, kills, events }),
  })
}

/** The sum over all sources, parts or whatever is counted by name. */
export function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0)
}

function eventName(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const { event, namespace } = JSON.parse(line) as { event?: unknown; namespace?: unknown }
    return typeof event === 'string' && typeof namespace === 'string' ? `${namespace}/${event}` : undefined
  } catch {
    // A line that merely looks like JSON is somebody's log message.
    return undefined
  }
}

function addOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
