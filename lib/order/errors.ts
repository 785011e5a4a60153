import { LambdaOnceError } from '../base/errors.ts'
import type { ResolvedGuard } from './guard.ts'

/** Your own condition of a guarded write did not hold, while the order was right. Nothing was written. */
export class ConditionFailedError extends LambdaOnceError {
  /** The item that stood against it; `undefined` when there is none. */
  readonly item: Readonly<Record<string, unknown>> | undefined

  constructor(item: Readonly<Record<string, unknown>> | undefined, cause: unknown) {
    super(
      'CONDITION_FAILED',
      'The version is newer than the stored one, but the ConditionExpression of the write did not hold. Nothing was written.',
      { cause },
    )
    this.item = item
  }
}

/** The stored version and the guard's are of different types, so neither is newer. Nothing was written. */
export class VersionTypeError extends LambdaOnceError {
  constructor(attribute: string, stored: string, guard: string, cause?: unknown) {
    super(
      'VERSION_TYPE',
      `The stored attribute "${attribute}" is ${stored}, the guard's value is ${guard}: they cannot be put in order. Nothing was written. Use one type for all versions of an item.`,
      { cause },
    )
  }
}

/** What to throw when the stored version is not of the guard's type. */
export function versionTypeError(
  { attribute, value }: ResolvedGuard,
  stored: string,
  cause?: unknown,
): VersionTypeError {
  return new VersionTypeError(attribute, stored, typeof value === 'string' ? 'a string' : 'a number', cause)
}
