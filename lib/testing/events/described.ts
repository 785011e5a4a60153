import { InvalidOptionError } from '../../base/errors.ts'
import { refuseUnknown, show } from '../../base/guards.ts'

/** @throws InvalidOptionError when a record is described by something else than an object of these names */
export function checkDescribed(of: string, described: unknown, names: readonly string[]): void {
  if (typeof described !== 'object' || described === null) {
    throw new InvalidOptionError(`${of} takes objects such as { ${names[0]}: … }; got ${show(described)}.`)
  }
  refuseUnknown(`what ${of} takes`, described, names)
}

/** Text is sent as it is, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Text and JSON as bytes, bytes as they are, all of it in base64. */
export function base64Of(value: unknown): string {
  return Buffer.from(value instanceof Uint8Array ? value : textOf(value)).toString('base64')
}
