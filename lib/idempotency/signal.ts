import { InvalidOptionError, StoreError } from '../base/errors.ts'
import { refuseUnknown, show } from '../base/guards.ts'
import { continuationOf } from '../engine/continuation.ts'
import { unfinishedLifetime } from '../lease/lease.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { backOff } from '../outcome/persist.ts'
import { storeValue } from '../outcome/stored.ts'
import { dueFrom, recordDueAtMs } from '../record/due.ts'
import { countsAsAbsent, type OperationRecord, type StoredSignal } from '../record/record.ts'
import type { RecordChange, StandingCondition } from '../record/store.ts'
import type { ValueName } from '../record/value-codec.ts'

/** What became of a signal. */
export type SignalResult =
  /** It is stored. A waiting operation is due now; one that runs sees it in its next attempt, before it can wait again. */
  | 'delivered'
  /** A signal with this id has come before. */
  | 'duplicate'
  | 'not-found'
  | 'finished'

/** Options of `signal`. */
export interface SignalOptions {
  /**
   * Tells this signal from a repetition of it: the id of the webhook's event. A signal with the same id is not stored
   * again.
   * @defaultValue a fresh one: every call is a signal of its own
   */
  readonly id?: string
}

/** The most signals one operation keeps: all of them lie in its record. */
const MAX_SIGNALS = 50
/** How often a signal that keeps losing races looks again. */
const MAX_ROUNDS = 8

/** Gives a waiting operation what it waits for, or leaves it there for one that will. */
export async function signal(
  settings: Settings,
  report: Report,
  id: string,
  payload: unknown,
  options: SignalOptions,
): Promise<SignalResult> {
  refuseUnknown('signal', options, ['id'])
  const signalId = options.id === undefined ? settings.newId() : options.id
  if (typeof signalId !== 'string' || signalId === '' || Buffer.byteLength(signalId) > 255) {
    throw new InvalidOptionError(`signal(…, { id }): id must be a text of 1 to 255 bytes; got ${show(signalId)}.`)
  }
  const { store, clock, clockSkewMs } = settings
  let stored: StoredSignal | undefined
  const delivered = ({ attempt }: OperationRecord): SignalResult => {
    report({ type: 'signalled', attempt }, id)
    return 'delivered'
  }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const seen = await store.get(id)
    const nowMs = clock.now()
    if (seen === undefined || countsAsAbsent(seen, { nowMs, clockSkewMs })) return 'not-found'
    if (seen.status === 'COMPLETED' || seen.status === 'FAILED') return 'finished'
    const earlier = seen.signals ?? []
    const same = earlier.find((one) => one.id === signalId)
    // Our own write, whose answer was lost: its repetition found the record changed.
    if (same !== undefined && same.atMs === stored?.atMs) return delivered(seen)
    if (same !== undefined) return 'duplicate'
    if (earlier.length >= MAX_SIGNALS) {
      throw new InvalidOptionError(
        `signal(…): an operation keeps at most ${MAX_SIGNALS} signals; it has ${earlier.length}.`,
      )
    }
    const lifetime = unfinishedLifetime(settings, seen.takeover, undefined)
    const name: ValueName = { operationId: id, purpose: 'signal', name: signalId }
    stored ??= { id: signalId, atMs: nowMs, payload: await storeValue(settings, name, payload, lifetime) }
    if (await deliver(settings, seen, [...earlier, stored])) return delivered(seen)
    await backOff(settings, round)
  }
  throw new StoreError('The signal was not stored: the record changed with every try. Send it again.', {
    retryable: true,
  })
}

/** Writes the signal on exactly the record seen; wakes the operation in the same transaction when it waits. */
async function deliver(settings: Settings, seen: OperationRecord, signals: readonly StoredSignal[]): Promise<boolean> {
  const { store, clock, relay, newId } = settings
  const nowMs = clock.now()
  const { id, status, redrive, takeover, token, rev } = seen
  const condition: StandingCondition = { kind: 'seen', token, rev }
  const isWaiting = status === 'WAITING'
  const sent =
    isWaiting && relay && redrive !== undefined
      ? await continuationOf(settings, { id, redrive }, nowMs, unfinishedLifetime(settings, takeover, undefined))
      : undefined
  const woken = isWaiting && { resumeAtMs: nowMs, continuation: sent?.continuation }
  const change: RecordChange = {
    status,
    leaseUntil: seen.leaseUntil,
    expiresAt: seen.expiresAt,
    updatedAtMs: nowMs,
    signals,
    ...woken,
    ...dueFrom(settings, id, recordDueAtMs({ ...seen, ...woken }, nowMs)),
  }
  if (sent === undefined) return (await store.update(id, change, condition)).applied
  const prepared = await store.prepare(id, [], [sent.item])
  const answer = await prepared.commit(change, condition, newId())
  return answer.kind === 'applied'
}
