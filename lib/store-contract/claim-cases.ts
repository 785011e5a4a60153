import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { countsAsAbsent, type OperationRecord, type Status, type StepRecord } from '../record/record.ts'
import type { Condition, Store } from '../record/store.ts'
import {
  absentAt,
  aRecord,
  aStep,
  type ContractCase,
  likelyTakenAt,
  NOW_MS,
  NOW_SECONDS,
  SKEW_MS,
  stored,
} from './fixtures.ts'

/** Every record whose treatment by a claim differs; the pure rule of the engine says which way. */
function recordsOfEveryKind(): OperationRecord[] {
  const statuses: Status[] = ['IN_PROGRESS', 'COMPLETED', 'FAILED', 'RETRYABLE', 'WAITING', 'UNKNOWN', 'RELEASED']
  const expiries = [undefined, NOW_SECONDS - 1, NOW_SECONDS, NOW_SECONDS + 1]
  const leases = [undefined, NOW_MS - SKEW_MS - 1, NOW_MS - SKEW_MS, NOW_MS + 1]
  const kinds: OperationRecord[] = []
  for (const status of statuses) {
    for (const expiresAt of expiries) {
      for (const leaseUntil of status === 'IN_PROGRESS' ? leases : [undefined]) {
        for (const steps of [{}, { charge: aStep }] as Record<string, StepRecord>[]) {
          const { expiresAt: _e, leaseUntil: _l, ...rest } = aRecord({ status, steps })
          kinds.push({
            ...rest,
            ...(expiresAt !== undefined && { expiresAt }),
            ...(leaseUntil !== undefined && { leaseUntil }),
          })
        }
      }
    }
  }
  return kinds
}

/** Claims over a record of every kind, one after the other. */
async function putsOverTheAbsent(store: Store, condition: Condition): Promise<void> {
  for (const record of recordsOfEveryKind()) {
    await stored(store, record)
    const next = { ...aRecord({ token: 'token-b', createdAtMs: NOW_MS }), id: record.id }
    const answer = await store.put(next, condition)
    const absent = countsAsAbsent(record, { nowMs: NOW_MS, clockSkewMs: SKEW_MS })
    const expected = absent ? { applied: true } : { applied: false, existing: record }
    deepStrictEqual(answer, expected, `a claim over ${JSON.stringify(record)}`)
    deepStrictEqual(await store.get(record.id), absent ? next : record)
  }
}

/** Reading, claiming and replacing. */
export const claimCases: readonly ContractCase[] = [
  {
    name: 'answers undefined for a record that is not there',
    async check(store: Store) {
      strictEqual(await store.get(aRecord().id), undefined)
    },
  },
  {
    name: 'puts a record where there is none, and reads it back as it was',
    async check(store: Store) {
      const record = aRecord({
        steps: { 'charge.card': aStep },
        outcome: { kind: 'value', value: { kind: 'brotli', bytes: new Uint8Array([0, 255, 1]) } },
      })
      await stored(store, record)
      deepStrictEqual(await store.get(record.id), record)
    },
  },
  {
    name: 'refuses to put over a live record, and answers that record',
    async check(store: Store) {
      const record = await stored(store, aRecord())
      const answer = await store.put({ ...record, token: 'token-b' }, absentAt(NOW_MS))
      deepStrictEqual(answer, { applied: false, existing: record })
      deepStrictEqual(await store.get(record.id), record)
    },
  },
  {
    name: 'puts over exactly the records that count as absent, whatever their status, expiry, lease and steps',
    check: (store: Store) => putsOverTheAbsent(store, absentAt(NOW_MS)),
  },
  {
    name: 'refuses to put over a released record that was created later than the writer knows, so that fences stay ordered',
    async check(store: Store) {
      const record = await stored(store, aRecord({ status: 'RELEASED', createdAtMs: NOW_MS + 5 }))
      for (const condition of [absentAt(NOW_MS), likelyTakenAt(NOW_MS)]) {
        const answer = await store.put({ ...record, token: 'token-b' }, condition)
        deepStrictEqual(answer, { applied: false, existing: record })
      }
    },
  },
  {
    name: 'puts a record that is likely to be there already, and is not',
    async check(store: Store) {
      const record = aRecord({ steps: { 'charge.card': aStep } })
      deepStrictEqual(await store.put(record, likelyTakenAt(NOW_MS)), { applied: true })
      deepStrictEqual(await store.get(record.id), record)
    },
  },
  {
    name: 'puts over exactly the records that count as absent, also where one is likely to be there',
    check: (store: Store) => putsOverTheAbsent(store, likelyTakenAt(NOW_MS)),
  },
  {
    name: 'answers a claim that is likely to be refused with the record it has written itself',
    async check(store: Store) {
      const record = await stored(store, aRecord())
      deepStrictEqual(await store.put(record, likelyTakenAt(NOW_MS)), { applied: false, existing: record })
    },
  },
  {
    name: 'replaces exactly the record that was seen',
    async check(store: Store) {
      const record = await stored(store, aRecord({ rev: 4 }))
      const next = { ...record, token: 'token-b', rev: 1 }
      for (const seen of [
        { token: 'token-a', rev: 3 },
        { token: 'token-x', rev: 4 },
      ]) {
        deepStrictEqual(await store.put(next, { kind: 'seen', ...seen }), { applied: false, existing: record })
      }
      deepStrictEqual(await store.put(next, { kind: 'seen', token: 'token-a', rev: 4 }), { applied: true })
      deepStrictEqual(await store.get(record.id), next)
    },
  },
  {
    name: 'lets exactly one of many parallel claims win',
    async check(store: Store) {
      const { id } = aRecord()
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => {
          const condition = n % 2 === 0 ? absentAt(NOW_MS) : likelyTakenAt(NOW_MS)
          return store.put({ ...aRecord({ token: `token-${n}` }), id }, condition)
        }),
      )
      const winners = answers.flatMap((answer, n) => (answer.applied ? [`token-${n}`] : []))
      strictEqual(winners.length, 1)
      strictEqual((await store.get(id))?.token, winners[0])
      for (const answer of answers) ok(answer.applied || answer.existing?.token === winners[0])
    },
  },
]
