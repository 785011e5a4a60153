/** Every code a `LambdaOnceError` can have. */
export type ErrorCode =
  | 'INVALID_OPTION'
  | 'INVALID_INPUT'
  | 'INVALID_EVENT'
  | 'MISSING_KEY'
  | 'INVALID_KEY'
  | 'MISMATCH'
  | 'IN_PROGRESS'
  | 'WAITING'
  | 'UNKNOWN_OUTCOME'
  | 'OPERATION_FAILED'
  | 'OUTCOME_UNSTORABLE'
  | 'OUTCOME_NOT_RECORDED'
  | 'OUTCOME_LOST'
  | 'OUTCOME_UNREADABLE'
  | 'LEASE_LOST'
  | 'STEP_NOT_AWAITED'
  | 'STORE'
  | 'STORE_UNAVAILABLE'
  | 'COMMIT_CONFLICT'
  | 'COMMITTED_OTHERWISE'
  | 'RETRY_LATER'
  | 'NO_EFFECT'
  | 'PERMANENT'
  | 'RETRY_GAVE_UP'
  | 'CONDITION_FAILED'
  | 'VERSION_TYPE'

const BRAND: unique symbol = Symbol.for('lambda-once.error')

/**
 * The base of every error of this package. Tell them apart by `code`, or with {@link isLambdaOnceError}:
 * `instanceof` fails as soon as a bundle holds two copies of the package.
 */
export class LambdaOnceError extends Error {
  readonly code: ErrorCode
  /** Whether the same call may succeed later. */
  readonly retryable: boolean

  constructor(code: ErrorCode, message: string, options: ErrorOptions & { readonly retryable?: boolean } = {}) {
    super(message, options)
    // Minifiers rename classes, and what Lambda logs and alarms look for is the name.
    this.name = `${code.toLowerCase().replace(/(?:^|_)(.)/g, (_part, letter: string) => letter.toUpperCase())}Error`
    this.code = code
    this.retryable = options.retryable ?? false
    Object.defineProperty(this, BRAND, { value: true })
  }
}

/** Whether `error` is one of this package's errors (of any copy of it), optionally with this code. */
export function isLambdaOnceError(error: unknown, code?: ErrorCode): error is LambdaOnceError {
  if (typeof error !== 'object' || error === null || !(BRAND in error)) return false
  return code === undefined || ('code' in error && error.code === code)
}

/** An option is wrong. Names the option, what was expected and what came. */
export class InvalidOptionError extends LambdaOnceError {
  constructor(message: string) {
    super('INVALID_OPTION', message)
  }
}

/** An input cannot be fingerprinted. Names the path of the bad value. */
export class InvalidInputError extends LambdaOnceError {
  constructor(message: string) {
    super('INVALID_INPUT', message)
  }
}

/** The event is not of the kind the middleware serves, or lacks what an answer needs. */
export class InvalidEventError extends LambdaOnceError {
  constructor(message: string) {
    super('INVALID_EVENT', message)
  }
}

/** No idempotency key came where one is required. Nothing was claimed. */
export class MissingKeyError extends LambdaOnceError {
  constructor(message: string) {
    super('MISSING_KEY', message)
  }
}

/** A key came that cannot be one: malformed, too long, ambiguous. Nothing was claimed. */
export class InvalidKeyError extends LambdaOnceError {
  constructor(message: string) {
    super('INVALID_KEY', message)
  }
}

/** The same key was used before with another request. The stored record is untouched. */
export class MismatchError extends LambdaOnceError {
  constructor() {
    super(
      'MISMATCH',
      'The idempotency key was used before with a different request. Use a new key for a new operation, or repeat the first request unchanged.',
    )
  }
}

/** Another execution of the operation is running. */
export class InProgressError extends LambdaOnceError {
  /** Seconds until the running execution's lease ends, at least 1. Absent: no time is known. */
  readonly retryAfterSeconds?: number

