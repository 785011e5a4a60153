import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { systemClock } from '../base/clock.ts'
import { countsAsAbsent, type OperationRecord, type Status } from '../record/record.ts'
import type { Condition, RecordChange, Store } from '../record/store.ts'
import {
  absentAt,
  aRecord,
  aStep,
  type ContractCase,
  completion,
  likelyTakenAt,
  NOW_MS,
  NOW_SECONDS,
  SKEW_MS,
  stored,
} from './fixtures.ts'

const applied = { applied: true } as const
const MANY = 60

function grouped(store: Store): Store {
  const pacing = { clock: systemClock, random: Math.random, giveUpAtMs: Number.POSITIVE_INFINITY }
  const group = store.grouped?.(pacing)
  ok(group, 'the store has no grouped()')
  return group
}

const many = (fields: Partial<OperationRecord> = {}) => Array.from({ length: MANY }, () => aRecord(fields))
const seen = { kind: 'seen', token: 'token-a', rev: 1 } as const

/** Claims records of every kind that a claim may meet, and one that is not there. */
async function putsOverTheAbsent(store: Store, condition: Condition): Promise<void> {
  const statuses: Status[] = ['IN_PROGRESS', 'COMPLETED', 'FAILED', 'RETRYABLE', 'WAITING', 'UNKNOWN', 'RELEASED']
  const kinds = statuses.flatMap((status) =>
    [NOW_SECONDS - 1, NOW_SECONDS + 1].flatMap((expiresAt) =>
      [NOW_MS - SKEW_MS - 1, NOW_MS + 1].map((leaseUntil) => aRecord({ status, expiresAt, leaseUntil })),
    ),
  )
  for (const record of kinds) await stored(store, record)
  const group = grouped(store)
  const next = kinds.map(({ id }) => ({ ...aRecord({ token: 'token-b', createdAtMs: NOW_MS }), id }))
  const fresh = aRecord()
  const answers = await Promise.all([...next, fresh].map((record) => group.put(record, condition)))
  deepStrictEqual(answers.pop(), applied)
  deepStrictEqual(await store.get(fresh.id), fresh)
  for (const [index, record] of kinds.entries()) {
    const absent = countsAsAbsent(record, { nowMs: NOW_MS, clockSkewMs: SKEW_MS })
    deepStrictEqual(answers[index], absent ? applied : { applied: false, existing: record })
    deepStrictEqual(await store.get(record.id), absent ? next[index] : record)
  }
}

