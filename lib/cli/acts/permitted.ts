import type { OperationRecord } from '../../record/record.ts'
import type { Standing } from '../operation/standing.ts'

/** What an operator can do to a record. */
export type Act = 'settle' | 'resume' | 'release' | 'redrive'

/** What somebody says who knows that a rule does not hold for him. */
export interface Insistence {
  /** `release`: steps that are recorded as done may be done again. */
  readonly forgetsSteps: boolean
  /** `release`: the holder of an admission key is known to be gone. */
  readonly isHolderGone: boolean
}

/** Why an act is not possible as the operation stands, and what is instead. `undefined`: it is possible. */
export function refusalOf(
  act: Act,
  record: OperationRecord,
  standing: Standing,
  { forgetsSteps, isHolderGone }: Insistence = { forgetsSteps: false, isHolderGone: false },
): string | undefined {
  if (standing.kind === 'running')
    return 'It is running: whoever works on it has the right to end it. Wait for the end of its lease.'
  if (standing.kind === 'taken') {
    if (act !== 'release')
      return 'It is an admission key that is taken: there is nothing to run. `release` gives it back.'
    return isHolderGone
      ? undefined
      : 'The key is taken, and its holder may still be at work. When you know that it is gone, say --holder-is-gone.'
  }
  if (standing.kind === 'released' || standing.kind === 'expired') {
    return 'It counts as absent already: the next request with its key begins anew.'
  }
  if (standing.kind === 'completed')
    return 'It is completed. A stored outcome never changes, and its repetitions stay protected.'
  switch (act) {
    case 'settle':
    case 'resume':
      return standing.kind === 'failed'
        ? 'It failed for good, and a stored outcome never changes. When nothing has happened, `release` forgets it.'
        : undefined
    case 'release':
      return releaseRefusal(record, forgetsSteps)
    case 'redrive':
      return redriveRefusal(record, standing)
  }
}

function releaseRefusal({ steps }: OperationRecord, forgetsSteps: boolean): string | undefined {
  const names = Object.keys(steps)
  if (names.length === 0 || forgetsSteps) return undefined
  const list = names.map((name) => `"${name}"`).join(', ')
  return `It has recorded steps (${list}), which a released operation would do again. \`resume\` keeps them; when they may be done again, say --forget-steps.`
}

function redriveRefusal(record: OperationRecord, standing: Standing): string | undefined {
  if (record.redrive === undefined) {
    return 'No request is stored with it: that takes `redrive` in the options of its handler. Repeat the request itself, or let its queue redeliver.'
  }
  switch (standing.kind) {
    case 'stale':
    case 'retryable':
      return undefined
    case 'waiting':
      return standing.isDue
        ? undefined
        : 'It waits, and what is delivered now would be put aside. `resume` ends the waiting; then redrive it.'
    case 'stopped':
    case 'unknown':
      return 'No delivery may run it as it stands. When nothing has happened that must not happen again, `resume` it first; then redrive it.'
    default:
      return 'It has ended: a delivery would get the stored outcome.'
  }
}
