/** What is charted over time. */
export const CHARTED = ['claimed', 'replayed', 'conflicted', 'taken-over'] as const
export type Charted = (typeof CHARTED)[number]

/** How many columns a chart has. */
export const COLUMNS = 60

/** Counts over time: one number for each column. */
export interface Series {
  readonly fromMs: number
  readonly stepMs: number
  /** `undefined`: nobody can know it from here. */
  readonly counts: Readonly<Record<Charted, readonly number[] | undefined>>
}

/** Counts moments by columns, the last of which is the present one. Columns keep their place as time goes on. */
export function seriesOf(
  momentsOf: (kind: Charted) => readonly number[] | undefined,
  windowMs: number,
  nowMs: number,
): Series {
  const stepMs = windowMs / COLUMNS
  const fromMs = (Math.floor(nowMs / stepMs) - COLUMNS + 1) * stepMs
  const counted = CHARTED.map((kind) => {
    const moments = momentsOf(kind)
    if (moments === undefined) return [kind, undefined] as const
    const columns = Array.from({ length: COLUMNS }, () => 0)
    for (const atMs of moments) {
      const column = Math.floor((atMs - fromMs) / stepMs)
      const count = columns[column]
      if (count !== undefined) columns[column] = count + 1
    }
    return [kind, columns] as const
  })
  return { fromMs, stepMs, counts: Object.fromEntries(counted) as Series['counts'] }
}
