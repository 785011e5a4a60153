import { medianOf, rounds } from '../pairs.ts'
import { SPENDERS, type Spending } from '../profile.ts'
import { figure, type Part, type Section } from '../report/section.ts'
import { SIDE_NAMES, type SideName } from '../sides/side.ts'
import { startSide } from '../sides/start.ts'

type Round = Record<SideName, { readonly first: Spending; readonly duplicate: Spending }>

const WARM_UP_ROUNDS = 3

/** Where the CPU time of one operation goes, on each side. */
export const profile: Part = {
  name: 'profile',
  async run({ endpoint, pairs, isQuick, progress }) {
    const count = isQuick ? 100 : 500
    const sides = await Promise.all(
      SIDE_NAMES.map(async (name) => [name, await startSide(name, { endpoint })] as const),
    )
    const roundsOf = (label: string, many: number): Promise<Round[]> => {
      const tasks = sides.map(([name, side]) => {
        return [name, (round: number) => side.do('profile', { run: `${label}${round}`, count })] as const
      })
      return rounds(many, Object.fromEntries(tasks) as Record<SideName, (round: number) => Promise<Round[SideName]>>)
    }
    progress(`profile: ${count} operations, ${pairs} rounds`)
    await roundsOf('warm-up', WARM_UP_ROUNDS)
    const all = await roundsOf('', pairs)
    await Promise.all(sides.map(([, side]) => side.stop()))
    return { sections: [sectionOf(all, count)], figures: {} }
  },
}

function sectionOf(all: readonly Round[], count: number): Section {
  const acts = ['first', 'duplicate'] as const
  const cells = (of: (spending: Spending) => number) =>
    acts.flatMap((act) =>
      SIDE_NAMES.map((name) => figure((medianOf(all.map((round) => of(round[name][act]))) / count) * 1000)),
    )
  const total = (spending: Spending) => SPENDERS.reduce((sum, spender) => sum + spending[spender], 0)
  const labels: Readonly<Record<SideName, string>> = {
    'lambda-once': 'lambda-once',
    powertools: 'Powertools',
    floor: 'floor',
  }
  return {
    name: 'profile',
    command: 'npm run bench -- --only profile',
    head: [
      'CPU time of the main thread, µs an operation',
      ...acts.flatMap((act) => SIDE_NAMES.map((name) => `${act}: ${labels[name]}`)),
    ],
    rows: [
      ...SPENDERS.map((spender) => [spender, ...cells((spending) => spending[spender])]),
      ['all', ...cells(total)],
    ],
  }
}
