import { createHash } from 'node:crypto'
import { InvalidInputError } from '../base/errors.ts'

/**
 * The hash that Powertools (TypeScript) makes of what a JMESPath expression selects.
 *
 * @throws InvalidInputError when the selected value has no JSON form
 */
export function powertoolsHash(algorithm: string, selected: unknown): string {
  const json = JSON.stringify(sorted(selected))
  if (json === undefined)
    throw new InvalidInputError(`A value of type ${typeof selected} cannot be a key of Powertools.`)
  return createHash(algorithm).update(json).digest('base64')
}

/**
 * The same value with its keys in Powertools' order, which is not one by code point: case does not count, and keys that
 * differ by case only are left where the sort puts them. The comparison is theirs, so that the hash is.
 */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (Object.prototype.toString.call(value) !== '[object Object]') return value
  const fields = Object.entries(Object(value))
    // Assigned to an object, as they do, it becomes the prototype and leaves no trace in the JSON.
    .filter(([name]) => name !== '__proto__')
    .sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]))
}
