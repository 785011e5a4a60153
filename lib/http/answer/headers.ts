import type { Shape } from '../request/event.ts'

/** A header's value as the gateways take it. */
export type HeaderValue = string | number | boolean

/** Where a response keeps its headers: up to three places, depending on its source. */
export interface Headed {
  readonly headers?: { [name: string]: HeaderValue }
  readonly multiValueHeaders?: { [name: string]: HeaderValue[] }
  readonly cookies?: string[]
}

/** The response with these headers, each in place of whatever stood under its name. */
export function withHeaders<R extends Headed>(
  shape: Shape,
  response: R,
  headers: readonly (readonly [name: string, value: string])[],
): R {
  const names = headers.map(([name]) => name.toLowerCase())
  const bare = withoutHeaders(response, (name) => names.includes(name)).response
  const isMulti = shape === 'alb-multi'
  const place = isMulti ? 'multiValueHeaders' : 'headers'
  const added = Object.fromEntries(headers.map(([name, value]) => [name, isMulti ? [value] : value]))
  return { ...bare, [place]: { ...bare[place], ...added } }
}

/** The response without the headers that match, and the names of those it had, each once, in lower case. */
export function withoutHeaders<R extends Headed>(
  response: R,
  matches: (lowerCaseName: string) => boolean,
): { readonly response: R; readonly removed: readonly string[] } {
  const removed = new Set<string>()
  const unmatched = <V>(value: V, name: string): V | undefined => {
    const lowerCase = name.toLowerCase()
    if (!matches(lowerCase)) return value
    removed.add(lowerCase)
    return undefined
  }
  const { headers, multiValueHeaders, cookies, ...rest } = response
  const kept = {
    ...rest,
    ...(headers && { headers: mapHeaders(headers, unmatched) }),
    ...(multiValueHeaders && { multiValueHeaders: mapHeaders(multiValueHeaders, unmatched) }),
    // HTTP API turns each of `cookies` into a set-cookie header.
    ...(cookies && (cookies.length === 0 || unmatched(true, 'set-cookie')) && { cookies }),
  }
  // Only header fields were taken out, and those are optional in every R.
  return { response: kept as unknown as R, removed: [...removed].sort() }
}

/** The map with every value changed; a header whose value becomes `undefined` is left out. */
export function mapHeaders<V, W>(
  map: Readonly<Record<string, V>>,
  change: (value: V, name: string) => W | undefined,
): { [name: string]: W } {
  return Object.fromEntries(
    Object.entries(map).flatMap(([name, value]) => {
      const changed = change(value, name)
      return changed === undefined ? [] : [[name, changed]]
    }),
  )
}

/** Tells by a list of names, of which those that end in `*` stand for all that begin so. */
export function headerMatcher(names: readonly string[]): (lowerCaseName: string) => boolean {
  const patterns = names.map((name) => name.toLowerCase())
  return (name) =>
    patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}
