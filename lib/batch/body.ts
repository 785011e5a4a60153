import { InvalidEventError, isLambdaOnceError } from '../base/errors.ts'
import { refusePromise } from '../base/guards.ts'
import type { Rejection } from '../base/ports.ts'
import { pathsOf } from '../base/schema.ts'
import type { BatchSettings } from './settings.ts'

/** What was read of a record, or why it could not be. */
export type Reading<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'refused'; readonly why: Rejection; readonly error: unknown }

/**
 * The body, parsed and validated. A parser's own message quotes the body, which must not get into a log, so what is said
 * is said here, or by an InvalidEventError.
 *
 * @throws InvalidOptionError when the parser is async: that says nothing of the body
 */
export async function readBody<B, R>(
  { schema, parse }: BatchSettings<B, R>,
  record: R,
  text: string,
): Promise<Reading<B>> {
  let parsed: unknown
  try {
    parsed = parse(text, record)
  } catch (error) {
    return isLambdaOnceError(error, 'INVALID_EVENT')
      ? { kind: 'refused', why: 'poison', error }
      : poison('The body cannot be parsed.')
  }
  refusePromise('parse', [parsed])
  // Without a schema the body's type is what the user says of the parser.
  if (schema === undefined) return { kind: 'read', value: parsed as B }
  try {
    const result = await schema['~standard'].validate(parsed)
    return result.issues === undefined
      ? { kind: 'read', value: result.value }
      : poison(`The body does not match the schema at ${pathsOf(result.issues)}.`)
  } catch (error) {
    return { kind: 'refused', why: 'schema', error }
  }
}

export function poison(message: string): Extract<Reading<never>, { kind: 'refused' }> {
  return { kind: 'refused', why: 'poison', error: new InvalidEventError(message) }
}