  constructor(retryAfterSeconds?: number) {
    super('IN_PROGRESS', 'The operation is still in progress. Repeat the same request later.', { retryable: true })
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The operation is suspended until its time comes or a signal arrives. */
export class WaitingError extends LambdaOnceError {
  /** Seconds until the operation is due, at least 1. Absent: it waits for a signal. */
  readonly retryAfterSeconds?: number

  constructor(retryAfterSeconds?: number) {
    super('WAITING', 'The operation is waiting and will be continued. Nothing needs to be done.', { retryable: true })
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds
  }
}

/** An effect of the operation was begun and nobody knows whether it happened. Running it again is not safe. */
export class UnknownOutcomeError extends LambdaOnceError {
  constructor() {
    super(
      'UNKNOWN_OUTCOME',
      'The outcome of the operation is unknown. An operator has to settle it; it is not run again.',
    )
  }
}

/** The operation failed for good before; this is its stored failure. The handler was not run again. */
export class OperationFailedError extends LambdaOnceError {
  constructor(failure: { readonly name: string; readonly message: string; readonly code?: string }) {
    super('OPERATION_FAILED', `The operation failed before and is not run again: ${failure.name}: ${failure.message}`, {
      cause: failure,
    })
  }
}

/** A value cannot be stored: not encodable (the message names the path) or too large even in parts. */
export class OutcomeUnstorableError extends LambdaOnceError {
  constructor(message: string, options?: ErrorOptions) {
    super('OUTCOME_UNSTORABLE', message, options)
  }
}

/** The work succeeded, but its outcome could not be recorded before the deadline. The lease is the backstop. */
export class OutcomeNotRecordedError extends LambdaOnceError {
  /** What the work returned. */
  readonly value: unknown

  constructor(value: unknown, cause: unknown) {
    super(
      'OUTCOME_NOT_RECORDED',
      'The operation ran, but its outcome could not be recorded. It stays in progress until its lease ends; a later delivery then takes over.',
      { cause },
    )
    this.value = value
  }
}

/** A stored outcome is there, but pieces of it are missing or damaged. It is neither replayed nor run again. */
export class OutcomeLostError extends LambdaOnceError {
  constructor(message: string, options?: ErrorOptions) {
    super('OUTCOME_LOST', message, options)
  }
}

/**
 * A stored value is there and whole, and its codec cannot decode it, or there is no codec of that name. `retryable`: it
 * may be readable later. It is neither replayed nor run again meanwhile.
 */
export class OutcomeUnreadableError extends LambdaOnceError {
  constructor(message: string, options: ErrorOptions & { readonly retryable: boolean }) {
    super('OUTCOME_UNREADABLE', message, options)
  }
}

/** This execution no longer owns its operation: another one took over, or the record is gone. Nothing was written. */
export class LeaseLostError extends LambdaOnceError {
  constructor(
    message = 'The lease of this execution is over and another one may have taken over. Nothing was written.',
  ) {
    super('LEASE_LOST', message)
  }
}

/** The work has returned while a step of it still runs, so it cannot know what the step came to. */
export class StepNotAwaitedError extends LambdaOnceError {
  constructor(names: readonly string[]) {
    const list = names.map((name) => `"${name}"`).join(', ')
    super('STEP_NOT_AWAITED', `The work returned, but step ${list} was not awaited. Await every step before returning.`)
  }
}

/** The condition of one of your own writes in a commit did not hold. Nothing was written; the operation is still open. */
export class CommitConflictError extends LambdaOnceError {
  /** The write's place in `writes`. */
  readonly index: number
  /** The item that stood against it; `undefined` when there is none. */
  readonly item: Readonly<Record<string, unknown>> | undefined
  /** Whether the item has the same or a newer version, and `onStale: 'fail'` was asked for. */
  readonly isStale: boolean

  constructor({ index, item, isStale }: { index: number; item?: Readonly<Record<string, unknown>>; isStale: boolean }) {
    const why = isStale ? 'the item has this version or a newer one' : 'its condition did not hold'
    super('COMMIT_CONFLICT', `writes[${index}] was refused: ${why}. Nothing of the commit was written.`)
    this.index = index
    this.item = item
    this.isStale = isStale
  }
}

/** The work committed one value and returned another. The committed one stands and is answered to every repetition. */
export class CommittedOtherwiseError extends LambdaOnceError {
  constructor() {
    super(
      'COMMITTED_OTHERWISE',
      'The work returned another value than the one it committed, which stands. Return what commit() answered, or nothing.',
    )
  }
}

/** A store call failed. `retryable` is false when the store refused the call and certainly wrote nothing. */
export class StoreError extends LambdaOnceError {
  constructor(message: string, options: ErrorOptions & { readonly retryable: boolean }) {
    super('STORE', message, options)
  }
}

/** The store cannot be reached, so nothing was run or admitted (fail closed). */
export class StoreUnavailableError extends LambdaOnceError {
  constructor(cause: unknown) {
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    super('STORE_UNAVAILABLE', `The idempotency store cannot be used, so nothing was done${why}`, {
      cause,
      retryable: !isLambdaOnceError(cause) || cause.retryable,
    })
  }
}

/** Throw it from a handler to say: try again later, running it again is safe. Finished steps are kept. */
export class RetryLater extends LambdaOnceError {
  constructor(message = 'Try again later.', options?: ErrorOptions) {
    super('RETRY_LATER', message, { ...options, retryable: true })
    this.name = 'RetryLater'
  }
}

/** Throw it from a handler to say: nothing has happened. The key is released and a corrected request may use it. */
export class NoEffectError extends LambdaOnceError {
  constructor(message = 'Nothing has happened.', options?: ErrorOptions) {
    super('NO_EFFECT', message, { ...options, retryable: true })
  }
}

/** Throw it from a handler to say: this failed for good. The failure is stored and answered to every repetition. */
export class PermanentError extends LambdaOnceError {
  constructor(message: string, options?: ErrorOptions) {
    super('PERMANENT', message, options)
  }
}
