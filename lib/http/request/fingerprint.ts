import type { Content } from '../../record/content.ts'
import type { HttpRequest } from './event.ts'

/**
 * What the client asked for, to be fingerprinted: method, path, query, media type and body. Never headers or the
 * gateway's context, which differ from one try to the next.
 */
export function contentOf({ method, path, query, body, isBase64Encoded, header }: HttpRequest): Content {
  const sorted = [...query].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return { head: [method, path, sorted], body, isBase64Encoded, contentType: header('content-type')[0] ?? '' }
}
