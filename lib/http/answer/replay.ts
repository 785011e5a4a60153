import { OutcomeUnstorableError } from '../../core/errors.ts'
import { fieldsOf, type Shape } from '../request/event.ts'
import { valuesOf, withHeader, withoutHeaders } from './headers.ts'
import { type HttpAnswer, wireResponse } from './wire.ts'

/** A response as it is stored: the final wire response, less the headers that belong to its first caller only. */
export interface StoredResponse extends HttpAnswer {
  /** Names of the headers that were not stored, in lower case. Absent: none. */
  stripped?: string[]
}

/** Marks a replay; browsers see it when the response is meant for another origin. */
export const REPLAYED_HEADER = 'Idempotent-Replayed'

/** @throws OutcomeUnstorableError when it lost headers and such responses are not to be stored. */
export function storedForm(
  response: HttpAnswer,
  isStripped: (lowerCaseName: string) => boolean,
  onStripped: 'mark' | 'refuse',
): StoredResponse {
  const { response: kept, removed } = withoutHeaders(response, isStripped)
  if (removed.length === 0) return kept
  if (onStripped === 'refuse') {
    throw new OutcomeUnstorableError(
      `The response carries ${removed.join(', ')}, which is not stored, and a response without it is not to be (onStripped: 'refuse').`,
    )
  }
  return { ...kept, stripped: [...removed] }
}

/**
 * A stored response as the answer to an event of this shape, marked as a replay: `Idempotent-Replayed: true`, and
 * `true; stripped="set-cookie www-authenticate"` (a parameter as in RFC 8941) when headers of the first answer are missing.
 */
export function replayOf(shape: Shape, stored: StoredResponse): HttpAnswer {
  const { stripped = [], ...response } = stored
  const marker = stripped.length === 0 ? 'true' : `true; stripped="${stripped.join(' ')}"`
  const place = shape === 'alb-multi' ? 'multiValueHeaders' : 'headers'
  return exposed(withHeader(fitted(shape, response), REPLAYED_HEADER, marker, place), place)
}

/**
 * Scripts of another origin see the marker only when it is listed. A response without an allowed origin is not
 * for them, and gets no header more than it had.
 */
function exposed(response: HttpAnswer, place: 'headers' | 'multiValueHeaders'): HttpAnswer {
  if (valuesOf(response, 'access-control-allow-origin').length === 0) return response
  const listed = valuesOf(response, 'access-control-expose-headers').flatMap((value) => value.split(','))
  const names = listed.map((name) => name.trim()).filter((name) => name !== '')
  if (names.some((name) => name.toLowerCase() === REPLAYED_HEADER.toLowerCase())) return response
  return withHeader(response, 'Access-Control-Expose-Headers', [...names, REPLAYED_HEADER].join(', '), place)
}

/**
 * One function may serve several sources, and a repetition may come through another one than the first request.
 * REST APIs answer 502 to any key they do not know, so what a shape lacks is expressed in what it has.
 */
function fitted(shape: Shape, response: HttpAnswer): HttpAnswer {
  const { statusDescription, headers, multiValueHeaders, cookies, ...rest } = response
  const lists = { ...multiValueHeaders, ...(cookies && shape !== 'http' && { 'Set-Cookie': cookies }) }
  const hasLists = Object.keys(lists).length > 0
  const fit: HttpAnswer = { ...rest }
  if (statusDescription !== undefined && shape.startsWith('alb')) fit.statusDescription = statusDescription
  if (cookies !== undefined && shape === 'http') fit.cookies = cookies
  switch (shape) {
    case 'rest':
      if (headers !== undefined) fit.headers = headers
      if (hasLists) fit.multiValueHeaders = lists
      return fit
    case 'http':
    case 'alb':
      if (headers !== undefined || hasLists)
        fit.headers = { ...headers, ...mapValues(lists, (list) => list.join(', ')) }
      return fit
    case 'alb-multi':
      return { ...fit, multiValueHeaders: { ...mapValues(headers ?? {}, (value) => [value]), ...lists } }
  }
}

function mapValues<V, W>(map: { [name: string]: V }, change: (value: V) => W): { [name: string]: W } {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]))
}

/** @throws OutcomeUnstorableError when the stored value is no response of this version, and none that the source could send. */
export function readStored(shape: Shape, value: unknown): StoredResponse {
  const { statusCode, body } = fieldsOf(value)
  const isOurs = typeof statusCode === 'number' && typeof body === 'string'
  return isOurs ? (value as StoredResponse) : wireResponse(shape, value)
}
