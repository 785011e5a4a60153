import type { Message } from '@aws-sdk/client-sqs'
import type { BatchVerdict } from '../event-source-mapping/batch-response.ts'

/** What was counted so far. */
export interface Counts {
  readonly requests: number
  /** By status. */
  readonly answers: ReadonlyMap<number, number>
  readonly replayedAnswers: number
  readonly connectionFailures: number
  /** Messages handed to the function, counted each time. */
  readonly deliveries: number
  /** How often each message was delivered, by its id. */
  readonly deliveriesByMessage: ReadonlyMap<string, number>
  readonly lostDeletes: number
  readonly failedBatches: number
  readonly failedMessages: number
  readonly kills: number
  /** `namespace/event` of the functions' log lines. */
  readonly events: ReadonlyMap<string, number>
}

/** The job's counters. */
export interface Tally {
  requestSent(): void
  answered(status: number, replayed: boolean): void
  connectionFailed(): void
  batchDone(messages: readonly Message[], verdict: BatchVerdict): void
  deleteLost(): void
  workerKilled(): void
  /** Counts a line a function wrote, when it is one of our structured events. */
  lineWritten(line: string): void
  counts(): Counts
}

/** Makes a tally at zero. */
export function createTally(): Tally {
  const answers = new Map<number, number>()
  const deliveriesByMessage = new Map<string, number>()
  const events = new Map<string, number>()
  const totals = {
    requests: 0,
    replayedAnswers: 0,
    connectionFailures: 0,
    deliveries: 0,
    lostDeletes: 0,
    failedBatches: 0,
    failedMessages: 0,
    kills: 0,
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
    batchDone: (messages: readonly Message[], verdict: BatchVerdict) => {
      totals.deliveries += messages.length
      for (const { MessageId = '' } of messages) addOne(deliveriesByMessage, MessageId)
      if (verdict.kind === 'all-failed') totals.failedBatches += 1
      if (verdict.kind === 'some-failed') totals.failedMessages += verdict.failedMessageIds.size
    },
    deleteLost: () => {
      totals.lostDeletes += 1
    },
    workerKilled: () => {
      totals.kills += 1
    },
    lineWritten: (line: string) => {
      const name = eventName(line)
      if (name !== undefined) addOne(events, name)
    },
    counts: () => ({ ...totals, answers, deliveriesByMessage, events }),
  })
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
