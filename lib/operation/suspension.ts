import { InvalidOptionError } from '../base/errors.ts'
import { refuseUnknown, secondsOption, show, YEAR_SECONDS } from '../base/guards.ts'

const BRAND: unique symbol = Symbol.for('lambda-once.suspension')

/** What a handler returns to be continued later. Made by `operation.delay` and `operation.wait`. */
export interface Suspension {
  readonly [BRAND]: true
  /** When the operation is due, in ms. Absent: when a signal comes. */
  readonly resumeAtMs?: number
  /** Whether that time had come already when the suspension was made. Returned all the same, it continues at once. */
  readonly isDue: boolean
  /** What is waited for, in words. */
  readonly why?: string
}

/** How long to wait: seconds from now, or until a time. At most a year. */
export type DelayUntil = { readonly seconds: number } | { readonly until: Date }

/** The longest note on what is waited for. */
const MAX_WHY_LENGTH = 200

/** @throws InvalidOptionError naming what is wrong */
export function delayUntil(when: DelayUntil, why: string | undefined, nowMs: number): Suspension {
  const resumeAtMs = timeOf(when, nowMs)
  return Object.freeze({ [BRAND]: true as const, resumeAtMs, isDue: resumeAtMs <= nowMs, ...checkedWhy('delay', why) })
}

/** @throws InvalidOptionError naming what is wrong */
export function waitForSignal(why: string | undefined): Suspension {
  return Object.freeze({ [BRAND]: true as const, isDue: false, ...checkedWhy('wait', why) })
}

export function isSuspension(value: unknown): value is Suspension {
  return typeof value === 'object' && value !== null && BRAND in value
}

function timeOf(when: DelayUntil, nowMs: number): number {
  if (typeof when !== 'object' || when === null) {
    throw new InvalidOptionError(`delay(when): when must be { seconds } or { until: Date }; got ${show(when)}.`)
  }
  refuseUnknown('delay', when, ['seconds', 'until'])
  if ('until' in when) {
    const atMs: unknown = when.until instanceof Date ? when.until.getTime() : undefined
    if (typeof atMs !== 'number' || !(atMs <= nowMs + YEAR_SECONDS * 1000)) {
      throw new InvalidOptionError(
        `delay({ until }): until must be a Date, at most a year ahead; got ${show(when.until)}.`,
      )
    }
    return Math.ceil(atMs)
  }
  const seconds = secondsOption('delay({ seconds })', when.seconds, 0)
  if (seconds === undefined) throw new InvalidOptionError('delay(when): when must be { seconds } or { until: Date }.')
  return Math.ceil(nowMs + seconds * 1000)
}

function checkedWhy(of: string, why: string | undefined): { readonly why?: string } {
  if (why === undefined) return {}
  if (typeof why === 'string' && why.isWellFormed() && why.length <= MAX_WHY_LENGTH) return { why }
  throw new InvalidOptionError(
    `${of}(…, why): why must be a text of at most ${MAX_WHY_LENGTH} characters; got ${show(why)}.`,
  )
}
