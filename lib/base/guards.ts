import { InvalidOptionError } from './errors.ts'

/** The longest time any option may name, in seconds. */
export const YEAR_SECONDS = 31_622_400

/** A number of seconds, or `undefined` when the option is not given. */
export function secondsOption(name: string, value: unknown, low: number): number | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value < low) {
    throw new InvalidOptionError(`${name} must be a number of seconds, at least ${low}; got ${show(value)}.`)
  }
  if (value > YEAR_SECONDS) {
    throw new InvalidOptionError(
      `${name} is in seconds and must be at most a year (${YEAR_SECONDS}); got ${value}, which looks like milliseconds. Did you mean ${value / 1000}?`,
    )
  }
  return value
}

/** A whole number within bounds, or `undefined` when the option is not given. */
export function integerOption(name: string, value: unknown, low: number, high: number): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value
  throw new InvalidOptionError(`${name} must be a whole number from ${low} to ${high}; got ${show(value)}.`)
}

/** One of a few words, or `undefined` when the option is not given. */
export function oneOf<T extends string>(name: string, value: T | undefined, allowed: readonly T[]): T | undefined {
  if (value === undefined || allowed.includes(value)) return value
  throw new InvalidOptionError(
    `${name} must be ${allowed.map((word) => `"${word}"`).join(' or ')}; got ${show(value)}.`,
  )
}

/** `true` or `false`, or `undefined` when the option is not given. */
export function booleanOption(name: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  throw new InvalidOptionError(`${name} must be true or false; got ${show(value)}.`)
}

/** A function, or `undefined` when the option is not given. */
export function functionOption<F>(name: string, value: F | undefined): F | undefined {
  if (value === undefined || typeof value === 'function') return value
  throw new InvalidOptionError(`${name} must be a function; got ${show(value)}.`)
}

/**
 * Refuses what an async function gave where its value is needed at once. TypeScript takes one wherever a result of any
 * type will do, and a promise is the same value for every request.
 */
export function refusePromise(option: string, values: readonly unknown[]): void {
  const promises = values.filter(isPromise)
  if (promises.length === 0) return
  // Nobody else looks at them, and a rejection that nobody handles ends the process.
  for (const promise of promises) promise.then(undefined, () => undefined)
  throw new InvalidOptionError(
    `${option} must be known at once; got a promise. It may not be an async function: await what it needs before.`,
  )
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function'
}

/**
 * Refuses what is no object of options, and a misspelt option: silently ignored, it would leave somebody unprotected
 * who thinks he is.
 */
export function refuseUnknown(of: string, options: unknown, known: readonly string[]): void {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options)
  const unknown = isObject ? Object.keys(options).find((name) => !known.includes(name)) : undefined
  if (isObject && unknown === undefined) return
  const wrong = isObject ? `has no option "${unknown}"` : `expects an options object; got ${show(options)}`
  throw new InvalidOptionError(`${of} ${wrong}. It takes: ${known.join(', ')}.`)
}

/** A value as an error message shows it: short, and without the contents of objects. */
export function show(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `"${value.slice(0, 57)}…"` : `"${value}"`
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'function') return 'a function'
  return String(value)
}

/** What kind of value it is, without any of it: what comes with an event may be a secret. */
export function kindOf(value: unknown): string {
  return typeof value === 'string' ? 'a text' : show(value)
}
