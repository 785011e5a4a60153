import { InvalidOptionError } from '../base/errors.ts'
import { functionOption, refusePromise } from '../base/guards.ts'
import { type Reading, runAttempts } from './attempts.ts'
import { verdictOfError, verdictOfStatus } from './failure.ts'
import { POLICY_OPTIONS, type RetryPolicy, type RetrySettings, resolvePolicy } from './policy.ts'

type Fetch = typeof globalThis.fetch
type FetchInput = Parameters<Fetch>[0]
type FetchInit = NonNullable<Parameters<Fetch>[1]>

/** What is known of a request before it is sent. */
export interface RequestHead {
  /** In capitals. */
  readonly method: string
  readonly headers: Headers
}

/** A {@link RetryPolicy}, and what is particular to HTTP. */
export interface RetryingFetchPolicy extends RetryPolicy {
  /**
   * Whether sending the request twice is as good as sending it once.
   * @defaultValue idempotent methods (RFC 9110: GET, HEAD, OPTIONS, PUT, DELETE), and whatever carries an
   * `Idempotency-Key` header
   */
  readonly isRepeatable?: (request: RequestHead) => boolean
  /** @defaultValue the global `fetch` */
  readonly fetch?: Fetch
}

const IDEMPOTENT_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']

const READING: Reading<Response> = {
  failureOf(outcome) {
    if (outcome.kind === 'error') return { failure: outcome.error, listed: outcome.error }
    const { status, statusText } = outcome.value
    if (status < 400) return undefined
    return { failure: outcome.value, listed: new Error(`HTTP ${status} ${statusText}`.trimEnd()) }
  },
  verdictOf: (failure, context) =>
    failure instanceof Response
      ? verdictOfStatus(failure.status, (name) => failure.headers.get(name), context.nowMs)
      : verdictOfError(failure, context),
  // An unread body keeps its connection busy.
  discard: async ({ body }) => {
    await body?.cancel().catch(() => undefined)
  },
}

/**
 * A `fetch` that repeats what is safe to repeat. When it gives up over a response, it returns that response as `fetch`
 * does; over an error, it throws a {@link RetryError}. Time limits cover the time until the response's head is there.
 *
 * @throws InvalidOptionError when the policy is wrong; the returned function, when a request that may be repeated has
 * a body that cannot
 *
 * @example
 * const fetch = retryingFetch({ maxAttempts: 4, budget: providerBudget })
 */
export function retryingFetch(policy: RetryingFetchPolicy = {}): Fetch {
  const settings = resolvePolicy('retryingFetch', policy, [...POLICY_OPTIONS, 'isRepeatable', 'fetch'])
  const isRepeatable = functionOption('isRepeatable', policy.isRepeatable) ?? isIdempotent
  const given = functionOption('fetch', policy.fetch)

  return async (input: FetchInput, init?: FetchInit) => {
    const mayRepeat = isRepeatable(headOf(input, init))
    refusePromise('isRepeatable', [mayRepeat])
    const maxAttempts = mayRepeat ? settings.maxAttempts : 1
    if (maxAttempts > 1) refuseStream(input, init)
    const call: RetrySettings = { ...settings, maxAttempts, signal: signalOf(settings, input, init) }
    const send = given ?? globalThis.fetch
    return runAttempts(call, ({ signal }) => send(input, { ...init, signal }), READING)
  }
}

function isIdempotent({ method, headers }: RequestHead): boolean {
  return IDEMPOTENT_METHODS.includes(method) || (headers.get('idempotency-key') ?? '') !== ''
}

/** As `fetch` reads its arguments: what the second one names replaces what the request has. */
function headOf(input: FetchInput, init: FetchInit | undefined): RequestHead {
  const request = requestOf(input)
  return {
    method: (init?.method ?? request?.method ?? 'GET').toUpperCase(),
    headers: new Headers(init?.headers ?? request?.headers),
  }
}

function signalOf(settings: RetrySettings, input: FetchInput, init: FetchInit | undefined): AbortSignal | undefined {
  const own = init?.signal === undefined ? requestOf(input)?.signal : init.signal
  const signals = [settings.signal, own].filter((signal) => signal != null)
  return signals.length > 1 ? AbortSignal.any(signals) : signals[0]
}

/** A stream can be sent once; the body of a Request is always one. */
function refuseStream(input: FetchInput, init: FetchInit | undefined): void {
  const body = init?.body ?? requestOf(input)?.body
  if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body) {
    throw new InvalidOptionError(
      'retryingFetch cannot send a body twice that is a stream. Give fetch(url, init) a string, bytes, a Blob or a form as its body (of a Request: await request.arrayBuffer()), or use isRepeatable to send this request once.',
    )
  }
}

/** Known by its shape: the Request of another copy of undici is one too. */
function requestOf(input: FetchInput): Request | undefined {
  return typeof input === 'object' && 'method' in input ? input : undefined
}
