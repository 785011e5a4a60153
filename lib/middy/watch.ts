import { isRefusedByMiddy } from '../record/disposition.ts'

/** What happened to a Middy request since it was watched. */
export interface Watched {
  /** What was thrown, before any error middleware put something else in its place. */
  readonly firstError: unknown
  /** What the handler returned, before any middleware changed it. */
  readonly returned: unknown
  /** Whether the handler has returned a response, with no error before it. */
  readonly hasReturned: boolean
}

const watched = new WeakMap<object, Watched>()

/**
 * Watches a request of Middy. By the time the outermost `onError` runs, Middy has cleared `response`, and
 * http-error-handler has replaced any error without a status by a general one: neither a time-out nor a
 * `RetryLater` could be told from it.
 */
export function watch(request: { error?: unknown; response?: unknown }): Watched {
  const there = watched.get(request)
  if (there !== undefined) return there
  const seen = { firstError: undefined as unknown, returned: undefined as unknown, hasReturned: false }
  let hasFailed = false
  onSet(request, 'error', (error) => {
    if (!hasFailed) seen.firstError = error
    hasFailed = true
  })
  onSet(request, 'response', (response) => {
    // After an error it is what error middlewares answer.
    if (hasFailed || response === undefined || seen.hasReturned) return
    seen.hasReturned = true
    seen.returned = response
  })
  watched.set(request, seen)
  return seen
}

function onSet<K extends string>(target: { [name in K]?: unknown }, name: K, see: (value: unknown) => void): void {
  let value = target[name]
  Object.defineProperty(target, name, {
    get: () => value,
    set(next: unknown) {
      value = next
      see(next)
    },
    enumerable: true,
    configurable: true,
  })
}

/**
 * An error as it counts once the handler has returned. A 4xx of Middy's own packages means "the handler was never
 * entered" and would release the key; thrown by an `after` hook it follows whatever the handler did.
 */
export function afterReturn(error: unknown): unknown {
  if (!isRefusedByMiddy(error)) return error
  return new Error('A middleware failed after the handler had returned.', { cause: error })
}
