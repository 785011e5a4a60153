import { InvalidInputError } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json.ts'
import type { HttpRequest } from './event.ts'

/**
 * Makes something of what the client asked for, as a value to fingerprint: method, path, query, media type and body.
 * Never headers or the gateway's context, which differ from one try to the next. A body counts by what it says, where
 * that can be told, and else byte by byte: none is refused, however broken.
 *
 * @throws InvalidInputError when another middleware has made of the body what no text can be made of; what `make` throws
 */
export async function fingerprinted<T>(request: HttpRequest, make: (asked: unknown) => T): Promise<T> {
  const contentType = request.header('content-type')[0] ?? ''
  const essence = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  const query = [...request.query].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  // As one text, because it may hold what is no valid Unicode.
  const head = JSON.stringify([request.method, request.path, query, essence])
  try {
    const meaning = await meaningForm(request, contentType, essence)
    if (meaning !== undefined) return make([head, ...meaning])
  } catch {
    // It has no such form, or none that can be fingerprinted.
  }
  return make([head, ...literalForm(request.body, request.isBase64Encoded)])
}

/** Each form names its kind first, so that no body of one kind equals a body of another. */
type MeaningForm = readonly [kind: 'value' | 'json' | 'parts', form: unknown]
type LiteralForm = readonly ['none'] | readonly [kind: 'bytes' | 'text', bytes: Uint8Array<ArrayBuffer>]

async function meaningForm(
  { body, isBase64Encoded }: HttpRequest,
  contentType: string,
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
