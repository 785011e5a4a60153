import { InvalidKeyError, InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import { fieldsOf, headerValues } from '../http/fields.ts'
import type { KeySelector } from './selector.ts'

/** What has headers: an HTTP request of any gateway. Either map may be missing. */
export interface WithHeaders {
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined
}

/**
 * A header, in any case, as it is written. (For `Idempotency-Key` in all its forms use the option `header`.)
 *
 * @throws InvalidOptionError when the name is none; the selector throws InvalidKeyError when the header comes with
 * different values
 */
export function header(name: string): KeySelector<WithHeaders> {
  if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
    throw new InvalidOptionError(`header(name) takes a header's name; got ${show(name)}.`)
  }
  return (event) => headerText(event, name)
}

/** @throws InvalidKeyError when the header comes with different values */
export function headerText(event: WithHeaders, name: string): string | undefined {
  const values = new Set(headerValues(fieldsOf(event), name).map((value) => value.trim()))
  if (values.size > 1) throw new InvalidKeyError(`The header ${name} is repeated with different values.`)
  const [value] = values
  return value
}
