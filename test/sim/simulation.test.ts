import { describe, expect, test } from 'vitest'
import type { SkewMode } from './plan.ts'
import { type Result, simulate } from './simulate.ts'
import { loadSubject } from './subject.ts'

/** How many schedules a run of the suite explores: `SIM_SEEDS=100000 npm test -- test/sim`, or `npm run sim` for more. */
const SEEDS = Number(process.env.SIM_SEEDS ?? 2_000)

/** On a machine that does much else, too. */
const LONG_MS = 600_000

const subject = await loadSubject()

async function explore(seeds: number, skew: SkewMode): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let seed = 0; seed < seeds; seed++) results.push(await simulate(subject, { seed, skew }))
  return results
}

/** Each with the command that tells it step by step. */
const violationsOf = (results: readonly Result[]) =>
  results.flatMap(({ seed, violation }) =>
    violation === undefined ? [] : [`SEED=${seed} npm run sim: ${violation.invariant}: ${violation.detail}`],
  )

describe('under crashes, lost and late answers, freezes, skewed clocks, TTL deletions and repeated deliveries', () => {
  test(
    `every invariant holds in ${SEEDS} schedules`,
    async () => {
      const results = await explore(SEEDS, 'within')
      expect(violationsOf(results)).toEqual([])
      expect(results.reduce((sum, { faults }) => sum + faults, 0)).toBeGreaterThan(SEEDS)
      expect(results.every(({ overlaps }) => overlaps === 0)).toBe(true)
      for (const way of ['alone', 'together'] as const) {
        expect(results.some(({ looks }) => looks[way].spared > 0)).toBe(true)
        expect(results.some(({ looks }) => looks[way].written > 0)).toBe(true)
      }
    },
    LONG_MS,
  )

  test(
    'clocks that are up to an hour wrong let executions overlap, and never a second completion or commit',
    async () => {
      const results = await explore(SEEDS / 4, 'beyond')
      expect(violationsOf(results)).toEqual([])
      expect(results.some(({ overlaps }) => overlaps > 0)).toBe(true)
    },
    LONG_MS,
  )

  test('the same seed is the same schedule, event by event', async () => {
    const tell = async (seed: number) => {
      const lines: string[] = []
      await simulate(subject, { seed, trace: (line) => lines.push(line) })
      return lines
    }
    for (let seed = 0; seed < 20; seed++) expect(await tell(seed)).toEqual(await tell(seed))
  })
})
