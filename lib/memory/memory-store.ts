import { functionOption, refuseUnknown } from '../base/guards.ts'
import type { OperationRecord } from '../record/record.ts'
import type { Condition, Parts, RecordChange, StandingCondition, Store, WriteAnswer } from '../record/store.ts'
import { besideItems } from './beside.ts'
import { type AppliedCommit, commitsOver, type Transact } from './commits.ts'
import { holds, withChange } from './holds.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Records to start with, such as one that another process would have left behind. */
  readonly records?: readonly OperationRecord[]
  /**
   * Stands for your own tables: judges the conditions of a commit's writes, which this store cannot evaluate.
   * @defaultValue every condition holds
   */
  readonly transact?: Transact
}

/** A store in memory, and a look into it for assertions. */
export interface MemoryStore extends Store {
  /** A copy of every record, expired ones too. */
  records(): OperationRecord[]
  /** Every commit that was applied, in order, with its writes as they were given. */
  commits(): readonly AppliedCommit[]
  /** Deletes a record, as DynamoDB's TTL would, whatever its state. */
  remove(id: string): void
}

/**
 * A store for unit tests, with the conditions of the real one: it passes the same contract suite.
 * It lives in one process and forgets everything with it, so it protects nothing in production.
 *
 * Of a commit's own writes it keeps a list, and no more: it evaluates no expression and no order guard, applies
 * nothing to any table, and measures no size. `transact` stands for your tables where a test needs them; whether the
 * expressions are right, only DynamoDB tells.
 *
 * @example
 * const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  refuseUnknown('memoryStore', options, ['records', 'transact'])
  const records = new Map<string, OperationRecord>()
  const pieces = new Map<string, Uint8Array>()
  for (const record of options.records ?? []) records.set(record.id, structuredClone(record))
  const beside = besideItems(records)
  const commits = commitsOver(records, beside, functionOption('transact', options.transact))

  function write(
    id: string,
    condition: Condition,
    change: (there: OperationRecord | undefined) => OperationRecord,
  ): WriteAnswer {
    const there = records.get(id)
    if (!holds(condition, there)) return { applied: false, existing: structuredClone(there) }
    records.set(id, structuredClone(change(there)))
    return { applied: true }
  }

  return Object.freeze({
    async put(record: OperationRecord, condition: Condition) {
      return write(record.id, condition, () => record)
    },
    async update(id: string, change: RecordChange, condition: StandingCondition) {
      const there = records.get(id)
      if (there === undefined) return { applied: false as const, existing: undefined }
      return write(id, condition, () => withChange(there, change))
    },
    async get(id: string) {
      return structuredClone(records.get(id))
    },
    prepare: commits.prepare,
    ...beside.methods,
    async putParts({ partsId, parts }: Parts) {
      parts.forEach((bytes, index) => {
        pieces.set(`${partsId}#${index}`, Uint8Array.from(bytes))
      })
    },
    async getParts(partsId: string, count: number) {
      return Array.from({ length: count }, (_, index) => pieces.get(`${partsId}#${index}`))
    },
    records: () => structuredClone([...records.values()]),
    commits: commits.applied,
    remove(id: string) {
      records.delete(id)
    },
  })
}
