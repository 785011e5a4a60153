import { OutcomeUnstorableError } from '../base/errors.ts'
import { continuationOf } from '../engine/continuation.ts'
import { unfinishedLifetime } from '../lease/lease.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { encodeFailure, encodeOutcome } from '../outcome/outcome.ts'
import { isSettleable } from '../record/decide.ts'
import { dueFrom, recordDueAtMs } from '../record/due.ts'
import { expiryAfter, keptExpiry, TOMBSTONE_SECONDS, unfinishedExpiry } from '../record/expiry.ts'
import { countsAsAbsent, type OperationRecord, type StepRecord } from '../record/record.ts'
import type { RecordChange } from '../record/store.ts'

/** What an operator has found out about an operation. */
export type Settlement =
  /** The effect happened; this is the answer to every repetition. */
  | { readonly value: unknown }
  /** It failed for good; every repetition gets this failure. */
  | { readonly error: Error }
  /** Nothing happened that must not happen again: the next delivery runs it. */
  | { readonly rerun: true }

/** What `settle` came to. */
export type SettleResult = 'settled' | 'not-found' | 'finished' | 'in-progress'

/** How often a settlement that keeps losing races looks again. */
const MAX_ROUNDS = 3

/** Ends an operation that nobody may end by machine, on exactly the record that was looked at. */
export async function settle(
  settings: Settings,
  report: Report,
  id: string,
  settlement: Settlement,
): Promise<SettleResult> {
  const { store, clock } = settings
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const seen = await store.get(id)
    const moment = { nowMs: clock.now(), clockSkewMs: settings.clockSkewMs }
    if (seen === undefined || countsAsAbsent(seen, moment)) return 'not-found'
    if (seen.status === 'COMPLETED' || seen.status === 'FAILED') return 'finished'
    if (!isSettleable(seen, moment)) return 'in-progress'
    const change = await changeFor(settings, seen, settlement)
    if (await write(settings, seen, change)) {
      report({ type: 'settled', attempt: seen.attempt }, id)
      return 'settled'
    }
  }
  return 'in-progress'
}

/** Written on exactly the record seen. An operation that is to run again is sent on its way in the same transaction. */
async function write(settings: Settings, seen: OperationRecord, change: RecordChange): Promise<boolean> {
  const { store, clock, relay, newId } = settings
  const { id, redrive, token, rev, takeover } = seen
  const condition = { kind: 'seen', token, rev } as const
  if (change.status !== 'RETRYABLE' || !relay || redrive === undefined) {
    return (await store.update(id, change, condition)).applied
  }
  const lifetime = unfinishedLifetime(settings, takeover, undefined)
  const { item } = await continuationOf(settings, { id, redrive }, clock.now(), lifetime)
  const prepared = await store.prepare(id, [], [item])
  return (await prepared.commit(change, condition, newId())).kind === 'applied'
}

async function changeFor(
  settings: Settings,
  { id, takeover, steps, isAdmission, expiresAt: before }: OperationRecord,
  settlement: Settlement,
): Promise<RecordChange> {
  const nowMs = settings.clock.now()
  // A new token, so that a handler which comes back late does not take the settlement for its own completion.
  const common = {
    token: settings.newId(),
    leaseUntil: undefined,
    updatedAtMs: nowMs,
    unknownStep: undefined,
    canProbe: undefined,
    resumeAtMs: undefined,
    waitingFor: undefined,
    continuation: undefined,
  }
  // An admission key has no work that could run again: it is free.
  if ('rerun' in settlement && isAdmission) {
    return {
      ...common,
      ...dueFrom(settings, id, undefined),
      status: 'RELEASED',
      expiresAt: expiryAfter(nowMs, TOMBSTONE_SECONDS),
    }
  }
  if ('rerun' in settlement) {
    // A start mark would only make the operation unknown again: the operator has just said what became of it.
    const kept = Object.entries(steps).filter(([, step]: [string, StepRecord]) => step.kind !== 'started')
    const own = unfinishedExpiry(settings.unfinishedRetentionSeconds, { takeover, nowMs, leaseUntil: nowMs })
    const expiresAt = keptExpiry(own, before)
    const due = dueFrom(settings, id, recordDueAtMs({ status: 'RETRYABLE', takeover, attempt: 1 }, nowMs))
    return { ...common, ...due, status: 'RETRYABLE', expiresAt, steps: Object.fromEntries(kept), crashes: 0 }
  }
  const of = { operationId: id, purpose: 'outcome' } as const
  const encoded =
    'error' in settlement
      ? await encodeFailure(settings, of, settlement.error)
      : await encodeOutcome(settings, of, { kind: 'value', value: settlement.value })
  const expiresAt = expiryAfter(nowMs, settings.retentionSeconds)
  const outcome = await encoded.persist({ giveUpAtMs: nowMs, expiresAt })
  if ('value' in settlement && outcome.kind === 'failure') throw new OutcomeUnstorableError(outcome.failure.message)
  return {
    ...common,
    ...dueFrom(settings, id, undefined),
    status: outcome.kind === 'value' ? 'COMPLETED' : 'FAILED',
    outcome,
    expiresAt,
  }
}
