import type { OperationRecord } from '../../record/record.ts'
import type { Happening, HappeningKind } from './happening.ts'

/** One attempt, as far as it is known. */
export interface Attempt {
  readonly number: number
  readonly beganAtMs?: number
  readonly endedAtMs?: number
  /** How it ended; `running`: it has not. `without a word`: the next one took over. */
  readonly end: HappeningKind | 'running' | 'without a word' | 'not known'
  /** The function that ran it, where somebody has told. */
  readonly by?: string
}

/** What begins an attempt. */
export const BEGINNINGS: readonly HappeningKind[] = ['claimed', 'taken-over', 'resumed']
/** What ends one, for whoever ran it. */
export const ENDINGS: readonly HappeningKind[] = [
  'completed',
  'failed',
  'resumable',
  'released',
  'suspended',
  'unknown',
  'killed',
  'lease-lost',
]

/** The attempts of an operation, from what was seen of it. Of earlier ones the table knows only that there were some. */
export function attemptsOf({ attempt, status }: OperationRecord, story: readonly Happening[]): readonly Attempt[] {
  // A key that was released or has expired begins anew at 1: what was seen before belongs to another claim.
  const from = story.findLastIndex(({ kind }) => kind === 'claimed')
  const own = story.slice(Math.max(0, from))
  return Array.from({ length: attempt }, (_, index) => {
    const number = index + 1
    const of = (kinds: readonly HappeningKind[]) =>
      own.find((one) => one.attempt === number && kinds.includes(one.kind))
    const began = of(BEGINNINGS)
    const ended = of(ENDINGS)
    const isCurrent = number === attempt
    const isTakenOver = own.some((one) => one.attempt === number + 1 && one.kind === 'taken-over')
    return {
      number,
      ...(began !== undefined && !began.isBy && { beganAtMs: began.atMs }),
      ...(ended !== undefined && { endedAtMs: ended.atMs }),
      end:
        ended?.kind ??
        (isCurrent && status === 'IN_PROGRESS' ? 'running' : isTakenOver ? 'without a word' : 'not known'),
      ...(began?.by !== undefined && { by: began.by }),
    }
  })
}
