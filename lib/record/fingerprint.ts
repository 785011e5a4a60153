import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { InvalidInputError } from '../base/errors.ts'

/** The fingerprint of an operation whose caller asked for none: it equals every other. */
export const NO_FINGERPRINT = 'none'

/** Prefix of the fingerprints made here. It changes whenever the canonical form does. */
const VERSION = 'v1'

/**
 * Whether two fingerprints may belong to one request. A record or a caller without one leaves nothing to compare;
 * fingerprints of two versions cannot be compared and count as different, so that no answer is ever given away.
 */
export function isSameRequest(stored: string, asked: string): boolean {
  return stored === asked || stored === NO_FINGERPRINT || asked === NO_FINGERPRINT
}

/** SHA-256 of the bytes, as a versioned fingerprint. */
export function fingerprintOf(bytes: string | Uint8Array): string {
  return `${VERSION}:${hash('sha256', bytes, 'base64url')}`
}

/**
 * Fingerprint of any plain value: equal values give equal fingerprints whatever the order of their keys.
 *
 * Understands JSON values, `undefined`, `bigint`, `Date`, `Map`, `Set`, typed arrays and plain objects.
 *
 * @throws InvalidInputError naming the path of a value that has no canonical form.
 */
export function fingerprintValue(value: unknown): string {
  try {
    return fingerprintOf(canonicalText(canonicalForm(value, '$', new Set())))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new InvalidInputError('The input cannot be fingerprinted: it is nested too deeply.')
  }
}

/** RFC 8785 text of a form made of arrays, plain objects, tagged strings, numbers, booleans and null. */
export function canonicalText(form: unknown): string {
  const text = canonicalize(form)
  if (text === undefined) throw new InvalidInputError('The input has no canonical form.')
  return text
}

/**
 * Strings are tagged with `s`, so that no string can look like a value that JSON has no word for:
 * those become strings under other tags.
 */
function canonicalForm(value: unknown, path: string, open: Set<object>): unknown {
  switch (typeof value) {
    case 'string':
      return textForm(value)
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : `f${value}`
    case 'bigint':
      return `n${value}`
    case 'undefined':
      return 'u'
    case 'object':
      if (value === null) return null
      break
    default:
      throw new InvalidInputError(`The input cannot be fingerprinted: ${path} is a ${typeof value}.`)
  }
  if (open.has(value)) throw new InvalidInputError(`The input cannot be fingerprinted: ${path} refers to itself.`)
  open.add(value)
  const form = canonicalObject(value, path, open)
  open.delete(value)
  return form
}

function canonicalObject(value: object, path: string, open: Set<object>): unknown {
  if (Array.isArray(value)) return Array.from(value, (item, index) => canonicalForm(item, `${path}[${index}]`, open))
  if (value instanceof Date) return `d${value.getTime()}`
  if (ArrayBuffer.isView(value)) {
    return `b${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}`
  }
  // Texts begin with an s here, so that no list of the caller's begins with such a tag.
  if (value instanceof Map) {
    return ['#map', ...sorted([...value].map((entry) => canonicalForm(entry, `${path}<Map>`, open)))]
  }
  if (value instanceof Set) {
    return ['#set', ...sorted([...value].map((item) => canonicalForm(item, `${path}<Set>`, open)))]
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) {
    const name = value.constructor?.name ?? 'a class instance'
    throw new InvalidInputError(
      `The input cannot be fingerprinted: ${path} is an instance of ${name}. Give plain data, or choose the fields that matter.`,
    )
  }
  const form: Record<string, unknown> = {}
  let areWellFormed = true
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue
    areWellFormed &&= name.isWellFormed()
    const inner = canonicalForm(item, `${path}.${name}`, open)
    if (name !== '__proto__') form[name] = inner
    else Object.defineProperty(form, name, { value: inner, enumerable: true })
  }
  if (areWellFormed) return form
  return ['object', ...sorted(Object.entries(form).map(([name, inner]) => [textForm(name), inner]))]
}

/** RFC 8785 has no text for a lone surrogate, as one is left of an emoji that was cut in two; it counts by its escape. */
function textForm(text: string): string {
  return text.isWellFormed() ? `s${text}` : `e${JSON.stringify(text)}`
}

function sorted(forms: readonly unknown[]): unknown[] {
  return forms
    .map((form) => ({ form, text: canonicalText(form) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ form }) => form)
}
