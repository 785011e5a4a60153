/** An object of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** The value as an object to look into; anything else is an empty one. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

/** A text that is not empty, or `undefined`. */
export function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** What a JSON text says, or `undefined` when it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
