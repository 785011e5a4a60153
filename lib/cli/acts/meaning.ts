import type { Settlement } from '../../idempotency/settle.ts'
import type { OperationRecord } from '../../record/record.ts'
import type { Standing } from '../operation/standing.ts'
import { count, oneLine } from '../terminal/text.ts'
import type { Act } from './permitted.ts'

/** A record that is to be written, with how it stands. */
export interface Chosen {
  readonly record: OperationRecord
  readonly standing: Standing
}

/** What somebody says who does it: shown before anything is written. */
export function meaningOf(act: Exclude<Act, 'settle'>, { record, standing }: Chosen): readonly string[] {
  switch (act) {
    case 'resume':
      return resumeMeaning(record)
    case 'release':
      return [
        standing.kind === 'taken'
          ? 'Releasing gives the key away although its time is not over: the next one who asks for it gets it. A holder that is still at work is not stopped by this.'
          : 'Releasing says: nothing has happened. The record is forgotten, and the next request with its key begins anew: an effect it had is had again.',
        ...(Object.keys(record.steps).length > 0
          ? ['Its recorded steps are forgotten with it, and are done again.']
          : []),
        ...(record.continuation === undefined
          ? []
          : ['A message that was to continue it may be on its way: it begins the operation anew. `resume` does not.']),
      ]
    case 'redrive':
      return [
        `Redriving sends its stored request to ${targetOf(record)}, under the same key: the handler continues the operation.`,
        'Whoever else delivers it at the same time meets the running operation; it is not done twice.',
      ]
  }
}

/** What somebody says who ends it with what he has found out. @param until - the moment, in words */
export function settleMeaning(settlement: Settlement, until: string): readonly string[] {
  return [
    'error' in settlement
      ? `Settling says: it failed for good (${settlement.error.name}). Every repetition gets this failure until ${until}, and the handler is not run.`
      : `Settling says: it has happened. Every repetition gets your value until ${until}, and the handler is not run.`,
    'A stored outcome never changes afterwards.',
  ]
}

function resumeMeaning({ steps }: OperationRecord): readonly string[] {
  const kinds = Object.values(steps).map(({ kind }) => kind)
  const begun = kinds.filter((kind) => kind === 'started').length
  const finished = kinds.length - begun
  return [
    'Resuming says: nothing has happened that must not happen again. The next delivery runs the handler.',
    finished > 0
      ? `Its record answers for ${count(finished, 'finished step')}, which are not run again.`
      : 'It has no finished steps: everything the handler does is done.',
    ...(begun > 0 ? [`Run again: ${count(begun, 'step')} that was begun, and whose end nobody has recorded.`] : []),
  ]
}

/** Where the stored request of an operation goes. */
export function targetOf({ redrive }: OperationRecord): string {
  const [target = 'nowhere'] = Object.values(redrive?.target ?? {})
  return oneLine(target)
}
