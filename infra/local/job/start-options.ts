import type { PartName } from '../parts.ts'

/** What the service runs on. */
export type Whereabouts =
  | { readonly kind: 'processes'; readonly javaPath: string }
  /** Without Java: no DynamoDB, no processes to kill. */
  | { readonly kind: 'one-process'; readonly reason: string }

/** What `npm start` was asked for. */
export interface StartOptions {
  readonly root: string
  readonly logDirectory: string
  readonly where: Whereabouts
  /** A cloud assembly to run as it is; by default this project is synthesized. */
  readonly assemblyDirectory: string | undefined
  readonly orders: number
  readonly kills: number
  /** Whose processes the kills may hit. */
  readonly killParts: readonly PartName[]
  /** The period of schedules, instead of the template's. */
  readonly scheduleEverySeconds: number
  readonly seed: number
  readonly visibilitySeconds: number | undefined
  readonly serve: boolean
  /** The console of a served run may write, and may show stored values. */
  readonly consoleWrites: boolean
  readonly consoleValues: boolean
  readonly signal: AbortSignal
}
