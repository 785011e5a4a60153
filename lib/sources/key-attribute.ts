import { InvalidKeyError } from '../base/errors.ts'

/** Name of the message attribute that carries the key. */
export const KEY_ATTRIBUTE = 'Idempotency-Key'

/**
 * The one text that the attributes of this name hold; `undefined`: there is none. Its case does not matter, as it does
 * not in a header.
 *
 * @throws InvalidKeyError when they hold another type, or different texts
 */
export function attributeText(
  attributes: Readonly<Record<string, unknown>>,
  name: string,
  textOf: (attribute: unknown) => unknown,
): string | undefined {
  const named = Object.entries(attributes).filter(([there]) => there.toLowerCase() === name.toLowerCase())
  if (named.length === 0) return undefined
  const values = new Set(named.map(([, attribute]) => textOf(attribute)))
  const [value] = values
  if (values.size === 1 && typeof value === 'string') return value
  throw new InvalidKeyError(`The message attribute ${name} must be one value of type String.`)
}
