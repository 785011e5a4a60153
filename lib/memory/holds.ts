import { countsAsAbsent, type OperationRecord } from '../record/record.ts'
import type { Condition, RecordChange } from '../record/store.ts'

/** Whether a condition holds for the record that is there: what the expressions of the real store say. */
export function holds(condition: Condition, there: OperationRecord | undefined): boolean {
  switch (condition.kind) {
    case 'absent':
      return (
        there === undefined ||
        (countsAsAbsent(there, condition.moment) && there.createdAtMs < Math.floor(condition.moment.nowMs))
      )
    case 'seen':
      return there?.token === condition.token && there.rev === condition.rev
    case 'held': {
      const isHeld = there?.token === condition.token && there.status === 'IN_PROGRESS'
      return isHeld && (condition.signals === undefined || (there.signals?.length ?? 0) <= condition.signals)
    }
    case 'committed':
      return there?.token === condition.token && there.status === 'COMPLETED' && there.wire === undefined
  }
}

/** The record after a change. */
export function withChange(there: OperationRecord, { step, ...change }: RecordChange): OperationRecord {
  const { [step?.name ?? '']: _replaced, ...others } = there.steps
  const steps = step === undefined ? there.steps : { ...others, ...(step.record && { [step.name]: step.record }) }
  return defined({ ...there, steps, ...change, rev: there.rev + 1 }) as unknown as OperationRecord
}

/** Without what is `undefined`. */
export function defined(attributes: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
