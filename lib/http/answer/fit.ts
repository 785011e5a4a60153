import type { Shape } from '../request/event.ts'
import { mapHeaders } from './headers.ts'
import type { HttpAnswer } from './wire.ts'

/**
 * A response in the form of this shape. REST APIs answer 502 to any key they do not know, and every source ignores
 * what it has no place for, so what a shape lacks is expressed in what it has.
 */
export function fitted(shape: Shape, response: HttpAnswer): HttpAnswer {
  const { statusDescription, headers, multiValueHeaders, cookies, ...rest } = response
  const lists = { ...multiValueHeaders, ...(cookies && shape !== 'http' && { 'Set-Cookie': cookies }) }
  const fit: HttpAnswer = {
    ...rest,
    ...(statusDescription !== undefined && shape.startsWith('alb') && { statusDescription }),
    ...(cookies && shape === 'http' && { cookies }),
  }
  switch (shape) {
    case 'alb-multi':
      return { ...fit, multiValueHeaders: { ...mapHeaders(headers ?? {}, (value) => [value]), ...lists } }
    case 'rest':
      return { ...fit, headers: { ...headers }, ...(Object.keys(lists).length > 0 && { multiValueHeaders: lists }) }
    case 'http':
    case 'alb':
      return { ...fit, headers: { ...headers, ...mapHeaders(lists, (list) => [list].flat().join(', ')) } }
  }
}