/** What a store that sends writes together must do: each has the answer that it would have had alone. */
export const groupCases: readonly ContractCase[] = [
  {
    name: 'puts many records that are due together, and leaves of each what a put of it alone leaves',
    async check(store: Store) {
      const group = grouped(store)
      const bytes = new Uint8Array([0, 255, 1])
      const records = many({
        steps: { 'charge.card': aStep },
        redrive: { target: { queueUrl: 'https://queue' }, payload: { kind: 'brotli', bytes } },
        trace: '00-it\'s "quoted"',
      })
      const answers = await Promise.all(records.map((record) => group.put(record, absentAt(NOW_MS))))
      for (const [index, record] of records.entries()) {
        deepStrictEqual(answers[index], applied)
        deepStrictEqual(await store.get(record.id), record)
      }
    },
  },
  {
    name: 'puts over exactly those among many that count as absent, and answers the others',
    check: (store: Store) => putsOverTheAbsent(store, absentAt(NOW_MS)),
  },
  {
    name: 'puts over exactly those among many that count as absent, also where all are likely to be there',
    check: (store: Store) => putsOverTheAbsent(store, likelyTakenAt(NOW_MS)),
  },
  {
    name: 'answers those among many claims that are likely to be refused with the records they have written themselves',
    async check(store: Store) {
      const group = grouped(store)
      const records = many()
      const own = records.filter((_, index) => index % 4 === 0)
      for (const record of own) await stored(store, record)
      const answers = await Promise.all(records.map((record) => group.put(record, likelyTakenAt(NOW_MS))))
      for (const [index, record] of records.entries()) {
        deepStrictEqual(answers[index], own.includes(record) ? { applied: false, existing: record } : applied)
        deepStrictEqual(await store.get(record.id), record)
      }
    },
  },
  {
    name: 'lets one of three claims of a record win that are made at the same time, of which two are likely to be refused',
    async check(store: Store) {
      const group = grouped(store)
      const first = aRecord()
      const claims = ['token-a', 'token-b', 'token-c'].map((token) => ({ ...first, token }))
      const [plain, ...others] = claims.map((claim, index) =>
        group.put(claim, index === 0 ? absentAt(NOW_MS) : likelyTakenAt(NOW_MS)),
      )
      const neighbours = many().map((record) => group.put(record, likelyTakenAt(NOW_MS)))
      const answers = await Promise.all([plain, ...others])
      const winner = claims.find((_, index) => answers[index]?.applied)
      deepStrictEqual(await store.get(first.id), winner)
      const lost = answers.filter((answer) => !answer?.applied)
      deepStrictEqual(lost, [
        { applied: false, existing: winner },
        { applied: false, existing: winner },
      ])
      ok((await Promise.all(neighbours)).every((answer) => answer.applied))
    },
  },
  {
    name: 'lets one of two claims of a record win that are made at the same time, among others',
    async check(store: Store) {
      const group = grouped(store)
      const first = aRecord()
      const second = { ...first, token: 'token-b' }
      const answers = await Promise.all([first, second, ...many()].map((record) => group.put(record, absentAt(NOW_MS))))
      const [one, other, ...others] = answers
      deepStrictEqual([one?.applied, other?.applied].sort(), [false, true])
      const winner = one?.applied ? first : second
      deepStrictEqual(await store.get(first.id), winner)
      deepStrictEqual(one?.applied ? other : one, { applied: false, existing: winner })
      ok(others.every((answer) => answer.applied))
    },
  },
  {
    name: 'lets one of many who claim the same records together win each',
    async check(store: Store) {
      const records = many().slice(0, 10)
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, n) => {
          const group = grouped(store)
          return Promise.all(records.map((record) => group.put({ ...record, token: `token-${n}` }, absentAt(NOW_MS))))
        }),
      )
      for (const [index, { id }] of records.entries()) {
        const winners = claims.flatMap((answers, n) => (answers[index]?.applied ? [`token-${n}`] : []))
        strictEqual(winners.length, 1)
        strictEqual((await store.get(id))?.token, winners[0])
      }
    },
  },
  {
    name: 'ends many records that are due together, and leaves of each what an update of it alone leaves',
    async check(store: Store) {
      const alone = await stored(store, aRecord({ isReconciled: true, dueShard: 'n#0', dueAtMs: 5 }))
      const { id: _id, ...like } = alone
      const ends: Record<string, RecordChange> = {
        COMPLETED: { ...completion, isReconciled: undefined, dueShard: undefined, dueAtMs: undefined },
        FAILED: { ...completion, status: 'FAILED', dueShard: 'n#1', dueAtMs: 6, crashes: 2 },
        RETRYABLE: { ...completion, status: 'RETRYABLE' },
        RELEASED: { ...completion, status: 'RELEASED', expiresAt: NOW_SECONDS },
        UNKNOWN: { ...completion, status: 'UNKNOWN', expiresAt: undefined, unknownStep: 'charge', canProbe: true },
      }
      for (const change of Object.values(ends)) {
        const records = many(like).slice(0, 3)
        const single = await stored(store, { ...like, id: aRecord().id })
        for (const record of records) await stored(store, record)
        const group = grouped(store)
        const answers = await Promise.all(records.map(({ id }) => group.update(id, change, seen)))
        deepStrictEqual(await store.update(single.id, change, seen), applied)
        const expected = await store.get(single.id)
        for (const [index, { id }] of records.entries()) {
          deepStrictEqual(answers[index], applied)
          deepStrictEqual(await store.get(id), { ...expected, id })
        }
      }
    },
  },
  {
    name: 'refuses those endings among many whose record has changed or is gone, and answers what stands',
    async check(store: Store) {
      const group = grouped(store)
      const held = await stored(store, aRecord())
      const renewed = await stored(store, aRecord({ rev: 2 }))
      const taken = await stored(store, aRecord({ token: 'token-b', attempt: 2 }))
      const gone = aRecord()
      const answers = await Promise.all(
        [held, renewed, taken, gone].map(({ id }) => group.update(id, completion, seen)),
      )
      deepStrictEqual(answers, [
        applied,
        { applied: false, existing: renewed },
        { applied: false, existing: taken },
        { applied: false, existing: undefined },
      ])
      deepStrictEqual(await store.get(renewed.id), renewed)
      deepStrictEqual(await store.get(taken.id), taken)
      strictEqual(await store.get(gone.id), undefined)
    },
  },
  {
    name: 'takes over those among many whose token and rev are the ones seen, and keeps their steps',
    async check(store: Store) {
      const steps = { charge: aStep }
      const records = many({ status: 'RETRYABLE', steps }).slice(0, 4)
      for (const record of records) await stored(store, record)
      const renewed = await stored(store, aRecord({ rev: 2, steps }))
      const takeover: RecordChange = {
        status: 'IN_PROGRESS',
        attempt: 2,
        token: 'token-b',
        leaseUntil: NOW_MS + 60_000,
        expiresAt: NOW_SECONDS + 90_000,
        updatedAtMs: NOW_MS,
        waitingFor: undefined,
      }
      const group = grouped(store)
      const answers = await Promise.all([...records, renewed].map(({ id }) => group.update(id, takeover, seen)))
      deepStrictEqual(answers.pop(), { applied: false, existing: renewed })
      for (const [index, { id }] of records.entries()) {
        deepStrictEqual(answers[index], applied)
        const { token, attempt, rev, steps: kept } = (await store.get(id)) ?? aRecord()
        deepStrictEqual([token, attempt, rev, kept], ['token-b', 2, 2, steps])
      }
    },
  },
]
