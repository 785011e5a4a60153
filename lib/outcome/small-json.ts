/**
 * The JSON of a value that JSON holds without loss, when that has at most so many bytes; `undefined` for any other.
 * It looks no further than that size, however large or deep the value is.
 */
export function smallJson(value: unknown, maxBytes: number): string | undefined {
  try {
    if (!isJson(value, { room: maxBytes, seen: new Set<object>() })) return undefined
    const text = JSON.stringify(value)
    return Buffer.byteLength(text) <= maxBytes ? text : undefined
  } catch {
    // A getter that throws, say: whoever encodes it otherwise names the place.
    return undefined
  }
}

interface Walk {
  room: number
  readonly seen: Set<object>
}

function isJson(value: unknown, walk: Walk): boolean {
  walk.room -= typeof value === 'string' ? value.length + 2 : 1
  if (walk.room < 0) return false
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    case 'object':
      return value === null || isJsonObject(value, walk)
    default:
      return false
  }
}

function isJsonObject(value: object, walk: Walk): boolean {
  // The same object in two places comes back as one, and JSON would make two of it.
  if (walk.seen.has(value)) return false
  walk.seen.add(value)
  const isList = Array.isArray(value)
  if (Object.getPrototypeOf(value) !== (isList ? Array.prototype : Object.prototype)) return false
  if (Object.getOwnPropertySymbols(value).length > 0) return false
  if (isList && value.length > walk.room) return false
  const entries = Object.entries(value)
  // A list with holes, or with more than its items.
  if (isList && (entries.length !== value.length || Object.keys(value).at(-1) !== lastIndexOf(value))) return false
  return entries.every(([name, item]) => {
    walk.room -= isList ? 1 : name.length + 3
    return name !== '__proto__' && isJson(item, walk)
  })
}

function lastIndexOf({ length }: readonly unknown[]): string | undefined {
  return length === 0 ? undefined : String(length - 1)
}
