import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { StoredSignal } from '../record/record.ts'
import type { RecordChange, StandingCondition, Store } from '../record/store.ts'
import { aRecord, aStep, type ContractCase, completion, NOW_MS, NOW_SECONDS, stored } from './fixtures.ts'

/** What only the holder of a claim may write, and takeovers. */
export const heldCases: readonly ContractCase[] = [
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
    name: 'writes under a claim only while no more signals have come than its holder knows of',
    async check(store: Store) {
      const change = { ...completion, status: 'WAITING' } as const
      const underSignals = (id: string, signals: number) =>
        store.update(id, change, { kind: 'held', token: 'token-a', signals })
      const record = await stored(store, aRecord({ signals: [aSignal('one'), aSignal('two')] }))
      deepStrictEqual(await underSignals(record.id, 0), { applied: false, existing: record })
      deepStrictEqual(await underSignals(record.id, 1), { applied: false, existing: record })
      deepStrictEqual(await underSignals(record.id, 2), { applied: true })
      for (const signals of [0, 1]) {
        deepStrictEqual(await underSignals((await stored(store, aRecord())).id, signals), { applied: true })
      }
    },
  },
  {
    name: 'adds a wire response to what this claim has completed, once',
    async check(store: Store) {
      const wire = { kind: 'text', text: '[2]' } as const
      const change = { ...completion, wire }
      const record = await stored(store, aRecord())
      const committed = { kind: 'committed', token: 'token-a' } as const
      strictEqual((await store.update(record.id, change, committed)).applied, false)
      await store.update(record.id, completion, { kind: 'held', token: 'token-a' })
      strictEqual((await store.update(record.id, change, { ...committed, token: 'token-b' })).applied, false)
      deepStrictEqual(await store.update(record.id, change, committed), { applied: true })
      const after = await store.get(record.id)
      deepStrictEqual(after?.wire, wire)
      const again = { ...change, wire: { kind: 'text', text: '[3]' } } as const
      deepStrictEqual(await store.update(record.id, again, committed), { applied: false, existing: after })
    },
  },
  {
    name: 'keeps and removes every field a change may have, nested ones as they are',
    async check(store: Store) {
      const record = await stored(store, aRecord({ metadata: { operation: 'issue' }, isAdmission: true }))
      const fields = {
        commitId: 'commit-a',
        resumeAtMs: NOW_MS + 5,
        waitingFor: 'the bank',
        signals: [aSignal('one'), { ...aSignal('two'), payload: { kind: 'brotli', bytes: new Uint8Array([0, 9]) } }],
        redrive: { target: { queueUrl: 'https://queue' }, payload: { kind: 'text', text: '["body"]' } },
        continuation: { id: 'message-1', dueAtMs: NOW_MS + 5 },
        isReconciled: true,
        canProbe: true,
        dueShard: 'n#0',
        dueAtMs: NOW_MS + 5,
        crashes: 2,
      } as const
      await store.update(record.id, { ...completion, ...fields }, { kind: 'held', token: 'token-a' })
      const { leaseUntil: _lease, ...rest } = record
      const { leaseUntil: _undefined, ...set } = completion
      deepStrictEqual(await store.get(record.id), { ...rest, ...set, ...fields, rev: 2 })
      const { signals, redrive, commitId, crashes, ...removable } = fields
      const none = Object.fromEntries(Object.keys(removable).map((name) => [name, undefined]))
      await store.update(record.id, { ...completion, ...none }, { kind: 'seen', token: 'token-a', rev: 2 })
      deepStrictEqual(await store.get(record.id), { ...rest, ...set, signals, redrive, commitId, crashes, rev: 3 })
    },
  },
]

const aSignal = (id: string): StoredSignal => ({ id, atMs: NOW_MS, payload: { kind: 'text', text: '[1]' } })
