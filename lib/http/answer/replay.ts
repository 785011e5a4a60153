import { OutcomeUnstorableError } from '../../base/errors.ts'
import { fieldsOf, headerValues } from '../fields.ts'
import type { HttpSettings } from '../options.ts'
import type { Shape } from '../request/event.ts'
import { fitted } from './fit.ts'
import { withHeaders, withoutHeaders } from './headers.ts'
import { type HttpAnswer, isStatus } from './wire.ts'

/** A response as it is stored: the final wire response, less the headers that belong to its first caller only. */
export interface StoredResponse extends HttpAnswer {
  /** Names of the headers that were not stored, in lower case. Absent: none. */
  stripped?: string[]
  /** The body was given as a value, and is its JSON. */
  isJson?: true
}

/** Marks a replay; browsers see it when the response is meant for another origin. */
export const REPLAYED_HEADER = 'Idempotent-Replayed'

/**
 * What is stored of a response that was `given` so.
 * @throws OutcomeUnstorableError when it lost headers and such responses are not to be stored.
 */
export function storedForm(
  { isStripped, isMarked, inner }: HttpSettings,
  response: HttpAnswer,
  given?: unknown,
): StoredResponse {
  const { response: bare, removed } = withoutHeaders(response, isStripped)
  const kept = inner?.isJson(given) ? { ...bare, isJson: true as const } : bare
  if (removed.length === 0) return kept
  if (isMarked) return { ...kept, stripped: [...removed] }
  throw new OutcomeUnstorableError(
    `The response has ${removed.join(', ')}, and is not to be stored without (onStripped: 'refuse').`,
  )
}

/**
 * A stored response as the answer to an event of this shape, marked as a replay: `Idempotent-Replayed: true`, and
 * `true; stripped="set-cookie www-authenticate"` (a parameter as in RFC 8941) when headers of the first answer are missing.
 * One function may serve several sources, so a repetition may come through another one than the first request.
 */
export function replayOf(shape: Shape, stored: StoredResponse): HttpAnswer {
  const { stripped, isJson: _, ...response } = stored
  const marker = stripped ? `true; stripped="${stripped.join(' ')}"` : 'true'
  return withHeaders(shape, fitted(shape, response), [[REPLAYED_HEADER, marker], ...exposure(response)])
}

/**
 * Scripts of another origin see the marker only when it is listed. A response without an allowed origin is not
 * for them, and gets no header more than it had.
 */
function exposure(response: HttpAnswer): readonly (readonly [string, string])[] {
  if (headerValues(response, 'access-control-allow-origin').length === 0) return []
  const name = 'Access-Control-Expose-Headers'
  const listed = headerValues(response, name)
  if (
    listed
      .join()
      .toLowerCase()
      .split(/[\s,]+/)
      .includes(REPLAYED_HEADER.toLowerCase())
  )
    return []
  return [[name, [...listed, REPLAYED_HEADER].filter((value) => value !== '').join(', ')]]
}

/** Whether a stored value is a response as it is stored here: reconcilers and operators store values of their own. */
export function isStored(value: unknown): value is StoredResponse {
  const { statusCode, body } = fieldsOf(value)
  return isStatus(statusCode, 100) && typeof body === 'string'
}
