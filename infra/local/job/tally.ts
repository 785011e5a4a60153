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
  /** `namespace/event` of the functions' log lines; the event alone where it belongs to no family of operations. */
  readonly events: ReadonlyMap<string, number>
  /** Writes of commits that were left out because their item was newer, by namespace. */
  readonly staleWrites: ReadonlyMap<string, number>
  /** What the reconciler did, by its own words. */
  readonly deeds: ReadonlyMap<string, number>
  /** Messages of the outbox that came to a queue more than once. */
  readonly sentTwice: number
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
  /** A message of the outbox has come, under the queue's id for it. */
  outboxMessageCame(outboxId: string, messageId: string): void
  /** Counts a line a function wrote, when it is one of our structured events. */
  lineWritten(line: string): void
  counts(): Counts
}

/** What a reconciler says it did with an item, when it did something. */
const DEEDS = ['recovered', 'continued', 'redriven', 'sent', 'stuck', 'beyond', 'failed'] as const

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
  const staleWrites = new Map<string, number>()
  const deeds = new Map<string, number>()
  const messageIds = new Map<string, Set<string>>()
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
    outboxMessageCame: (outboxId: string, messageId: string) => {
      messageIds.set(outboxId, (messageIds.get(outboxId) ?? new Set()).add(messageId))
    },
    lineWritten: (line: string) => {
      const told = readEvent(line)
      if (told === undefined) return
      const { event, namespace, skippedWrites, ...rest } = told
      if (event === 'reconciled') {
        for (const deed of DEEDS) add(deeds, deed, Number(rest[deed] ?? 0))
        return
      }
      addOne(events, typeof namespace === 'string' ? `${namespace}/${event}` : event)
      if (Array.isArray(skippedWrites)) add(staleWrites, String(namespace), skippedWrites.length)
    },
    counts: () => ({
      ...totals,
      answers,
      sources,
      scheduledRuns,
      kills,
      events,
      staleWrites,
      deeds,
      sentTwice: sum([...messageIds.values()].map(({ size }) => size - 1)),
    }),
  })
}

/** The sum over all sources, parts or whatever is counted by name. */
export function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0)
}

/** A line that is one of our structured events. */
export function readEvent(line: string): ({ readonly event: string } & Readonly<Record<string, unknown>>) | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const told = JSON.parse(line) as Readonly<Record<string, unknown>>
    const { event } = told
    return typeof event === 'string' ? { ...told, event } : undefined
  } catch {
    // A line that merely looks like JSON is somebody's log message.
    return undefined
  }
}

function addOne<Key>(counts: Map<Key, number>, key: Key): void {
  add(counts, key, 1)
}

function add<Key>(counts: Map<Key, number>, key: Key, number: number): void {
  if (number > 0) counts.set(key, (counts.get(key) ?? 0) + number)
}
