import fc from 'fast-check'

/** How many events each source is fuzzed with. `FUZZ_EVENTS=100000 npm test -- test/sources` looks longer. */
export const FUZZ_EVENTS: number = Number(process.env.FUZZ_EVENTS ?? 10_000)

const nestedText = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** More deeply than the stack allows. */
const DEEP_TEXT = nestedText(20_000)
const DEEP: unknown = JSON.parse(DEEP_TEXT)
const DEEP_MARK = '"(deep)"'

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
  () => JSON.parse(nestedText(50)),
]

const REMOVED = Symbol('removed')

/**
 * One to three changes, as each event of a round gets them. A change is one number, because there are many: where in
 * the event, what takes the place, and whether a text that holds JSON is changed inside.
 */
export const mutations: fc.Arbitrary<number[]> = fc.array(fc.nat(), { minLength: 1, maxLength: 3 })

/** A copy with all changes made. */
export function mutated<T>(event: T, changes: readonly number[]): T {
  return changes.reduce(changed, copyOf(event))
}

function changed<T>(event: T, change: number): T {
  const places = placesIn(event)
  const place = places[(change >>> 7) % Math.max(1, places.length)]
  if (place === undefined) return event
  const { holder, name } = place
  const there: unknown = holder[name]
  const isInside = change % 2 === 1
  const inside = isInside && typeof there === 'string' ? changedInside(there, change >>> 4) : undefined
  // Seldom, because running out of stack takes long.
  const value = inside ?? (change % 331 === 0 ? DEEP : VALUES[(change >>> 1) % VALUES.length]?.())
  if (value !== REMOVED) {
    // As JSON.parse does it: a member named __proto__ is a member.
    Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
  } else if (Array.isArray(holder)) holder.splice(Number(name), 1)
  else delete holder[name]
  return event
}

/** A text that holds JSON, in clear or in base64, with a change made in it. */
function changedInside(text: string, change: number): string | undefined {
  const isPlain = /^\s*[[{]/.test(text)
  try {
    const value: unknown = JSON.parse(isPlain ? text : Buffer.from(text, 'base64').toString())
    if (typeof value !== 'object' || value === null) return undefined
    const written = JSON.stringify(changed(value, change), (_name, item) => (item === DEEP ? '(deep)' : item))
    const result = written.replaceAll(DEEP_MARK, DEEP_TEXT)
    return isPlain ? result : Buffer.from(result).toString('base64')
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
  if (typeof value !== 'object' || value === null || isDeep(value)) return value
  if (Array.isArray(value)) return value.map(reordered) as T
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, reordered(item)]),
  ) as T
}
