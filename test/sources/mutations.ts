import fc from 'fast-check'

/** How many events each source is fuzzed with. `FUZZ_EVENTS=100000 npm test -- test/sources` looks longer. */
export const FUZZ_EVENTS: number = Number(process.env.FUZZ_EVENTS ?? 10_000)

/** A change of an event: somewhere, by something. */
export interface Mutation {
  /** Which place of all there are. */
  readonly where: number
  readonly what: number
  /** Texts that are JSON, and base64 of it, are changed inside. */
  readonly isInside: boolean
}

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

/** What takes the place of a value. As parsed JSON, which is all that Lambda hands over. */
const VALUES: readonly (() => unknown)[] = [
  () => REMOVED,
  () => REMOVED,
  () => null,
  () => null,
  () => '',
  () => ' \t',
  () => 'x',
  () => '{',
  () => '%%%',
  () => '\ud800',
  () => '💥'.repeat(300),
  () => 'x'.repeat(20_000),
  () => '__proto__',
  () => 'constructor',
  () => 0,
  () => 1,
  () => 0.5,
  () => 2 ** 53,
  () => 1e300,
  () => true,
  () => false,
  () => [],
  () => [null],
  () => [[]],
  () => ({}),
  () => JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"toString":null,"then":1}'),
  () => JSON.parse('{"then":null,"length":3,"messageId":"x"}'),
  () => nested(50),
  () => nested(20_000),
]

const REMOVED = Symbol('removed')

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  where: fc.nat(100_000),
  what: fc.nat(VALUES.length - 1),
  isInside: fc.boolean(),
})

/** One to three changes, as each event of a round gets them. */
export const mutations: fc.Arbitrary<Mutation[]> = fc.array(mutation, { minLength: 1, maxLength: 3 })

/** A copy with the change made. */
export function mutated<T>(event: T, { where, what, isInside }: Mutation): T {
  const copy = copyOf(event)
  const places = placesIn(copy)
  const place = places[where % Math.max(1, places.length)]
  if (place === undefined) return copy
  const { holder, name } = place
  const there: unknown = holder[name]
  const inside =
    isInside && typeof there === 'string' ? changedInside(there, { where: where >> 3, what, isInside }) : undefined
  const value = inside ?? VALUES[what]?.()
  if (value !== REMOVED) {
    // As JSON.parse does it: a member named __proto__ is a member.
    Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
  } else if (Array.isArray(holder)) holder.splice(Number(name), 1)
  else delete holder[name]
  return copy
}

/** A text that holds JSON, in clear or in base64, with a change made in it. */
function changedInside(text: string, change: Mutation): string | undefined {
  const isPlain = /^\s*[[{]/.test(text)
  try {
    const value: unknown = JSON.parse(isPlain ? text : Buffer.from(text, 'base64').toString())
    if (typeof value !== 'object' || value === null) return undefined
    const changed = JSON.stringify(mutated(value, change))
    return isPlain ? changed : Buffer.from(changed).toString('base64')
  } catch {
    return undefined
  }
}

interface Place {
  readonly holder: Record<string, unknown>
  readonly name: string
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((name) => [
    { holder, name },
    ...(isDeep(holder[name]) ? [] : placesIn(holder[name])),
  ])
}

/** A copy, but for values so deep that copying them would be a test of the copy. */
export function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null || isDeep(value)) return value
  if (Array.isArray(value)) return value.map(copyOf) as T
  const copy = {}
  for (const [name, item] of Object.entries(value)) {
    Object.defineProperty(copy, name, { value: copyOf(item), enumerable: true, configurable: true, writable: true })
  }
  return copy as T
}

function isDeep(value: unknown): boolean {
  let depth = 0
  for (let at = value; Array.isArray(at) && depth < 100; at = at[0]) depth++
  return depth >= 100
}

/** The same value, with the keys of every object in the opposite order. */
export function reordered<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reordered) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, reordered(item)]),
  ) as T
}
