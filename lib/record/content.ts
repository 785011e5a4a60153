import { InvalidInputError } from '../base/errors.ts'
import { canonicalJson } from '../base/json.ts'

/** What a client has sent, as it came. */
export interface Content {
  /** What else tells one request from another, in one written form. It may hold what is no valid Unicode. */
  readonly head: readonly unknown[]
  /** A text; something else when a middleware has parsed it already. */
  readonly body: unknown
  readonly isBase64Encoded: boolean
  readonly contentType: string
}

/**
 * Makes something of a content as a value to fingerprint. It counts by what it says, where that can be told, and else
 * byte by byte: none is refused, however broken.
 *
 * @throws InvalidInputError when a middleware has made of the body what no text can be made of; what `make` throws
 */
export async function contentForm<T>(content: Content, make: (asked: unknown) => T): Promise<T> {
  const essence = (content.contentType.split(';')[0] ?? '').trim().toLowerCase()
  const head = JSON.stringify([...content.head, essence])
  try {
    const meaning = await meaningForm(content, essence)
    if (meaning !== undefined) return make([head, ...meaning])
  } catch {
    // It has no such form, or none that can be fingerprinted.
  }
  return make([head, ...literalForm(content.body, content.isBase64Encoded)])
}

/** Each form names its kind first, so that no body of one kind equals a body of another. */
type MeaningForm = readonly [kind: 'value' | 'json' | 'parts', form: unknown]
type LiteralForm = readonly ['none'] | readonly [kind: 'bytes' | 'text', bytes: Uint8Array<ArrayBuffer>]

async function meaningForm(
  { body, isBase64Encoded, contentType }: Content,
  essence: string,
): Promise<MeaningForm | undefined> {
  // Another middleware has parsed it before this one could see it.
  if (typeof body !== 'string') return body ? ['value', body] : undefined
  const isForm = essence === 'multipart/form-data'
  if (!isForm && essence !== 'application/json' && !essence.endsWith('+json')) return undefined
  const [kind, bytes] = literalForm(body, isBase64Encoded)
  if (kind !== 'bytes') return undefined
  const form = isForm
    ? await partsForm(bytes, contentType)
    : canonicalJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  return form === undefined ? undefined : [isForm ? 'parts' : 'json', form]
}

function literalForm(body: unknown, isBase64Encoded: boolean): LiteralForm {
  if (body === undefined || body === null || body === '') return ['none']
  // Node decodes what it can and skips the rest, so that broken base64 would equal other broken base64.
  if (typeof body === 'string' && (isBase64Encoded ? isBase64(body) : body.isWellFormed())) {
    return ['bytes', Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')]
  }
  // In UTF-16, which unlike UTF-8 has a form for every JavaScript string.
  return ['text', Buffer.from(typeof body === 'string' ? body : textOf(body), 'utf16le')]
}

function textOf(body: unknown): string {
  try {
    return JSON.stringify(body) ?? ''
  } catch {
    throw new InvalidInputError(
      'The body, parsed by another middleware, cannot be fingerprinted. Register this one first.',
    )
  }
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

const REPLACEMENT_CHARACTER = '\u{fffd}'

/**
 * The parts of a form without the boundary, which clients make anew for each try. `undefined` when decoding has lost
 * something (text that is not UTF-8), so that two forms might look alike.
 */
async function partsForm(bytes: Uint8Array<ArrayBuffer>, contentType: string): Promise<unknown[] | undefined> {
  const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData()
  const parts: unknown[] = []
  for (const [name, value] of form) {
    const texts = typeof value === 'string' ? [name, value] : [name, value.name, value.type]
    if (texts.join().includes(REPLACEMENT_CHARACTER)) return undefined
    parts.push(typeof value === 'string' ? texts : [...texts, new Uint8Array(await value.arrayBuffer())])
  }
  return parts
}
