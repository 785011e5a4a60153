import type { OperationRecord } from '../../record/record.ts'
import type { StandingCondition, Store } from '../../record/store.ts'
import { CliFailure, EXIT } from '../exit.ts'

/** What a write asks of the record: that it is exactly the one that was shown. */
export function asShown({ token, rev }: OperationRecord): StandingCondition {
  return { kind: 'seen', token, rev }
}

/** The record is not what it was when the person decided. */
export function changed(): CliFailure {
  return new CliFailure(
    EXIT.refused,
    'The operation has changed since it was shown, and nothing was written. Look at it again with `lambda-once inspect`.',
  )
}

/**
 * A store that knows of this record only what was shown: the engine decides from what it reads, so that its writes are
 * on what the person has seen, too.
 */
export function fencedStore(store: Store, shown: OperationRecord): Store {
  return Object.freeze({
    ...store,
    async get(id: string) {
      const found = await store.get(id)
      if (id === shown.id && (found?.token !== shown.token || found.rev !== shown.rev)) throw changed()
      return found
    },
  })
}

/** @throws CliFailure when the record is not at the rev that the command line names */
export function checkRev({ rev }: OperationRecord, expected: number | undefined): void {
  if (expected === undefined || expected === rev) return
  throw new CliFailure(
    EXIT.refused,
    `The operation is at rev ${rev}, not at ${expected} as you expected: somebody has written it since. Nothing was written.`,
  )
}
