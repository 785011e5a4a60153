import { hash } from 'node:crypto'
import { InvalidKeyError, InvalidOptionError } from '../base/errors.ts'

/** What a key may be made of. An array is one key of several parts. */
export type KeyInput =
  | string
  | number
  | bigint
  | null
  | undefined
  | readonly (string | number | bigint | null | undefined)[]

/** Who asks: a tenant, a principal, a route. Parts never run into each other. */
export type Scope = string | readonly string[]

/** A key that was checked: a text that is not blank, or a list of them. */
export type Key = string | readonly string[]

/** The longest key, in UTF-8 bytes. */
export const MAX_KEY_BYTES = 255

/**
 * The key with numbers as texts, or `undefined` when there is none: nothing, an empty or blank string,
 * an empty array, or an array in which any part is missing.
 *
 * @throws InvalidKeyError when the key is of another type, too long, or no valid Unicode (two different
 * ill-formed keys would hash alike).
 */
export function normalizeKey(input: unknown): Key | undefined {
  const key = Array.isArray(input) ? keyParts(input) : keyPart(input)
  if (key === undefined) return undefined
  const bytes = Buffer.byteLength(writtenKey(key))
  if (bytes > MAX_KEY_BYTES) {
    throw new InvalidKeyError(`The idempotency key is ${bytes} bytes long; at most ${MAX_KEY_BYTES} are allowed.`)
  }
  return key
}

/** The key as people read it. A list looks like the text of its JSON here, and only here. */
export function writtenKey(key: Key): string {
  return typeof key === 'string' ? key : JSON.stringify(key)
}

function keyParts(parts: readonly unknown[]): readonly string[] | undefined {
  const texts: string[] = []
  for (const part of parts) {
    const text = keyPart(part)
    if (text === undefined) return undefined
    texts.push(text)
  }
  return texts.length === 0 ? undefined : texts
}

function keyPart(input: unknown): string | undefined {
  if (input === undefined || input === null) return undefined
  if (Number.isInteger(input) && !Number.isSafeInteger(input)) {
    throw new InvalidKeyError(
      'The idempotency key is a number beyond 2^53, which has lost digits: its neighbours would have the same key. Give it as a text or a bigint.',
    )
  }
  if (typeof input === 'bigint' || (typeof input === 'number' && Number.isFinite(input))) return String(input)
  if (typeof input !== 'string') {
    const got = typeof input === 'number' ? String(input) : Array.isArray(input) ? 'an array in an array' : typeof input
    throw new InvalidKeyError(`An idempotency key is a string, a number or an array of these; got ${got}.`)
  }
  if (!input.isWellFormed()) throw new InvalidKeyError('The idempotency key is not valid Unicode (a lone surrogate).')
  return input.trim() === '' ? undefined : input
}

/** The scope as a list of parts. */
export function normalizeScope(scope: Scope | undefined): readonly string[] {
  const parts: readonly unknown[] = scope === undefined ? [] : typeof scope === 'string' ? [scope] : scope
  return parts.map((part, index) => {
    if (typeof part === 'string' && part.isWellFormed()) return part
    throw new InvalidOptionError(
      `scope[${index}] must be a string of valid Unicode; got ${typeof part === 'string' ? 'a lone surrogate' : typeof part}.`,
    )
  })
}

/**
 * The operation's id, under which its record lies: the namespace in clear, then a SHA-256 of all parts.
 * Each part goes in behind its length, so that `["a|b","c"]` and `["a","b|c"]` differ, and no key is ever
 * too long for DynamoDB. A list ends with an empty part, as no text does, so that `["a"]` and `'["a"]'` differ, too.
 */
export function operationId(namespace: string, scope: readonly string[], key: Key): string {
  const parts = typeof key === 'string' ? [key] : [writtenKey(key), '']
  return `${namespace}#${hashOfParts([namespace, ...scope, ...parts])}`
}

/** SHA-256 over length-prefixed parts, base64url. */
export function hashOfParts(parts: readonly string[]): string {
  const text = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('')
  return hash('sha256', text, 'base64url')
}

/**
 * What users fence their own tables and messages with: a string that sorts later for every later claim of the
 * operation. The attempt alone would not do, it restarts at 1 after expiry or release.
 */
export function fenceOf(record: { readonly createdAtMs: number; readonly attempt: number }): string {
  return `${String(record.createdAtMs).padStart(15, '0')}.${String(record.attempt).padStart(8, '0')}`
}
