import { medianOf, ratioOf, rounds, type Spread } from '../pairs.ts'
import { figure, type Part, ratio, type Section } from '../report/section.ts'
import type { ResultText } from '../sides/orders.ts'
import { startSide } from '../sides/start.ts'
import type { Cost, Tasks } from '../sides/tasks.ts'

type Answer = Awaited<ReturnType<Tasks['results']>>
type Round = Record<'lambda-once' | 'powertools', Answer>
type Act = 'first' | 'duplicate'

interface Size {
  readonly label: string
  readonly bytes: number
  readonly text: ResultText
  readonly count: number
}

const KB = 1_000
const SIZES: readonly Size[] = [
  { label: '1 KB', bytes: KB, text: 'json', count: 20 },
  { label: '10 KB', bytes: 10 * KB, text: 'json', count: 20 },
  { label: '50 KB', bytes: 50 * KB, text: 'json', count: 10 },
  { label: '50 KB, random', bytes: 50 * KB, text: 'random', count: 10 },
  { label: '300 KB', bytes: 300 * KB, text: 'json', count: 4 },
  { label: '600 KB', bytes: 600 * KB, text: 'json', count: 2 },
  { label: '1 MB', bytes: 1_000 * KB, text: 'json', count: 1 },
  { label: '6 MB', bytes: 6_000 * KB, text: 'json', count: 1 },
]
const QUICK_SIZES = ['50 KB', '600 KB']

/** Results from 1 KB to the 6 MB that Lambda can return: storing them, and answering duplicates with them. */
export const results: Part = {
  name: 'results',
  async run({ endpoint, pairs, isQuick, progress }) {
    const ours = await startSide('lambda-once', { endpoint })
    const theirs = await startSide('powertools', { endpoint })
    const sizes = isQuick ? SIZES.filter(({ label }) => QUICK_SIZES.includes(label)) : SIZES
    const timed = new Map<Size, Round[]>()
    const counted = new Map<Size, Round>()
    for (const size of sizes) {
      progress(`results: ${size.label}, ${pairs} rounds`)
      const { bytes, text, count } = size
      const input = (round: number | string) => ({ run: `${size.label}-${round}`, bytes, text, count })
      const both = (label: string) => ({
        'lambda-once': (round: number) => ours.do('results', input(`${label}${round}`)),
        powertools: (round: number) => theirs.do('results', input(`${label}${round}`)),
      })
      await rounds(1, both('warm-up'))
      timed.set(size, await rounds(pairs, both('')))
      const metered = { ...input('metered'), count: 1 }
      counted.set(size, {
        'lambda-once': await ours.metered('results', metered),
        powertools: await theirs.metered('results', metered),
      })
    }
    await Promise.all([ours.stop(), theirs.stop()])
    const of50 = [...counted].find(([{ label }]) => label === '50 KB')?.[1]
    return {
      sections: [unitsOf(counted), timesOf(timed)],
      figures: of50 === undefined ? {} : replayFigure(of50),
    }
  },
}

function replayFigure(of50: Round): Record<string, Spread> {
  return { replay50k_units: ratioOf([[all(of50['lambda-once']), all(of50.powertools)]]) }
}

/** What a duplicate consumes in total. */
function all(answer: Answer): number {
  if ('failure' in answer) return Number.NaN
  return answer.duplicate.writeUnits + answer.duplicate.readUnits
}

function unitsOf(counted: ReadonlyMap<Size, Round>): Section {
  const rows = [...counted].map(([{ label }, round]) => {
    const units = (side: keyof Round, act: Act) => {
      const answer = round[side]
      if ('failure' in answer) return act === 'first' ? `fails: ${answer.failure}` : '–'
      const { writeUnits, readUnits } = answer[act]
      return readUnits === 0 ? `${figure(writeUnits)} write` : `${figure(writeUnits)} write, ${figure(readUnits)} read`
    }
    const failed = 'failure' in round['lambda-once'] || 'failure' in round.powertools
    const share = failed ? '–' : (all(round['lambda-once']) / all(round.powertools)).toFixed(2)
    return [
      label,
      ...(['first', 'duplicate'] as const).flatMap((act) => [units('lambda-once', act), units('powertools', act)]),
      share,
    ]
  })
  const head = [
    'result',
    'lambda-once: first, units',
    'Powertools: first, units',
    'lambda-once: duplicate, units',
    'Powertools: duplicate, units',
    "ratio of the duplicates' units",
  ]
  return { name: 'results-units', command: 'npm run bench -- --only results', head, rows }
}

function timesOf(timed: ReadonlyMap<Size, readonly Round[]>): Section {
  const rows = [...timed].map(([{ label, count }, all]) => {
    const cells = (['first', 'duplicate'] as const).flatMap((act) => {
      const each = (side: keyof Round) => {
        const times = all.flatMap((round) => costs(round[side], act)).map(({ wallMs }) => wallMs / count)
        return times.length === 0 ? 'fails' : figure(medianOf(times))
      }
      const pairs = all.flatMap((round) => {
        const [ours] = costs(round['lambda-once'], act)
        const [theirs] = costs(round.powertools, act)
        return ours && theirs ? [[ours.wallMs, theirs.wallMs] as const] : []
      })
      return [each('lambda-once'), each('powertools'), pairs.length === 0 ? '–' : ratio(ratioOf(pairs))]
    })
    return [label, ...cells]
  })
  const head = ['first', 'duplicate'].flatMap((act) => [
    `lambda-once: ${act}, ms`,
    `Powertools: ${act}, ms`,
    `${act}: ratio`,
  ])
  return { name: 'results-wall', command: 'npm run bench -- --only results', head: ['result', ...head], rows }
}

function costs(answer: Answer, act: Act): readonly Cost[] {
  return 'failure' in answer ? [] : [answer[act]]
}
