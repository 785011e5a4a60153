import { type GroupAnswer, type GroupedWrite, type GroupRequests, MAX_GROUP } from '../../lib/dynamodb/group/writes.ts'
import type { OperationRecord, Store } from '../../lib/index.ts'
import type { WriteAnswer } from '../../lib/record/store.ts'
import type { Chance } from './chance.ts'

/** What may become of one write among those of a request that is answered. */
const STATEMENT_FATES = [
  'throttled',
  'error-before',
  'error-after',
  'left-out-before',
  'left-out-after',
  'odd',
] as const
export type StatementFate = (typeof STATEMENT_FATES)[number]

/** Draws what becomes of a statement. */
export function statementFates(chance: Chance, rate: () => number): () => StatementFate | undefined {
  return () => {
    const now = rate()
    return now > 0 && chance.happens(now) ? chance.pick(STATEMENT_FATES) : undefined
  }
}

/** What a table and the way to it do with requests that carry many writes. */
export interface Way {
  call<T>(what: string, apply: () => Promise<T>): Promise<T>
  /** Carries out one write. */
  apply(id: string, write: () => Promise<WriteAnswer>): Promise<WriteAnswer>
  fate(): StatementFate | undefined
  /** Whether a failed condition brings the item along. */
  bringsItem(): boolean
  /** Is told of a request that the service refuses as a whole. */
  unfit(why: string): void
}

/** Batches of statements over a store in memory, with the conditions that statements have: an insert knows no expiry. */
export function simulatedGroups(store: Store, way: Way): GroupRequests {
  async function carryOut(write: GroupedWrite): Promise<GroupAnswer> {
    const answer = await way.apply(write.id, async () => {
      if (write.kind === 'update') return store.update(write.id, write.change, write.seen)
      const existing = await store.get(write.id)
      if (existing !== undefined) return { applied: false, existing }
      return store.put(write.record, { kind: 'absent', moment: write.moment })
    })
    if (answer.applied) return { kind: 'applied' }
    const { existing } = answer
    return { kind: 'refused', ...(existing && write.kind === 'update' && way.bringsItem() && { existing }) }
  }

  async function statement(write: GroupedWrite): Promise<GroupAnswer | undefined> {
    switch (way.fate()) {
      case undefined:
        return carryOut(write)
      case 'throttled':
      case 'error-before':
        return { kind: 'again', code: 'ThrottlingError' }
      case 'error-after':
        await carryOut(write)
        return { kind: 'again', code: 'InternalServerError' }
      case 'left-out-before':
        return undefined
      case 'left-out-after':
        await carryOut(write)
        return undefined
      case 'odd':
        return { kind: 'alone' }
    }
  }

  return {
    write(writes) {
      if (writes.length === 0 || writes.length > MAX_GROUP) way.unfit(`${writes.length} statements`)
      if (new Set(writes.map(({ id }) => id)).size < writes.length) way.unfit('two statements on one record')
      return way.call(`${writes.length} statements (${writes.map(({ kind }) => kind).join(', ')})`, async () => {
        const answers: (GroupAnswer | undefined)[] = []
        for (const write of writes) answers.push(await statement(write))
        return answers
      })
    },
    read: (ids) =>
      way.call(`get ${ids.length} records`, async () => {
        const found = new Map<string, OperationRecord>()
        for (const id of ids) {
          const record = await store.get(id)
          if (record !== undefined) found.set(id, record)
        }
        return found
      }),
  }
}
