import { deepStrictEqual } from 'node:assert/strict'
import type { OperationRecord, StepRecord } from '../record/record.ts'
import type { Condition, RecordChange, Store } from '../record/store.ts'

/** One thing that every store must do. */
export interface ContractCase {
  readonly name: string
  /** Rejects with an assertion error when the store does otherwise. May be given a store that holds other records. */
  readonly check: (store: Store) => Promise<void>
}

export const NOW_MS = 1_700_000_000_500
export const NOW_SECONDS = 1_700_000_000
export const SKEW_MS = 1_000

/** Placeholders of one case: ids nobody else uses, so that cases can share a table. */
export function aRecord(fields: Partial<OperationRecord> = {}): OperationRecord {
  return {
    id: `contract#${crypto.randomUUID()}`,
    status: 'IN_PROGRESS',
    attempt: 1,
    token: 'token-a',
    rev: 1,
    leaseUntil: NOW_MS + 30_000,
    takeover: 'auto',
    expiresAt: NOW_SECONDS + 86_400,
    createdAtMs: NOW_MS - 60_000,
    updatedAtMs: NOW_MS - 60_000,
    fingerprint: 'v1:f',
    steps: {},
    schema: 1,
    ...fields,
  }
}

export const absentAt = (nowMs: number): Condition => ({ kind: 'absent', moment: { nowMs, clockSkewMs: SKEW_MS } })

/** The same condition, of one who has reason to think that there is a record. */
export const likelyTakenAt = (nowMs: number): Condition => ({
  kind: 'absent',
  moment: { nowMs, clockSkewMs: SKEW_MS },
  isLikelyTaken: true,
})

export const aStep: StepRecord = { kind: 'done', value: { kind: 'text', text: '[1]' } }

export const completion: RecordChange = {
  status: 'COMPLETED',
  leaseUntil: undefined,
  expiresAt: NOW_SECONDS + 3_600,
  updatedAtMs: NOW_MS,
  outcome: { kind: 'value', value: { kind: 'text', text: '[1]' } },
}

export async function stored(store: Store, record: OperationRecord): Promise<OperationRecord> {
  deepStrictEqual(await store.put(record, absentAt(NOW_MS)), { applied: true })
  return record
}
