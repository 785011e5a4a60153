import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { Condition, RecordChange, StandingCondition, Store } from '../core/ports.ts'
import { PART_BYTES } from '../core/ports.ts'
import { countsAsAbsent, type OperationRecord, type Status, type StepRecord } from '../core/record.ts'

/** One thing that every store must do. */
export interface ContractCase {
  readonly name: string
  /** Rejects with an assertion error when the store does otherwise. May be given a store that holds other records. */
  readonly check: (store: Store) => Promise<void>
}

const NOW_MS = 1_700_000_000_500
const NOW_SECONDS = 1_700_000_000
const SKEW_MS = 1_000

/** Placeholders of one case: ids nobody else uses, so that cases can share a table. */
function aRecord(fields: Partial<OperationRecord> = {}): OperationRecord {
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

const absentAt = (nowMs: number): Condition => ({ kind: 'absent', moment: { nowMs, clockSkewMs: SKEW_MS } })

const aStep: StepRecord = { kind: 'done', value: { kind: 'text', text: '[1]' } }

const completion: RecordChange = {
  status: 'COMPLETED',
  leaseUntil: undefined,
  expiresAt: NOW_SECONDS + 3_600,
  updatedAtMs: NOW_MS,
  outcome: { kind: 'value', value: { kind: 'text', text: '[1]' } },
}

async function stored(store: Store, record: OperationRecord): Promise<OperationRecord> {
  deepStrictEqual(await store.put(record, absentAt(NOW_MS)), { applied: true })
  return record
}

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

/**
 * What a store must do, as cases that any test runner can run.
 *
 * @example
 * for (const { name, check } of storeContract) test(name, () => check(myStore()))
 */
export const storeContract: readonly ContractCase[] = Object.freeze([
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
    async check(store: Store) {
      for (const record of recordsOfEveryKind()) {
        await stored(store, record)
        const next = { ...aRecord({ token: 'token-b', createdAtMs: NOW_MS }), id: record.id }
        const answer = await store.put(next, absentAt(NOW_MS))
        const absent = countsAsAbsent(record, { nowMs: NOW_MS, clockSkewMs: SKEW_MS })
        strictEqual(answer.applied, absent, `a claim over ${JSON.stringify(record)}`)
        deepStrictEqual(await store.get(record.id), absent ? next : record)
      }
    },
  },
  {
    name: 'refuses to put over a released record that was created later than the writer knows, so that fences stay ordered',
    async check(store: Store) {
      const record = await stored(store, aRecord({ status: 'RELEASED', createdAtMs: NOW_MS + 5 }))
      const answer = await store.put({ ...record, token: 'token-b' }, absentAt(NOW_MS))
      deepStrictEqual(answer, { applied: false, existing: record })
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
    name: 'completes a record that is still held, removes its lease and raises its rev',
    async check(store: Store) {
      const record = await stored(store, aRecord())
      deepStrictEqual(await store.update(record.id, completion, { kind: 'held', token: 'token-a' }), { applied: true })
      const { leaseUntil: _lease, ...rest } = record
      const { leaseUntil: _undefined, ...set } = completion
      deepStrictEqual(await store.get(record.id), { ...rest, ...set, rev: 2 })
    },
  },
  {
    name: 'refuses the completion of a loser, and leaves the record byte for byte',
    async check(store: Store) {
      const record = await stored(store, aRecord({ token: 'token-b', attempt: 2 }))
      const answer = await store.update(record.id, completion, { kind: 'held', token: 'token-a' })
      deepStrictEqual(answer, { applied: false, existing: record })
      deepStrictEqual(await store.get(record.id), record)
    },
  },
  {
    name: 'refuses a second completion, and answers the first one',
    async check(store: Store) {
      const record = await stored(store, aRecord())
      await store.update(record.id, completion, { kind: 'held', token: 'token-a' })
      const after = await store.get(record.id)
      const answer = await store.update(record.id, completion, { kind: 'held', token: 'token-a' })
      deepStrictEqual(answer, { applied: false, existing: after })
    },
  },
  {
    name: 'never creates a record by an update',
    async check(store: Store) {
      const { id } = aRecord()
      for (const condition of [
        { kind: 'held', token: 'token-a' },
        { kind: 'seen', token: 'token-a', rev: 1 },
      ] as const) {
        deepStrictEqual(await store.update(id, completion, condition), { applied: false, existing: undefined })
      }
      strictEqual(await store.get(id), undefined)
    },
  },
  {
    name: 'takes over on the token and rev seen, keeps the steps, and refuses once the lease was renewed in between',
    async check(store: Store) {
      const steps = { charge: aStep }
      const record = await stored(store, aRecord({ steps }))
      const takeover: RecordChange = {
        status: 'IN_PROGRESS',
        attempt: 2,
        token: 'token-b',
        leaseUntil: NOW_MS + 60_000,
        expiresAt: NOW_SECONDS + 90_000,
        updatedAtMs: NOW_MS,
      }
      const renewal: RecordChange = {
        status: 'IN_PROGRESS',
        leaseUntil: NOW_MS + 40_000,
        expiresAt: record.expiresAt,
        updatedAtMs: NOW_MS,
      }
      await store.update(record.id, renewal, { kind: 'held', token: 'token-a' })
      const late = await store.update(record.id, takeover, { kind: 'seen', token: 'token-a', rev: 1 })
      strictEqual(late.applied, false)
      strictEqual(late.existing?.rev, 2)
      deepStrictEqual(await store.update(record.id, takeover, { kind: 'seen', token: 'token-a', rev: 2 }), {
        applied: true,
      })
      const after = await store.get(record.id)
      deepStrictEqual([after?.token, after?.attempt, after?.rev, after?.steps], ['token-b', 2, 3, steps])
    },
  },
  {
    name: 'writes and removes one step and leaves the others as they are, in parallel too',
    async check(store: Store) {
      const record = await stored(store, aRecord({ steps: { 'a.b': { kind: 'started', startedAtMs: NOW_MS } } }))
      const renewal: RecordChange = {
        status: 'IN_PROGRESS',
        leaseUntil: NOW_MS + 40_000,
        expiresAt: record.expiresAt,
        updatedAtMs: NOW_MS,
      }
      const held: StandingCondition = { kind: 'held', token: 'token-a' }
      const names = ['one', 'two', 'Ünï #3', 'status']
      await Promise.all(
        names.map((name) => store.update(record.id, { ...renewal, step: { name, record: aStep } }, held)),
      )
      await store.update(record.id, { ...renewal, step: { name: 'a.b', record: undefined } }, held)
      await store.update(record.id, { ...renewal, step: { name: 'never written', record: undefined } }, held)
      const after = await store.get(record.id)
      deepStrictEqual(after?.steps, Object.fromEntries(names.map((name) => [name, aStep])))
      strictEqual(after?.rev, 7)
      strictEqual(
        (
          await store.update(
            record.id,
            { ...renewal, step: { name: 'x', record: aStep } },
            { kind: 'held', token: 'token-b' },
          )
        ).applied,
        false,
      )
    },
  },
  {
    name: 'replaces all steps at once',
    async check(store: Store) {
      const record = await stored(
        store,
        aRecord({ status: 'UNKNOWN', unknownStep: 'a', steps: { a: { kind: 'started', startedAtMs: 1 }, b: aStep } }),
      )
      const change: RecordChange = {
        status: 'RETRYABLE',
        leaseUntil: undefined,
        expiresAt: NOW_SECONDS + 5,
        updatedAtMs: NOW_MS,
        steps: { b: aStep },
        unknownStep: undefined,
      }
      deepStrictEqual(await store.update(record.id, change, { kind: 'seen', token: 'token-a', rev: 1 }), {
        applied: true,
      })
      const after = await store.get(record.id)
      deepStrictEqual([after?.status, after?.steps, after?.unknownStep], ['RETRYABLE', { b: aStep }, undefined])
    },
  },
  {
    name: 'lets exactly one of many parallel claims win',
    async check(store: Store) {
      const { id } = aRecord()
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => store.put({ ...aRecord({ token: `token-${n}` }), id }, absentAt(NOW_MS))),
      )
      const winners = answers.flatMap((answer, n) => (answer.applied ? [`token-${n}`] : []))
      strictEqual(winners.length, 1)
      strictEqual((await store.get(id))?.token, winners[0])
      for (const answer of answers) ok(answer.applied || answer.existing?.token === winners[0])
    },
  },
  {
    name: 'writes and reads large values in parts, in order',
    async check(store: Store) {
      const partsId = crypto.randomUUID()
      const parts = [new Uint8Array(PART_BYTES).fill(1), new Uint8Array(PART_BYTES).fill(2), new Uint8Array([3])]
      await store.putParts({ partsId, parts, expiresAt: NOW_SECONDS + 86_400 })
      const read = await store.getParts(partsId, 3)
      deepStrictEqual(
        read.map((part) => part && Buffer.from(part).equals(Buffer.from(parts[read.indexOf(part)] ?? []))),
        [true, true, true],
      )
    },
  },
  {
    name: 'answers undefined for a part that is not there',
    async check(store: Store) {
      const partsId = crypto.randomUUID()
      await store.putParts({ partsId, parts: [new Uint8Array([1])], expiresAt: NOW_SECONDS + 86_400 })
      const [first, second] = await store.getParts(partsId, 2)
      deepStrictEqual([first?.length, second], [1, undefined])
    },
  },
])
