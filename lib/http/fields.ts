/** An object of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>

/** The value as an object to look into; anything else is an empty one. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

/** Name and value of every entry of a map; an entry that is a list is as many pairs. What is no text, number or boolean is none. */
export function pairsOf(map: unknown): (readonly [name: string, value: string])[] {
  return Object.entries(fieldsOf(map)).flatMap(([name, value]) =>
    [value].flat().flatMap((item: unknown) => {
      const isText = typeof item !== 'object' && item !== undefined
      return isText ? [[name, String(item)] as const] : []
    }),
  )
}

/** Every value of a header, in any case, from `headers` and `multiValueHeaders` of an event or a response. */
export function headerValues(
  { headers, multiValueHeaders }: { readonly headers?: unknown; readonly multiValueHeaders?: unknown },
  name: string,
): string[] {
  const wanted = name.toLowerCase()
  return [...pairsOf(headers), ...pairsOf(multiValueHeaders)].flatMap(([there, value]) =>
    there.toLowerCase() === wanted ? [value] : [],
  )
}
