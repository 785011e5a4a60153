import { InvalidOptionError, isLambdaOnceError } from '../base/errors.ts'
import { secondsOption, show } from '../base/guards.ts'
import type { RetryVerdict } from './policy.ts'
import { retryAfterMs } from './retry-after.ts'

/** What a failure means for the next attempt. */
export type Verdict =
  | { readonly kind: 'final' }
  /** It may pass; `atLeastMs` is what the other side asked to wait. */
  | { readonly kind: 'passing'; readonly atLeastMs: number }

/** What is known when a failure is judged. */
export interface FailureContext {
  readonly nowMs: number
  /** Whether the time limit of the attempt, and not the caller, aborted it. */
  readonly timedOut: boolean
}

const FINAL: Verdict = { kind: 'final' }
const PASSING: Verdict = { kind: 'passing', atLeastMs: 0 }

/** Gateways that did not get through, and servers that ask to come again. 500 may be a bug, and any other 4xx is one. */
const PASSING_STATUSES: readonly number[] = [429, 502, 503, 504]
/** The statuses with which RFC 9110 and RFC 6585 give a `Retry-After` the meaning "not before". */
const MAY_NAME_A_TIME: readonly number[] = [429, 503]

/** Connections that broke, timed out or were refused, as Node, undici and axios name them. */
const PASSING_CODES: readonly string[] = [
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EPIPE',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]

/** `fetch failed` hides the socket's error one level down, a client of your own perhaps one more. */
const DEEPEST_CAUSE = 5

/** What an HTTP status means. */
export function verdictOfStatus(status: number, header: (name: string) => unknown, nowMs: number): Verdict {
  if (!PASSING_STATUSES.includes(status)) return FINAL
  if (!MAY_NAME_A_TIME.includes(status)) return PASSING
  const text = (name: string): string | undefined => {
    const value = header(name)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
  const atLeastMs = retryAfterMs({ retryAfter: text('retry-after'), date: text('date') }, nowMs)
  return atLeastMs === undefined ? PASSING : { kind: 'passing', atLeastMs }
}

/** What a thrown error means: its HTTP status where it has one, else what broke. */
export function verdictOfError(error: unknown, { nowMs, timedOut }: FailureContext): Verdict {
  let current = error
  for (let depth = 0; depth < DEEPEST_CAUSE && typeof current === 'object' && current !== null; depth++) {
    // RetryLater, NoEffectError, PermanentError … are said to the engine, and a RetryError has been retried already.
    if (isLambdaOnceError(current)) return FINAL
    const status = statusOf(current)
    if (status !== undefined) return verdictOfStatus(status, headerReader(current), nowMs)
    const name = field(current, 'name')
    if (name === 'TimeoutError') return PASSING
    if (name === 'AbortError') return timedOut ? PASSING : FINAL
    const code = field(current, 'code')
    if (typeof code === 'string' && PASSING_CODES.includes(code)) return PASSING
    current = field(current, 'cause')
  }
  return FINAL
}

/** What the user's own classifier said. */
export function verdictOfUser(said: Exclude<RetryVerdict, undefined>): Verdict {
  if (said === 'retry') return PASSING
  if (said === 'stop') return FINAL
  const seconds = secondsOption('retryAfterSeconds', field(said, 'retryAfterSeconds'), 0)
  if (seconds !== undefined) return { kind: 'passing', atLeastMs: seconds * 1000 }
  throw new InvalidOptionError(
    `classify must answer "retry", "stop", { retryAfterSeconds } or undefined; got ${show(said)}.`,
  )
}

/** Where the usual clients keep the status: fetch wrappers and http-errors, axios, the AWS SDK. */
function statusOf(error: object): number | undefined {
  const places = [
    field(error, 'status'),
    field(error, 'statusCode'),
    field(field(error, 'response'), 'status'),
    field(field(error, '$metadata'), 'httpStatusCode'),
  ]
  return places.find((status) => typeof status === 'number')
}

function headerReader(error: object): (name: string) => unknown {
  const holders = [error, field(error, 'response'), field(error, '$response')]
  const headers = holders.map((holder) => field(holder, 'headers')).find((found) => typeof found === 'object')
  const get = field(headers, 'get')
  if (typeof get === 'function') return (name) => get.call(headers, name)
  return (name) => Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1]
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
