import type { CancellationReason } from '@aws-sdk/client-dynamodb'
import type { Tombstone } from '../order/if-newer.ts'
import { judge, plain, type StoredItem } from '../order/judge.ts'
import type { WriteConflict } from '../record/store.ts'
import type { Guarding } from './check.ts'

/** A write that took part in a cancelled transaction. */
export interface Participant {
  /** Its place in the caller's list. */
  readonly index: number
  readonly guarding: Guarding | undefined
  /** The tombstone that an update was meant for. */
  readonly over: Tombstone | undefined
}

/** What a cancelled transaction tells. Nothing of it was written. */
export type Cancellation =
  | { readonly kind: 'refused'; readonly item: StoredItem | undefined }
  | { readonly kind: 'conflict'; readonly conflicts: readonly WriteConflict[] }
  | { readonly kind: 'other-type'; readonly guarding: Guarding; readonly stored: string }
  /** Another transaction may succeed: without the stale writes, and with updates meant for what is there now. */
  | {
      readonly kind: 'again'
      readonly stale: readonly number[]
      readonly over: ReadonlyMap<number, Tombstone | undefined>
    }
  | { readonly kind: 'passing'; readonly codes: readonly string[] }
  /** `index` is absent when it is the record or an item beside it. */
  | { readonly kind: 'invalid'; readonly index: number | undefined; readonly message: string }
  | { readonly kind: 'failed'; readonly codes: readonly string[] }

const CONDITION = 'ConditionalCheckFailed'
/** They say nothing about the items, so the same transaction may succeed later. */
const PASSING: readonly string[] = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']

/**
 * Reads the reasons of a cancellation, of which there is one for each member: the record first, then the writes, then
 * what lies beside the record. The order of the questions is part of the protocol.
 *
 * 1. The record's own condition. It failed: our lease is lost, or this very commit was written before. The writes'
 *    conditions then say nothing, since they may have met what the commit itself has written.
 * 2. The record was in a conflict or throttled: whether it is still ours nobody knows, so for the same reason nothing
 *    can be concluded from the writes. Try again.
 * 3. A condition of a write that failed is real and final, even where another item was in a conflict: no repetition of
 *    the same transaction can succeed before that item changes, and the caller should hear of it now.
 * 4. Only then what may pass, and what never will.
 */
export function readCancellation(
  reasons: readonly CancellationReason[],
  participants: readonly Participant[],
): Cancellation {
  const codes = [...new Set(reasons.map(codeOf))].filter((code) => code !== 'None')
  const [own] = reasons
  if (codeOf(own) === CONDITION) return { kind: 'refused', item: own?.Item }
  if (PASSING.includes(codeOf(own))) return { kind: 'passing', codes }

  const conflicts: WriteConflict[] = []
  const stale: number[] = []
  const over = new Map<number, Tombstone | undefined>()
  for (const [position, participant] of participants.entries()) {
    const reason = reasons[position + 1]
    if (codeOf(reason) !== CONDITION) continue
    const { index, guarding } = participant
    const item = reason?.Item
    const conflict = { index, ...(item && { item: plain(item) }) }
    const finding = guarding ? judge(item, guarding.guard, failedWrite(guarding, participant.over)) : undefined
    switch (finding?.kind) {
      case undefined:
      case 'condition-failed':
        conflicts.push({ ...conflict, isStale: false })
        break
      case 'stale':
        if (guarding?.onStale === 'fail') conflicts.push({ ...conflict, isStale: true })
        else stale.push(index)
        break
      case 'other-type':
        if (guarding) return { kind: 'other-type', guarding, stored: finding.stored }
        break
      case 'over-tombstone':
        over.set(index, finding.tombstone)
        break
      case 'over-live':
        over.set(index, undefined)
    }
  }
  if (conflicts.length > 0) return { kind: 'conflict', conflicts }

  const invalid = reasons.findIndex((reason) => codeOf(reason) === 'ValidationError')
  if (invalid >= 0) {
    const message = reasons[invalid]?.Message ?? 'it is not valid'
    return { kind: 'invalid', index: participants[invalid - 1]?.index, message }
  }
  if (stale.length > 0 || over.size > 0) return { kind: 'again', stale, over }
  const isPassing = codes.every((code) => PASSING.includes(code))
  return { kind: isPassing ? 'passing' : 'failed', codes }
}

function failedWrite({ write }: Guarding, over: Tombstone | undefined) {
  return { updateKey: 'Update' in write ? Object.keys(write.Update.Key ?? {}) : undefined, over }
}

function codeOf(reason: CancellationReason | undefined): string {
  return reason?.Code ?? 'None'
}
