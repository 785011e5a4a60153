/** A header's value as the gateways take it. */
export type HeaderValue = string | number | boolean

/** Where a response keeps its headers: up to three places, depending on its source. */
export interface Headed {
  readonly headers?: { [name: string]: HeaderValue }
  readonly multiValueHeaders?: { [name: string]: HeaderValue[] }
  readonly cookies?: string[]
}

/** Every value of a header, in any case, in `headers` and `multiValueHeaders`. */
export function valuesOf(response: Headed, name: string): string[] {
  const wanted = name.toLowerCase()
  return [...Object.entries(response.headers ?? {}), ...Object.entries(response.multiValueHeaders ?? {})].flatMap(
    ([there, value]) => (there.toLowerCase() === wanted ? [value].flat().map(String) : []),
  )
}

/** The response with this header, in place of whatever stood under its name. */
export function withHeader<R extends Headed>(
  response: R,
  name: string,
  value: string,
  place: 'headers' | 'multiValueHeaders',
): R {
  const bare = withoutHeaders(response, (there) => there === name.toLowerCase()).response
  return place === 'headers'
    ? { ...bare, headers: { ...bare.headers, [name]: value } }
    : { ...bare, multiValueHeaders: { ...bare.multiValueHeaders, [name]: [value] } }
}

/** The response without the headers that match, and the names of those it had, each once, in lower case. */
export function withoutHeaders<R extends Headed>(
  response: R,
  matches: (lowerCaseName: string) => boolean,
): { readonly response: R; readonly removed: readonly string[] } {
  const removed = new Set<string>()
  const remains = (name: string): boolean => {
    const lowerCase = name.toLowerCase()
    if (matches(lowerCase)) removed.add(lowerCase)
    return !matches(lowerCase)
  }
  const { headers, multiValueHeaders, cookies, ...rest } = response
  const kept = {
    ...rest,
    ...(headers && { headers: filtered(headers, remains) }),
    ...(multiValueHeaders && { multiValueHeaders: filtered(multiValueHeaders, remains) }),
    // HTTP API turns each of `cookies` into a set-cookie header.
    ...(cookies && (cookies.length === 0 || remains('set-cookie')) && { cookies }),
  }
  // Only header fields were taken out, and those are optional in every R.
  return { response: kept as unknown as R, removed: [...removed].sort() }
}

function filtered<V>(map: { [name: string]: V }, remains: (name: string) => boolean): { [name: string]: V } {
  return Object.fromEntries(Object.entries(map).filter(([name]) => remains(name)))
}

/** Tells by a list of names, of which those that end in `*` stand for all that begin so. */
export function headerMatcher(names: readonly string[]): (lowerCaseName: string) => boolean {
  const lowerCase = names.map((name) => name.toLowerCase())
  const exact = new Set(lowerCase.filter((name) => !name.endsWith('*')))
  const prefixes = lowerCase.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return (name) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
