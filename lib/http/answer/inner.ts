import { fieldsOf } from '../fields.ts'
import type { Shape } from '../request/event.ts'
import { replayOf, type StoredResponse } from './replay.ts'
import type { HttpAnswer } from './wire.ts'

/** How the responses of a handler inside a chain are kept and repeated. */
export interface InnerForm {
  /** Whether the body of a response is still a value, of which somebody further out makes a text. */
  isJson(given: unknown): boolean
  /** As `replayOf`, but a body that was a value is that value again. */
  replayOf(shape: Shape, stored: StoredResponse): HttpAnswer
}

/** That of the wrapper: who is around it does to a replay all that was done to the first answer, serializing included. */
export const INNER_FORM: InnerForm = /* @__PURE__ */ Object.freeze({
  isJson(given: unknown): boolean {
    const { statusCode, body } = fieldsOf(given)
    // Without a status the whole of it is the body, which is sent as JSON.
    return statusCode !== undefined && typeof (body ?? '') !== 'string'
  },
  replayOf(shape: Shape, stored: StoredResponse): HttpAnswer {
    const answer = replayOf(shape, stored)
    return stored.isJson ? { ...answer, body: JSON.parse(stored.body) } : answer
  },
})
