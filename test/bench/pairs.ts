/** One figure over all pairs, or the ratio of two. */
export interface Spread {
  readonly median: number
  /** The quartiles: half of the pairs lie between them. */
  readonly low: number
  readonly high: number
  readonly pairs: number
}

/** Runs every side once a round, in an order that turns with each round, so that no side always goes first. */
export async function rounds<S extends string, T>(
  count: number,
  sides: Readonly<Record<S, (round: number) => Promise<T>>>,
): Promise<Record<S, T>[]> {
  const names = Object.keys(sides) as S[]
  const all: Record<S, T>[] = []
  for (let round = 0; round < count; round++) {
    const answers = {} as Record<S, T>
    const turned = names.map((_, place) => names[(place + round) % names.length] as S)
    for (const name of turned) answers[name] = await sides[name](round)
    all.push(answers)
  }
  return all
}

/** The ratio of each pair, and how far they spread: what slowed a whole round down slowed both sides of it. */
export function ratioOf(pairs: readonly (readonly [number, number])[]): Spread {
  return spreadOf(pairs.map(([ours, theirs]) => ours / theirs))
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other)
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
    pairs: sorted.length,
  }
}

export function medianOf(values: readonly number[]): number {
  return spreadOf(values).median
}

/** Between the two nearest values where the place falls between them. */
function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}
