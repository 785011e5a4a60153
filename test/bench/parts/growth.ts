import { medianOf, ratioOf, rounds } from '../pairs.ts'
import { type Conditions, figure, type Part, ratio, type Section } from '../report/section.ts'
import { type SideProcess, startSide } from '../sides/start.ts'

const BATCHES = [
  { size: 10, repeat: 50 },
  { size: 100, repeat: 5 },
  { size: 1_000, repeat: 1 },
  { size: 10_000, repeat: 1 },
] as const
const MOST_PAIRS_OF_LARGE = 3

/** Whether a record costs more in a larger batch. */
export const growth: Part = {
  name: 'growth',
  run: async (conditions) => ({ sections: [await growingBatch(conditions)], figures: {} }),
}

async function growingBatch({ endpoint, pairs, isQuick, progress }: Conditions): Promise<Section> {
  const ours = await startSide('lambda-once', { endpoint })
  const theirs = await startSide('powertools', { endpoint })
  await newBatchRounds({ ours, theirs }, 'warm-up-', { size: 100, repeat: 5, pairs: 2 })
  const rows: string[][] = []
  for (const { size, repeat } of isQuick ? BATCHES.slice(0, 3) : BATCHES) {
    const many = size < 10_000 ? pairs : Math.min(pairs, MOST_PAIRS_OF_LARGE)
    progress(`growth: batches of ${size}, ${many} rounds`)
    const all = await newBatchRounds({ ours, theirs }, `growth-${size}-`, { size, repeat, pairs: many })
    const each = (side: 'ours' | 'theirs', what: 'wallMs' | 'cpuMs') =>
      figure(medianOf(all.map((round) => round[side][what])) / repeat / size)
    const wall = ratioOf(all.map((round) => [round.ours.wallMs, round.theirs.wallMs]))
    rows.push([
      size.toLocaleString('en-US'),
      each('ours', 'wallMs'),
      each('theirs', 'wallMs'),
      ratio(wall),
      each('ours', 'cpuMs'),
      each('theirs', 'cpuMs'),
    ])
  }
  await Promise.all([ours.stop(), theirs.stop()])
  const head = [
    'new records in the batch',
    'lambda-once: wall, ms a record',
    'Powertools: wall, ms a record',
    'ratio',
    'lambda-once: CPU, ms a record',
    'Powertools: CPU, ms a record',
  ]
  return { name: 'growth-batch', command: 'npm run bench -- --only growth', head, rows }
}

function newBatchRounds(
  { ours, theirs }: { readonly ours: SideProcess; readonly theirs: SideProcess },
  label: string,
  { size, repeat, pairs }: { readonly size: number; readonly repeat: number; readonly pairs: number },
) {
  return rounds(pairs, {
    ours: (round) => ours.do('newBatches', { run: `${label}${round}`, size, repeat }),
    theirs: (round) => theirs.do('newBatches', { run: `${label}${round}`, size, repeat }),
  })
}
