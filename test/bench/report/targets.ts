import type { Spread } from '../pairs.ts'

/** The most that each ratio may be; those named after the floor compare with it, all others with Powertools. */
export const TARGETS: Readonly<Record<string, number>> = {
  batch10_wall: 0.5,
  batch10_cpu: 0.4,
  batch100_wall: 0.35,
  single_first_cpu: 0.92,
  single_duplicate_cpu: 0.85,
  bundle_bytes: 0.45,
  import_time: 0.7,
  replay50k_units: 0.3,
  floor_first_cpu: 1.15,
  floor_duplicate_cpu: 1.15,
}

/** A ratio beside what it is to be. */
export interface Judged {
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly pairs: number
  readonly target: number
  readonly met: boolean
  /** The floor's own ratio to Powertools. */
  readonly floor?: number
}

/** Judges the figures that there is a target for, in the order of the targets. */
export function judged(
  figures: Readonly<Record<string, Spread>>,
  floors: Readonly<Record<string, Spread>> = {},
): Record<string, Judged> {
  const all: Record<string, Judged> = {}
  for (const [name, target] of Object.entries(TARGETS)) {
    const spread = figures[name]
    if (spread === undefined) continue
    const { median, low, high, pairs } = spread
    const ratios = { ratio: rounded(median), low: rounded(low), high: rounded(high) }
    const floor = floors[name]
    all[name] = { ...ratios, pairs, target, met: median <= target, ...(floor && { floor: rounded(floor.median) }) }
  }
  return all
}

function rounded(ratio: number): number {
  return Math.round(ratio * 1000) / 1000
}
