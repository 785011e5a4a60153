import { seededRandom } from '../../infra/local/seeded-random.ts'

/** Everything a schedule leaves to chance, drawn from one seed. */
export interface Chance {
  /** A number in [0, 1). */
  next(): number
  /** Whether something of this probability happens. */
  happens(probability: number): boolean
  /** A whole number in [from, to]. */
  between(from: number, to: number): number
  pick<T>(from: readonly [T, ...T[]]): T
}

export function chanceFrom(seed: number): Chance {
  const next = seededRandom(seed)
  // The first numbers of neighbouring seeds resemble each other.
  for (let n = 0; n < 8; n++) next()
  return {
    next,
    happens: (probability) => next() < probability,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (from) => from[Math.floor(next() * from.length)] ?? from[0],
  }
}
