import { isLambdaOnceError } from '../../base/errors.ts'
import type { KeyInput } from '../../record/identity.ts'

/** What the request says of its key. */
export type KeyReading =
  | { readonly kind: 'key'; readonly key: KeyInput }
  | { readonly kind: 'missing-key' }
  | { readonly kind: 'invalid-key'; readonly why: string }

/**
 * Reads the key from all values that came under its header. The quoted form (a string of RFC 8941, as the
 * Idempotency-Key draft has it) and the bare value that most clients send are the same key.
 *
 * A comma outside quotes separates repetitions: HTTP API joins repeated headers that way, and any proxy may
 * (RFC 9110, section 5.3). A key that holds a comma therefore has to be quoted.
 */
export function readKey(values: readonly string[]): KeyReading {
  const keys = new Set<string>()
  for (const value of values) {
    const members = membersOf(trimmed(value))
    if (members === undefined) return invalid('is neither a plain value nor a quoted string')
    for (const member of members) {
      if (/\p{Cc}/u.test(member)) return invalid('contains control characters')
      if (member.trim() !== '') keys.add(trimmed(member))
    }
  }
  const [key, other] = keys
  if (other !== undefined) return invalid('is repeated with different values')
  return key === undefined ? { kind: 'missing-key' } : { kind: 'key', key }
}

/** The key that a function of the user's finds. Whether it can be one is for the engine to say. */
export function selectedKey(select: () => KeyInput): KeyReading {
  try {
    const key = select()
    const parts: readonly unknown[] = [key].flat()
    return parts.length === 0 || parts.some(isMissing) ? { kind: 'missing-key' } : { kind: 'key', key }
  } catch (error) {
    if (isLambdaOnceError(error, 'INVALID_KEY')) return { kind: 'invalid-key', why: error.message }
    throw error
  }
}

/**
 * One member of a list of strings (RFC 8941, sections 3.1 and 3.3.3), and the comma or the end behind it. Written out
 * here because a whole parser of structured fields would be a third of this package's HTTP code.
 */
const QUOTED_MEMBER = /[ \t]*"((?:[ !#-[\]-~]|\\["\\])*)"[ \t]*(,|$)/y

function membersOf(value: string): readonly string[] | undefined {
  if (!value.includes('"')) return value.split(',')
  const pattern = new RegExp(QUOTED_MEMBER)
  const members: string[] = []
  for (;;) {
    const [, text, separator] = pattern.exec(value) ?? []
    if (text === undefined) return undefined
    members.push(text.replace(/\\(.)/g, '$1'))
    if (separator === '') return members
  }
}

function isMissing(part: unknown): boolean {
  return part === undefined || part === null || (typeof part === 'string' && part.trim() === '')
}

/** Only spaces and tabs may surround a header's value (RFC 9110, section 5.6.3); a line break is a control character. */
function trimmed(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '')
}

function invalid(why: string): KeyReading {
  return { kind: 'invalid-key', why: `The idempotency key ${why}.` }
}
