import { countsAsAbsent, type OperationRecord } from '../record/record.ts'
import type { Condition, Store, WriteAnswer } from '../record/store.ts'

type AbsentCondition = Extract<Condition, { kind: 'absent' }>

/** Where a claim is likely to be refused, a look costs a fifth of the refused write, and tells the same. */
export function lookingFirst({ get, put }: Pick<Store, 'get' | 'put'>): Store['put'] {
  async function lookAndPut(record: OperationRecord, condition: AbsentCondition): Promise<WriteAnswer> {
    const existing = await get(record.id)
    if (existing !== undefined && !countsAsAbsent(existing, condition.moment)) return { applied: false, existing }
    condition.signal?.throwIfAborted()
    return put(record, condition)
  }

  return (record, condition) =>
    condition.kind === 'absent' && condition.isLikelyTaken ? lookAndPut(record, condition) : put(record, condition)
}
