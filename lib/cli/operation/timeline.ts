import type { FoundOperation } from './read.ts'

/** Something that is known to have happened, or to be going to. */
export interface TimelineEntry {
  readonly atMs: number
  readonly what: string
}

/**
 * What record, receipts and outbox tell of the past and the future of an operation, in order. DynamoDB keeps the
 * present: how earlier attempts ended is not in it, only that there were some.
 */
export function timelineOf({ record, receipts, messages }: FoundOperation, nowMs: number): readonly TimelineEntry[] {
  const entries: TimelineEntry[] = []
  const add = (atMs: number | undefined, what: string) => {
    if (atMs !== undefined) entries.push({ atMs, what })
  }
  if (record !== undefined) {
    const {
      attempt,
      crashes = 0,
      status,
      steps,
      signals = [],
      leaseUntil,
      resumeAtMs,
      expiresAt,
      continuation,
    } = record
    add(record.createdAtMs, 'claimed for the first time')
    for (const [name, step] of Object.entries(steps)) {
      if (step.kind === 'started') add(step.startedAtMs, `step "${name}" begun for the first time, no end recorded`)
    }
    for (const { atMs, id } of signals) add(atMs, `signal ${id}`)
    const takeovers = attempt > 1 ? `, attempt ${attempt}` : ''
    const crashed = crashes > 0 ? `; ${crashes} attempts before ended without a word` : ''
    add(record.updatedAtMs, `last write: ${status}${takeovers}${crashed}`)
    if (status === 'IN_PROGRESS') add(leaseUntil, 'end of the lease')
    if (status === 'WAITING') add(resumeAtMs, 'due to be continued')
    add(continuation?.dueAtMs, 'the message that continues it is expected')
    add(expiresAt === undefined ? undefined : expiresAt * 1000, 'the record may be deleted')
  }
  for (const { atMs, kind, step, attempt } of receipts) {
    add(atMs, `receipt: ${kind}${step === undefined ? '' : ` of step "${step}"`}, attempt ${attempt}`)
  }
  for (const { found, dispatchedAtMs, stuckAtMs, stuckReason } of messages) {
    if (found.kind === 'unreadable') continue
    const { createdAtMs, messageId, state, notBeforeMs } = found.entry
    add(createdAtMs, `message ${messageId} put into the outbox`)
    add(dispatchedAtMs, `message ${messageId} sent`)
    add(stuckAtMs, `message ${messageId} refused by its target${stuckReason === undefined ? '' : `: ${stuckReason}`}`)
    if (state === 'pending' && notBeforeMs !== undefined && notBeforeMs > nowMs) {
      add(notBeforeMs, `message ${messageId} to be delivered`)
    }
  }
  // Receipts and messages of one commit carry the time of its record: they read better before it.
  return entries.toSorted((a, b) => a.atMs - b.atMs)
}

/** What the timeline cannot say. */
export const TIMELINE_LIMITS =
  'DynamoDB keeps the present, not the past: the times of earlier attempts, takeovers and replays are not in it. Logs and the events of an observer have them, under the operation’s id.'
