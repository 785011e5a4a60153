import { startLatencyProxy } from '../latency-proxy.ts'
import { medianOf, ratioOf, rounds } from '../pairs.ts'
import { figure, type Part, ratio } from '../report/section.ts'
import { startSide } from '../sides/start.ts'
import type { Share } from '../sides/tasks.ts'
import { batchRounds } from './batches.ts'

const DELAY_MS = 5
const MOST_PAIRS_OF_LARGE = 5
const WARM_UP_ROUNDS = 4
const OPERATIONS = 40
const BATCHES = [
  { size: 10, repeat: 5 },
  { size: 100, repeat: 2 },
  { size: 1_000, repeat: 1 },
] as const
const SHARES: Readonly<Record<Share, string>> = {
  none: 'no duplicates',
  half: '50 % duplicates',
  all: 'only duplicates',
  redelivered: 'redelivered',
}

/** Single operations and batches with a network between the function and its table. */
export const latency: Part = {
  name: 'latency',
  async run({ endpoint, pairs, isQuick, progress }) {
    const proxy = await startLatencyProxy(endpoint, DELAY_MS)
    const ours = await startSide('lambda-once', { endpoint, through: proxy.endpoint })
    const theirs = await startSide('powertools', { endpoint, through: proxy.endpoint })
    const rows: string[][] = []
    const add = (what: string, times: readonly (readonly [number, number])[], count: number) => {
      const [our, their] = [0, 1].map((side) => figure(medianOf(times.map((pair) => pair[side] ?? 0)) / count))
      rows.push([what, our ?? '', their ?? '', ratio(ratioOf(times))])
    }

    progress(`latency: single operations, ${DELAY_MS} ms a request, ${pairs} rounds`)
    const input = (round: number | string) => ({ run: `single-${round}`, count: OPERATIONS, concurrency: 1 })
    await Promise.all([ours.do('single', input('warm-up')), theirs.do('single', input('warm-up'))])
    const singles = await rounds(pairs, {
      ours: (round) => ours.do('single', input(round)),
      theirs: (round) => theirs.do('single', input(round)),
    })
    for (const act of ['first', 'duplicate'] as const) {
      const what = act === 'first' ? 'one operation, first execution' : 'one operation, duplicate'
      add(
        what,
        singles.map((round) => [round.ours[act].wallMs, round.theirs[act].wallMs] as const),
        OPERATIONS,
      )
    }

    for (const { size, repeat } of isQuick ? BATCHES.slice(0, 1) : BATCHES) {
      const many = size < 1_000 ? pairs : Math.min(pairs, MOST_PAIRS_OF_LARGE)
      progress(`latency: batches of ${size}, ${DELAY_MS} ms a request, ${many} rounds`)
      await batchRounds(ours, theirs, `warm-up-${size}-`, { size, repeat, rounds: WARM_UP_ROUNDS })
      const all = await batchRounds(ours, theirs, `${size}-`, { size, repeat, rounds: many })
      for (const [share, label] of Object.entries(SHARES) as [Share, string][]) {
        const times = all.map((round) => [round['lambda-once'][share].wallMs, round.powertools[share].wallMs] as const)
        add(`batch of ${size.toLocaleString('en-US')}, ${label}`, times, repeat)
      }
    }
    await Promise.all([ours.stop(), theirs.stop()])
    await proxy.stop()
    const head = [`${DELAY_MS} ms added to each request`, 'lambda-once: wall, ms', 'Powertools: wall, ms', 'ratio']
    return {
      sections: [{ name: 'latency', command: 'npm run bench -- --only latency', head, rows }],
      figures: {},
    }
  },
}
