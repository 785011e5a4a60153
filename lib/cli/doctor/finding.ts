/** What became of one examination. */
export type Level =
  | 'ok'
  /** Worth knowing, and neither good nor bad by itself. */
  | 'info'
  | 'warning'
  /** It has to be put right: something is lost, done twice, or refused. */
  | 'problem'
  /** It could not be examined. */
  | 'skipped'

/** One line of the doctor's report. */
export interface Finding {
  readonly id: string
  readonly level: Level
  /** What was found and, where something has to be done, what. */
  readonly text: string
}

/** Makes a finding. */
export function finding(id: string, level: Level, text: string): Finding {
  return { id, level, text }
}
