import { fingerprintOf, fingerprintValue } from '../../core/fingerprint.ts'
import type { HttpRequest } from './event.ts'
import { canonicalJson } from './json.ts'

/**
 * Fingerprint of what the client asked for: method, path, query, media type and body. Never headers or the
 * gateway's context, which differ from one try to the next. It throws for no body, however broken.
 */
export async function fingerprintRequest(request: HttpRequest): Promise<string> {
  const contentType = request.header('content-type')[0] ?? ''
  const essence = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  const query = [...request.query].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const body = await bodyForm(request, contentType, essence)
  return fingerprintOf(JSON.stringify([request.method, request.path, query, essence, body]))
}

/** Each form names its kind first, so that no body of one kind equals a body of another. */
type BodyForm = readonly ['none'] | readonly [kind: 'json' | 'parts' | 'value' | 'bytes' | 'text', form: string]

async function bodyForm(request: HttpRequest, contentType: string, essence: string): Promise<BodyForm> {
  const { body, isBase64Encoded } = request
  if (body === undefined || body === null || body === '') return ['none']
  if (typeof body !== 'string') return ['value', parsedBodyForm(body)]
  // Node decodes what it can and skips the rest, so that broken base64 would equal other broken base64.
  if ((isBase64Encoded && !isBase64(body)) || !body.isWellFormed()) return ['text', hashOfText(body)]
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
  if (essence === 'application/json' || essence.endsWith('+json')) {
    const text = utf8TextOf(bytes)
    const json = text === undefined ? undefined : canonicalJson(text)
    if (json !== undefined) return ['json', fingerprintOf(json)]
  }
  if (essence === 'multipart/form-data') {
    const parts = await partsForm(bytes, contentType)
    if (parts !== undefined) return ['parts', fingerprintOf(parts)]
  }
  return ['bytes', fingerprintOf(bytes)]
}

/** A body that another middleware has parsed before this one could see it. */
function parsedBodyForm(body: unknown): string {
  try {
    return fingerprintValue(body)
  } catch {
    return hashOfText(JSON.stringify(body) ?? '')
  }
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

/** In UTF-16, which unlike UTF-8 has a form for every JavaScript string. */
function hashOfText(text: string): string {
  return fingerprintOf(Buffer.from(text, 'utf16le'))
}

function utf8TextOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const REPLACEMENT_CHARACTER = '\u{fffd}'

/**
 * The parts of a form without the boundary, which clients make anew for each try. `undefined` when it is no such
 * form, or when decoding has lost something (text that is not UTF-8), so that two forms might look alike.
 */
async function partsForm(bytes: Uint8Array<ArrayBuffer>, contentType: string): Promise<string | undefined> {
  try {
    const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData()
    const parts: unknown[] = []
    for (const [name, value] of form) {
      parts.push(
        typeof value === 'string'
          ? [name, value]
          : [name, value.name, value.type, fingerprintOf(new Uint8Array(await value.arrayBuffer()))],
      )
    }
    const text = JSON.stringify(parts)
    return text.includes(REPLACEMENT_CHARACTER) ? undefined : text
  } catch {
    return undefined
  }
}
