import { medianOf, ratioOf, rounds } from '../pairs.ts'
import { figure, type Part, ratio, type Section } from '../report/section.ts'
import type { SideName } from '../sides/side.ts'
import { type SideProcess, startSide } from '../sides/start.ts'
import type { Cost, Share } from '../sides/tasks.ts'

const SHARES: Readonly<Record<Share, string>> = {
  none: '0 %',
  half: '50 %',
  all: '100 %',
  redelivered: '100 %, redelivered',
}
type Costs = Record<Share, Cost>
type Round = Record<'lambda-once' | 'powertools', Costs>
type TimedRound = Round & { readonly floor: Cost }

/** Of what size, and how many of them make a round: small ones alone would be too short to be timed. */
const BATCHES = [
  { size: 10, repeat: 20 },
  { size: 100, repeat: 3 },
  { size: 1_000, repeat: 1 },
] as const
const WARM_UP_ROUNDS = 6

/** Batches of SQS in three sizes, with no, some and only duplicates. */
export const batches: Part = {
  name: 'batches',
  async run({ endpoint, pairs, isQuick, progress }) {
    const ours = await startSide('lambda-once', { endpoint })
    const theirs = await startSide('powertools', { endpoint })
    const floor = await startSide('floor', { endpoint })
    const timed = new Map<number, { readonly all: TimedRound[]; readonly repeat: number }>()
    const counted = new Map<number, Round>()
    for (const { size, repeat } of isQuick ? BATCHES.slice(0, 2) : BATCHES) {
      progress(`batches: of ${size}, ${pairs} rounds`)
      const timedRounds = (label: string, many: number) =>
        rounds<keyof TimedRound, Costs | Cost>(many, {
          'lambda-once': (round) => ours.do('batches', { run: `${label}${round}`, size, repeat }),
          powertools: (round) => theirs.do('batches', { run: `${label}${round}`, size, repeat }),
          floor: (round) => floor.do('newBatches', { run: `${label}${round}`, size, repeat }),
        }) as Promise<TimedRound[]>
      await timedRounds(`warm-up-${size}-`, WARM_UP_ROUNDS)
      const all = await timedRounds(`${size}-`, pairs)
      timed.set(size, { all, repeat })
      const input = { run: `metered-${size}`, size, repeat: 1 }
      counted.set(size, {
        'lambda-once': await ours.metered('batches', input),
        powertools: await theirs.metered('batches', input),
      })
    }
    await Promise.all([ours.stop(), theirs.stop(), floor.stop()])
    return {
      sections: [countsOf(counted), timesOf('batches-cpu', 'cpuMs', timed), timesOf('batches-wall', 'wallMs', timed)],
      figures: {
        batch10_wall: compared(timed.get(10)?.all ?? [], 'none', 'wallMs'),
        batch10_cpu: compared(timed.get(10)?.all ?? [], 'none', 'cpuMs'),
        batch100_wall: compared(timed.get(100)?.all ?? [], 'none', 'wallMs'),
      },
      floors: {
        batch10_wall: least(timed.get(10)?.all ?? [], 'wallMs'),
        batch10_cpu: least(timed.get(10)?.all ?? [], 'cpuMs'),
        batch100_wall: least(timed.get(100)?.all ?? [], 'wallMs'),
      },
    }
  },
}

/** Rounds of batches on both sides in turn. */
export function batchRounds(
  ours: SideProcess,
  theirs: SideProcess,
  label: string,
  { size, repeat, rounds: many }: { readonly size: number; readonly repeat: number; readonly rounds: number },
): Promise<Round[]> {
  return rounds(many, {
    'lambda-once': (round) => ours.do('batches', { run: `${label}${round}`, size, repeat }),
    powertools: (round) => theirs.do('batches', { run: `${label}${round}`, size, repeat }),
  })
}

function compared(all: readonly Round[], share: Share, what: 'cpuMs' | 'wallMs') {
  return ratioOf(all.map((round) => [round['lambda-once'][share][what], round.powertools[share][what]]))
}

function least(all: readonly TimedRound[], what: 'cpuMs' | 'wallMs') {
  return ratioOf(all.map((round) => [round.floor[what], round.powertools.none[what]]))
}

function timesOf(
  name: string,
  what: 'cpuMs' | 'wallMs',
  timed: ReadonlyMap<number, { readonly all: readonly TimedRound[]; readonly repeat: number }>,
): Section {
  const rows = [...timed].flatMap(([size, { all, repeat }]) =>
    (Object.keys(SHARES) as Share[]).map((share) => {
      const each = (side: keyof Round) => figure(medianOf(all.map((round) => round[side][share][what])) / repeat)
      const least = share === 'none' ? figure(medianOf(all.map(({ floor }) => floor[what])) / repeat) : '–'
      const row = [size.toLocaleString('en-US'), SHARES[share], each('lambda-once'), each('powertools'), least]
      return [...row, ratio(compared(all, share, what))]
    }),
  )
  const unit = what === 'cpuMs' ? 'client CPU' : 'wall'
  const head = [
    'records',
    'duplicates',
    `lambda-once: ${unit}, ms a batch`,
    `Powertools: ${unit}, ms a batch`,
    'floor',
    'ratio to Powertools',
  ]
  return { name, command: 'npm run bench -- --only batches', head, rows }
}

function countsOf(counted: ReadonlyMap<number, Round>): Section {
  const rows = [...counted].flatMap(([size, round]) =>
    (Object.keys(SHARES) as Share[]).map((share) => {
      const both = (of: (cost: Cost) => number) => (side: SideName & keyof Round) =>
        of(round[side][share]).toLocaleString('en-US')
      const cells = [
        ({ requests }: Cost) => requests,
        ({ writeUnits }: Cost) => writeUnits,
        ({ readUnits }: Cost) => readUnits,
      ]
      const figures = cells.flatMap((of) => (['lambda-once', 'powertools'] as const).map(both(of)))
      return [size.toLocaleString('en-US'), SHARES[share], ...figures]
    }),
  )
  const figures = ['requests', 'write units', 'read units']
  const head = figures.flatMap((what) => [`lambda-once: ${what}`, `Powertools: ${what}`])
  return {
    name: 'batches-counts',
    command: 'npm run bench -- --only batches',
    head: ['records', 'duplicates', ...head],
    rows,
  }
}
