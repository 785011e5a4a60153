import type { Spread } from '../pairs.ts'

/** A table of figures, as it is printed and as it stands in a page of the docs between two marks of its name. */
export interface Section {
  readonly name: string
  /** What makes these figures again. */
  readonly command: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** What one part of the benchmark has found. */
export interface Report {
  readonly sections: readonly Section[]
  /** Ratios that there is a target for, by the target's name. */
  readonly figures: Readonly<Record<string, Spread>>
  /** The same ratios of the floor, where it has them. */
  readonly floors?: Readonly<Record<string, Spread>>
}

/** Under what conditions the parts run. */
export interface Conditions {
  /** DynamoDB Local. */
  readonly endpoint: string
  readonly pairs: number
  /** Pairs of fresh processes. */
  readonly coldPairs: number
  /** Fewer and smaller rounds. */
  readonly isQuick: boolean
  /** How many records lie in the table that has grown. */
  readonly tableRecords: number
  progress(text: string): void
}

/** One part of the benchmark. */
export interface Part {
  readonly name: string
  run(conditions: Conditions): Promise<Report>
}

/** Three digits that count. */
export function figure(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return value === 0 ? '0' : '–'
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return Number(value.toFixed(Math.min(places, 4))).toLocaleString('en-US', { maximumFractionDigits: 4 })
}

/** A ratio and its quartiles. */
export function ratio({ median, low, high }: Spread): string {
  return `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
}
