import { isLambdaOnceError } from '../base/errors.ts'

/** What becomes of an operation whose work threw. */
export type Disposition =
  /** Forget it: nothing has happened, and a corrected request may use the key. Degrades where that is not sure. */
  | 'release'
  /** Give the lease up and keep the steps; the next delivery takes over at once. */
  | 'resume'
  /** Store the failure; every repetition gets it, nothing runs again. */
  | 'fail'
  /** Nobody knows whether an effect happened: never run again, until an operator or a probe has settled it. */
  | 'unknown'
  /** Write nothing: somebody may still be working. The lease is the backstop. */
  | 'keep'

/** Where the handler's caller stands: over HTTP a failure is an answer, for a queue it means "deliver again". */
export type Contract = 'answer' | 'retry'

/** What is known when an error has to be understood. */
export interface ErrorContext {
  readonly contract: Contract
  /** Whether the wrapped function was entered. */
  readonly entered: boolean
  /** Whether it came out of a step that is not recorded: the step's own means make a repetition safe. */
  readonly fromStep?: boolean
  /** `steps-only` declares that everything the handler does is in steps or is safe to repeat. */
  readonly effects: 'anywhere' | 'steps-only'
}

/** What an error thrown out of the work means, unless the user's `onError` says otherwise. */
export function meaningOfError(error: unknown, context: ErrorContext): Disposition {
  if (isMiddyTimeout(error)) return 'keep'
  if (!context.entered || isRefusedByMiddy(error)) return 'release'
  if (isLambdaOnceError(error)) {
    if (error.code === 'NO_EFFECT') return 'release'
    if (error.code === 'RETRY_LATER') return 'resume'
    if (error.code === 'PERMANENT' || error.code === 'OUTCOME_UNSTORABLE') return 'fail'
    if (error.code === 'OUTCOME_NOT_RECORDED') return 'keep'
  }
  if (context.fromStep) return 'resume'
  return context.contract === 'retry' || context.effects === 'steps-only' ? 'resume' : 'fail'
}

/** Middy's early timeout rejects while the handler is still running, so nothing is known of its effects. */
export function isMiddyTimeout(error: unknown): boolean {
  return nameOf(error) === 'TimeoutError' && packageOf(error) === '@middy/core'
}

/** A validator's or parser's 4xx, which Middy's packages throw in `before`: the handler was certainly not entered. */
export function isRefusedByMiddy(error: unknown): boolean {
  const status = fieldOf(error, 'statusCode')
  return (
    typeof status === 'number' && status >= 400 && status < 500 && (packageOf(error)?.startsWith('@middy/') ?? false)
  )
}

function packageOf(error: unknown): string | undefined {
  const name = fieldOf(fieldOf(error, 'cause'), 'package')
  return typeof name === 'string' ? name : undefined
}

function nameOf(error: unknown): unknown {
  return fieldOf(error, 'name')
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** What an execution has left behind when it is to end. */
export interface Traces {
  readonly attempt: number
  /** Whether a step was recorded, in this attempt or an earlier one, or tried in this one. */
  readonly hasSteps: boolean
  /** Whether a step had its effect, and the store could not be told. */
  readonly isUnrecorded: boolean
}

/**
 * Release is possible only while it is certain that no attempt can have left anything behind: in attempt 1
 * without steps. Elsewhere it becomes a resumption when there are steps to resume from, else `otherwise`.
 * After a step that is done and not recorded the lease is not given up: it keeps the effect from being repeated at once.
 */
export function permittedDisposition(
  wished: Disposition,
  { attempt, hasSteps, isUnrecorded }: Traces,
  otherwise: 'fail' | 'resume' = 'fail',
): Disposition {
  const permitted = wished !== 'release' || (attempt === 1 && !hasSteps) ? wished : hasSteps ? 'resume' : otherwise
  return isUnrecorded && (permitted === 'release' || permitted === 'resume') ? 'keep' : permitted
}
