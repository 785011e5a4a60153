import type { Condition, Parts, RecordChange, StandingCondition, Store, WriteAnswer } from '../core/ports.ts'
import { countsAsAbsent, type OperationRecord } from '../core/record.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Records to start with, such as one that another process would have left behind. */
  readonly records?: readonly OperationRecord[]
}

/** A store in memory, and a look into it for assertions. */
export interface MemoryStore extends Store {
  /** A copy of every record, expired ones too. */
  records(): OperationRecord[]
  /** Deletes a record, as DynamoDB's TTL would, whatever its state. */
  remove(id: string): void
}

/**
 * A store for unit tests, with the conditions of the real one: it passes the same contract suite.
 * It lives in one process and forgets everything with it, so it protects nothing in production.
 *
 * @example
 * const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const records = new Map<string, OperationRecord>()
  const pieces = new Map<string, Uint8Array>()
  for (const record of options.records ?? []) records.set(record.id, structuredClone(record))

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
    async putParts({ partsId, parts }: Parts) {
      parts.forEach((bytes, index) => {
        pieces.set(`${partsId}#${index}`, Uint8Array.from(bytes))
      })
    },
    async getParts(partsId: string, count: number) {
      return Array.from({ length: count }, (_, index) => pieces.get(`${partsId}#${index}`))
    },
    records: () => structuredClone([...records.values()]),
    remove(id: string) {
      records.delete(id)
    },
  })
}

function holds(condition: Condition, there: OperationRecord | undefined): boolean {
  switch (condition.kind) {
    case 'absent':
      return (
        there === undefined ||
        (countsAsAbsent(there, condition.moment) && there.createdAtMs < Math.floor(condition.moment.nowMs))
      )
    case 'seen':
      return there?.token === condition.token && there.rev === condition.rev
    case 'held':
      return there?.token === condition.token && there.status === 'IN_PROGRESS'
  }
}

function withChange(there: OperationRecord, { step, ...change }: RecordChange): OperationRecord {
  const { [step?.name ?? '']: _replaced, ...others } = there.steps
  const steps = step === undefined ? there.steps : { ...others, ...(step.record && { [step.name]: step.record }) }
  const merged = { ...there, steps, ...change, rev: there.rev + 1 }
  const defined = Object.entries(merged).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as unknown as OperationRecord
}
