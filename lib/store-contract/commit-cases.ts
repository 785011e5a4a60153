import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { isLambdaOnceError } from '../base/errors.ts'
import type { CommitAnswer, StandingCondition, Store } from '../record/store.ts'
import { aRecord, type ContractCase, completion, stored } from './fixtures.ts'

const held: StandingCondition = { kind: 'held', token: 'token-a' }
const committing = { ...completion, commitId: 'commit-a' }
const message = { sk: 'outbox#1', attributes: { state: 'pending', body: { text: 'hello' } } }
const applied = { kind: 'applied', skipped: [] } as const
const newToken = () => crypto.randomUUID()

/** Commits a completion with a message beside it. */
async function commitOf(store: Store, id: string): Promise<CommitAnswer> {
  const prepared = await store.prepare(id, [], [message])
  return prepared.commit(committing, held, newToken())
}

/** A change of the record together with items beside it. The caller's own writes are each store's affair. */
export const commitCases: readonly ContractCase[] = [
  {
    name: 'commits the completion and what lies beside it together',
    async check(store: Store) {
      const record = await stored(store, aRecord())
      const prepared = await store.prepare(record.id, [], [message])
      deepStrictEqual(await store.listBeside(record.id, 'outbox#'), [], 'preparing sends nothing')
      deepStrictEqual(await prepared.commit(committing, held, newToken()), applied)
      const { leaseUntil: _lease, ...rest } = record
      const { leaseUntil: _undefined, ...set } = committing
      deepStrictEqual(await store.get(record.id), { ...rest, ...set, rev: 2 })
      deepStrictEqual(await store.listBeside(record.id, 'outbox#'), [message])
    },
  },
  {
    name: 'refuses the commit of a loser, answers the record, and writes nothing',
    async check(store: Store) {
      const record = await stored(store, aRecord({ token: 'token-b', attempt: 2 }))
      const answer = await commitOf(store, record.id)
      deepStrictEqual(answer, { kind: 'refused', existing: record })
      deepStrictEqual(await store.get(record.id), record)
      deepStrictEqual(await store.listBeside(record.id, 'outbox#'), [])
    },
  },
  {
    name: 'never creates a record by a commit',
    async check(store: Store) {
      const { id } = aRecord()
      const answer = await commitOf(store, id)
      deepStrictEqual(answer, { kind: 'refused', existing: undefined })
      strictEqual(await store.get(id), undefined)
      deepStrictEqual(await store.listBeside(id, 'outbox#'), [])
    },
  },
  {
    name: 'answers a repetition with the same request token as the first time, and writes once',
    async check(store: Store) {
      const record = await stored(store, aRecord())
      const prepared = await store.prepare(record.id, [], [message])
      const token = newToken()
      deepStrictEqual(await prepared.commit(committing, held, token), applied)
      const after = await store.get(record.id)
      deepStrictEqual(await prepared.commit(committing, held, token), applied)
      deepStrictEqual(await store.get(record.id), after)
    },
  },
  {
    name: 'refuses a second commit, and answers the first one with its name',
    async check(store: Store) {
      const record = await stored(store, aRecord())
      await commitOf(store, record.id)
      const after = await store.get(record.id)
      const second = await store.prepare(record.id, [], [{ ...message, sk: 'outbox#2' }])
      const answer = await second.commit({ ...committing, commitId: 'commit-b' }, held, newToken())
      deepStrictEqual(answer, { kind: 'refused', existing: after })
      deepStrictEqual(after?.commitId, 'commit-a')
      deepStrictEqual(await store.listBeside(record.id, 'outbox#'), [message])
    },
  },
  {
    name: 'lets exactly one of many parallel commits win, with what lies beside it',
    async check(store: Store) {
      const record = await stored(store, aRecord())
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          const prepared = await store.prepare(record.id, [], [{ ...message, sk: `outbox#${n}` }])
          return prepared.commit({ ...committing, commitId: `commit-${n}` }, held, newToken()).catch((error) => {
            // Transactions that meet may be asked to come again.
            if (isLambdaOnceError(error, 'STORE') && error.retryable) return { kind: 'conflicted' } as const
            throw error
          })
        }),
      )
      const winners = answers.flatMap(({ kind }, n) => (kind === 'applied' ? [n] : []))
      strictEqual(winners.length, 1)
      strictEqual((await store.get(record.id))?.commitId, `commit-${winners[0]}`)
      const beside = await store.listBeside(record.id, 'outbox#')
      deepStrictEqual(
        beside.map(({ sk }) => sk),
        [`outbox#${winners[0]}`],
      )
    },
  },
  {
    name: 'changes a record that was seen, and puts something beside it, together',
    async check(store: Store) {
      const record = await stored(store, aRecord({ status: 'WAITING', rev: 3 }))
      const change = { ...completion, status: 'RETRYABLE' } as const
      const late = { kind: 'seen', token: 'token-a', rev: 2 } as const
      const prepared = await store.prepare(record.id, [], [message])
      deepStrictEqual(await prepared.commit(change, late, newToken()), { kind: 'refused', existing: record })
      deepStrictEqual(await prepared.commit(change, { ...late, rev: 3 }, newToken()), applied)
      deepStrictEqual(await store.listBeside(record.id, 'outbox#'), [message])
    },
  },
  {
    name: 'takes 99 items beside the record in one commit, and refuses the hundredth before anything is sent',
    async check(store: Store) {
      const record = await stored(store, aRecord())
      const items = Array.from({ length: 100 }, (_, n) => ({ ...message, sk: `outbox#${String(n).padStart(3, '0')}` }))
      await rejects(store.prepare(record.id, [], items), {
        name: 'InvalidInputError',
        message: /at most 100 items.*101/,
      })
      const prepared = await store.prepare(record.id, [], items.slice(1))
      deepStrictEqual(await prepared.commit(committing, held, newToken()), applied)
      strictEqual((await store.listBeside(record.id, 'outbox#')).length, 99)
    },
  },
  {
    name: 'refuses two items under one sort key before anything is sent',
    async check(store: Store) {
      const { id } = aRecord()
      await rejects(store.prepare(id, [], [message, message]), { name: 'InvalidInputError' })
      await rejects(store.prepare(id, [], [{ ...message, sk: 'op' }]), { name: 'InvalidInputError' })
    },
  },
]
