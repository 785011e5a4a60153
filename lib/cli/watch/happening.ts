import type { OperationEvent } from '../../base/ports.ts'

/** What can happen to an operation, in the words of the engine's events; steps and kills have no event of their own. */
export type HappeningKind = OperationEvent['type'] | 'step-begun' | 'step-done' | 'step-lost' | 'killed'

/** One thing that has happened to an operation. */
export interface Happening {
  readonly kind: HappeningKind
  readonly atMs: number
  /** It happened at that time or before: it was seen in the table, where only the last write has a time. */
  readonly isBy?: true
  readonly attempt?: number
  /** The name of the step, or why. */
  readonly detail?: string
  /** Who told it: a function's name. */
  readonly by?: string
}

/** The same several times in a row, as people want to read it. */
export interface Told extends Happening {
  readonly times: number
  /** When it happened last. */
  readonly lastMs: number
}

/** Puts what happened several times in a row into one: ten repetitions that were answered are one fact. */
export function told(happenings: readonly Happening[]): readonly Told[] {
  const all: Told[] = []
  for (const happening of happenings) {
    const last = all.at(-1)
    const isSame =
      last?.kind === happening.kind && last.attempt === happening.attempt && last.detail === happening.detail
    if (last !== undefined && isSame) all[all.length - 1] = { ...last, times: last.times + 1, lastMs: happening.atMs }
    else all.push({ ...happening, times: 1, lastMs: happening.atMs })
  }
  return all
}
