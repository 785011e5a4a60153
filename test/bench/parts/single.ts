import { medianOf, ratioOf, rounds } from '../pairs.ts'
import { figure, type Part, ratio, type Section } from '../report/section.ts'
import type { SideName } from '../sides/side.ts'
import { startSide } from '../sides/start.ts'
import type { Cost } from '../sides/tasks.ts'

type Round = Record<SideName, { readonly first: Cost; readonly duplicate: Cost }>

const CONCURRENCIES = [1, 50] as const
const WARM_UP_ROUNDS = 4

/** One operation: its first execution and its duplicate, beside Powertools and beside the floor. */
export const single: Part = {
  name: 'single',
  async run({ endpoint, pairs, isQuick, progress }) {
    const count = isQuick ? 100 : 400
    const ours = await startSide('lambda-once', { endpoint })
    const theirs = await startSide('powertools', { endpoint })
    const floor = await startSide('floor', { endpoint })
    const roundsOf = (concurrency: number, label: string, many: number) => {
      const input = (round: number) => ({ run: `${label}${round}`, count, concurrency })
      return rounds(many, {
        'lambda-once': (round) => ours.do('single', input(round)),
        powertools: (round) => theirs.do('single', input(round)),
        floor: (round) => floor.do('single', input(round)),
      })
    }
    await roundsOf(50, 'warm-up', WARM_UP_ROUNDS)
    const byConcurrency = new Map<number, Round[]>()
    for (const concurrency of CONCURRENCIES) {
      progress(`single: ${count} operations, ${concurrency} at a time, ${pairs} rounds`)
      byConcurrency.set(concurrency, await roundsOf(concurrency, `at-${concurrency}-`, pairs))
    }
    await Promise.all([ours, theirs, floor].map((side) => side.stop()))
    const alone = byConcurrency.get(1) ?? []
    return {
      sections: [
        timesOf('single-cpu', 'cpuMs', byConcurrency, count),
        timesOf('single-wall', 'wallMs', byConcurrency, count),
      ],
      figures: {
        single_first_cpu: compared(alone, 'first', 'cpuMs', 'powertools'),
        single_duplicate_cpu: compared(alone, 'duplicate', 'cpuMs', 'powertools'),
        floor_first_cpu: compared(alone, 'first', 'cpuMs', 'floor'),
        floor_duplicate_cpu: compared(alone, 'duplicate', 'cpuMs', 'floor'),
      },
      floors: {
        single_first_cpu: compared(alone, 'first', 'cpuMs', 'powertools', 'floor'),
        single_duplicate_cpu: compared(alone, 'duplicate', 'cpuMs', 'powertools', 'floor'),
      },
    }
  },
}

function compared(
  all: readonly Round[],
  act: 'first' | 'duplicate',
  what: 'cpuMs' | 'wallMs',
  to: SideName,
  of: SideName = 'lambda-once',
) {
  return ratioOf(all.map((round) => [round[of][act][what], round[to][act][what]]))
}

function timesOf(
  name: string,
  what: 'cpuMs' | 'wallMs',
  byConcurrency: ReadonlyMap<number, readonly Round[]>,
  count: number,
): Section {
  const rows = [...byConcurrency].flatMap(([concurrency, all]) =>
    (['first', 'duplicate'] as const).map((act) => {
      const each = (side: SideName) => figure(medianOf(all.map((round) => round[side][act][what])) / count)
      return [
        `${act === 'first' ? 'first execution' : 'duplicate'}, ${concurrency} at a time`,
        each('lambda-once'),
        each('powertools'),
        each('floor'),
        ratio(compared(all, act, what, 'powertools')),
        ratio(compared(all, act, what, 'floor')),
      ]
    }),
  )
  const unit = what === 'cpuMs' ? 'client CPU, ms an operation' : 'wall, ms an operation'
  const head = [unit, 'lambda-once', 'Powertools', 'floor', 'ratio to Powertools', 'ratio to the floor']
  return { name, command: 'npm run bench -- --only single', head, rows }
}
