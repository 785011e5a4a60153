import { isLambdaOnceError } from '../base/errors.ts'
import { crashesOf } from '../engine/claim.ts'
import type { Answer } from '../engine/engine.ts'
import { readRedrive, redriveMessage } from '../engine/redrive.ts'
import { patienceMs } from '../record/due.ts'
import { keptExpiry, unfinishedExpiry } from '../record/expiry.ts'
import { hashOfParts } from '../record/identity.ts'
import type { OperationRecord } from '../record/record.ts'
import type { DueItem, RecordChange, StandingCondition } from '../record/store.ts'
import { taskFor } from './decide.ts'
import type { ReconcilerSettings } from './options.ts'

/** What a reconciler did with one item. */
export type Deed =
  /** `recover` finished the operation, for good or with a failure. */
  | 'recovered'
  /** `recover` suspended it, or left it to be resumed. */
  | 'continued'
  /** Its request was sent again. */
  | 'redriven'
  /** A message was sent. */
  | 'sent'
  /** A message was refused by its target. */
  | 'stuck'
  /** Somebody else was at it, or had done it: the index lags. Or a message that waits for one before it. */
  | 'skipped'
  /** It is for somebody who can do more: an operator, or a reconciler with `recover`. */
  | 'beyond'
  /** It went wrong, and is found again later. */
  | 'failed'

/** When an item that could not be done is looked at again, in ms: later than all that can be. */
export const RETRY_MS = 3_600_000
/** How long a redriven request has to arrive before the operation is due again, in ms. */
const ARRIVAL_MS = 900_000
/** How long a reconciler has to send what it has reserved, in ms. */
const RESERVATION_MS = 120_000

/** Works on one record that the index named. It never throws: one must not take the others along. */
export async function reconcile(
  settings: ReconcilerSettings,
  item: DueItem,
  remainingMs: number | undefined,
): Promise<Deed> {
  const { engine } = settings
  try {
    return await finish(settings, item, remainingMs)
  } catch (error) {
    engine.report({ type: 'store-error', during: 'reconcile', error }, item.id)
    return 'failed'
  }
}

async function finish(settings: ReconcilerSettings, { id }: DueItem, remainingMs: number | undefined): Promise<Deed> {
  const { engine, recover, sender } = settings
  const { store, clock, clockSkewMs } = engine.settings
  const record = await store.get(id)
  if (record === undefined) return 'skipped'
  const abilities = { canRecover: recover !== undefined, canRedrive: sender !== undefined }
  const seen: StandingCondition = { kind: 'seen', token: record.token, rev: record.rev }
  const task = taskFor(record, abilities, { nowMs: clock.now(), clockSkewMs })
  if (task === 'recover' && recover !== undefined) {
    let request: unknown
    try {
      request = record.redrive && (await readRedrive(engine.settings, id, record.redrive))
    } catch (error) {
      // It does not come back soon, if at all, and the record would be found first for ever.
      if (isLambdaOnceError(error, 'OUTCOME_LOST') || isLambdaOnceError(error, 'OUTCOME_UNREADABLE'))
        await store.update(id, dueLater(record, clock.now(), RETRY_MS), seen)
      throw error
    }
    return deedOf(await engine.recover(record, (operation) => recover(operation, { record, request }), remainingMs))
  }
  if (task === 'redrive') return redrive(settings, record)
  if (task === 'none') return 'skipped'
  // Out of the way: what cannot be done now must not stand before all others for ever.
  const laterMs = task === 'later' ? (record.leaseUntil ?? clock.now()) - clock.now() + clockSkewMs : RETRY_MS
  await store.update(id, dueLater(record, clock.now(), Math.max(laterMs, RESERVATION_MS)), seen)
  return task === 'beyond' ? 'beyond' : 'skipped'
}

function deedOf(answer: Answer<unknown>): Deed {
  switch (answer.kind) {
    case 'executed':
      return answer.ending.kind === 'recorded' ? 'recovered' : 'failed'
    case 'threw':
      if (isLambdaOnceError(answer.error, 'RETRY_LATER')) return 'continued'
      return answer.ending.kind === 'recorded' && answer.ending.as === 'failed' ? 'recovered' : 'failed'
    case 'suspended':
      return 'continued'
    case 'store-unavailable':
    case 'outcome-lost':
      return 'failed'
    case 'unknown':
      return 'beyond'
    default:
      return 'skipped'
  }
}

/**
 * Sends first, then writes RETRYABLE: after a crash in between the operation is found again. What comes before both
 * is a reservation, so that of two reconcilers only one sends.
 */
async function redrive({ engine, sender }: ReconcilerSettings, record: OperationRecord): Promise<Deed> {
  const { settings } = engine
  const { store, clock } = settings
  const { id, token, rev, redrive: stored } = record
  if (sender === undefined || stored === undefined) return 'beyond'
  const reserved = await store.update(id, dueLater(record, clock.now(), RESERVATION_MS), { kind: 'seen', token, rev })
  if (!reserved.applied) return 'skipped'
  const mine: StandingCondition = { kind: 'seen', token, rev: rev + 1 }
  const message = await redriveMessage(settings, { id, redrive: stored }, hashOfParts([id, token, String(rev)]))
  const { groupId, ...rest } = message
  const [result] = await sender.send([{ ...rest, operationId: id, ...(groupId !== undefined && { groupId }) }])
  if (result?.kind !== 'sent') {
    if (result?.kind === 'failed') engine.report({ type: 'store-error', during: 'redrive', error: result.error }, id)
    if (result?.kind !== 'refused') return 'failed'
    await store.update(id, dueLater(record, clock.now(), RETRY_MS), mine)
    return 'stuck'
  }
  const { takeover } = record
  const crashes = crashesOf(record)
  const nowMs = clock.now()
  const change: RecordChange = {
    ...dueLater(record, nowMs, Math.max(ARRIVAL_MS, patienceMs(record))),
    status: 'RETRYABLE',
    leaseUntil: undefined,
    expiresAt: keptExpiry(
      unfinishedExpiry(settings.unfinishedRetentionSeconds, { takeover, nowMs, leaseUntil: nowMs }),
      record.expiresAt,
    ),
    ...(crashes > 0 && { crashes }),
    resumeAtMs: undefined,
    continuation: undefined,
  }
  // Not applied: the message has arrived already, and the operation runs.
  await store.update(id, change, mine)
  return 'redriven'
}

function dueLater({ status, leaseUntil, expiresAt }: OperationRecord, nowMs: number, laterMs: number): RecordChange {
  return { status, leaseUntil, expiresAt, updatedAtMs: nowMs, dueAtMs: nowMs + laterMs }
}
