import type { Happening, HappeningKind } from './happening.ts'
import { CHARTED, type Charted } from './series.ts'

/** What is remembered of one operation at most: how it began, and the newest. */
const FIRST = 20
const NEWEST = 80
/** Operations that are remembered; the one that was told of longest ago is forgotten first. */
const MOST_OPERATIONS = 5_000
/** Moments that a chart knows at most. */
const MOST_MOMENTS = 50_000

/** What has been seen to happen, kept in memory only. */
export interface Journal {
  add(operationId: string, happening: Happening): void
  /** In order; empty when nothing was seen of it. */
  storyOf(operationId: string): readonly Happening[]
  /** When each of these happened. */
  moments(kind: Charted): readonly number[]
  /** Counts up with every happening. */
  version(): number
}

/** Makes an empty journal. */
export function createJournal(): Journal {
  const stories = new Map<string, Happening[]>()
  const moments = new Map<HappeningKind, number[]>(CHARTED.map((kind) => [kind, []]))
  let version = 0
  return Object.freeze({
    add(operationId: string, happening: Happening) {
      version += 1
      const story = stories.get(operationId) ?? []
      // What is told late still stands where it belongs; of the same moment, what was told first is first.
      const place = story.findLastIndex(({ atMs }) => atMs <= happening.atMs) + 1
      story.splice(place, 0, happening)
      if (story.length > FIRST + NEWEST) story.splice(FIRST, 1)
      stories.delete(operationId)
      stories.set(operationId, story)
      const [oldest] = stories.keys()
      if (stories.size > MOST_OPERATIONS && oldest !== undefined) stories.delete(oldest)
      const times = moments.get(happening.kind)
      times?.push(happening.atMs)
      if (times !== undefined && times.length > MOST_MOMENTS) times.splice(0, times.length - MOST_MOMENTS)
    },
    storyOf: (operationId: string) => stories.get(operationId) ?? [],
    moments: (kind: Charted) => moments.get(kind) ?? [],
    version: () => version,
  })
}
