import { medianOf, ratioOf, rounds } from '../pairs.ts'
import { figure, type Part, ratio } from '../report/section.ts'
import { type StartOptions, startSide } from '../sides/start.ts'

/** What is in use differs little from run to run. */
const MOST_PAIRS = 3
const DEFAULT_CONCURRENCY = 10

/** What a large batch holds on the heap for each of its records. */
export const memory: Part = {
  name: 'memory',
  async run({ endpoint, pairs, isQuick, progress }) {
    const size = isQuick ? 1_000 : 10_000
    const many = Math.min(pairs, MOST_PAIRS)
    progress(`memory: ${size} records, ${many} rounds`)
    const all = await rounds(many, {
      atOnce: () => heapOf('lambda-once', { endpoint }, size),
      byDefault: () => heapOf('lambda-once', { endpoint, concurrency: DEFAULT_CONCURRENCY }, size),
      theirs: () => heapOf('powertools', { endpoint }, size),
    })
    const each = (side: 'atOnce' | 'byDefault' | 'theirs') =>
      figure(medianOf(all.map((round) => round[side])) / size / 1024)
    const rowOf = (label: string, side: 'atOnce' | 'byDefault') => {
      return [label, each(side), each('theirs'), ratio(ratioOf(all.map((round) => [round[side], round.theirs])))]
    }
    const rows = [
      rowOf('all at the same time', 'atOnce'),
      rowOf(`${DEFAULT_CONCURRENCY} at a time, lambda-once's default`, 'byDefault'),
    ]
    const unit = `heap in use, KB a record of a batch of ${size.toLocaleString('en-US')}`
    const head = [unit, 'lambda-once', 'Powertools', 'ratio']
    return { sections: [{ name: 'memory', command: 'npm run bench -- --only memory', head, rows }], figures: {} }
  },
}

/** In a process of its own, warmed up by a small batch. */
async function heapOf(name: 'lambda-once' | 'powertools', options: StartOptions, size: number): Promise<number> {
  const side = await startSide(name, options)
  await side.do('memory', { run: 'warm-up', size: 100 })
  const { heapBytes } = await side.do('memory', { run: 'batch', size })
  await side.stop()
  return heapBytes
}
