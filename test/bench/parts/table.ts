import { medianOf, ratioOf, rounds } from '../pairs.ts'
import { type Conditions, figure, type Part, ratio, type Section } from '../report/section.ts'
import { fillTable } from '../seed.ts'
import { startSide } from '../sides/start.ts'

const OPERATIONS = 300

/** Whether an operation costs more in a fuller table. */
export const table: Part = {
  name: 'table',
  run: async (conditions) => ({ sections: [await growingTable(conditions)], figures: {} }),
}

async function growingTable({ endpoint, pairs, tableRecords, progress }: Conditions): Promise<Section> {
  const sides = {
    ours: await startSide('lambda-once', { endpoint }),
    oursFull: await startSide('lambda-once', { endpoint }),
    theirs: await startSide('powertools', { endpoint }),
    theirsFull: await startSide('powertools', { endpoint }),
  }
  const task = (name: keyof typeof sides) => (round: number) =>
    sides[name].do('single', { run: `table-${round}`, count: OPERATIONS, concurrency: 10 })
  const all = () => ({
    ours: task('ours'),
    oursFull: task('oursFull'),
    theirs: task('theirs'),
    theirsFull: task('theirsFull'),
  })
  await rounds(1, all())
  for (const name of ['oursFull', 'theirsFull'] as const) {
    progress(`table: filling a table with ${tableRecords} records`)
    await fillTable(endpoint, sides[name].tableName, tableRecords)
  }
  progress(`table: single operations on an empty table and on a full one, ${pairs} rounds`)
  await rounds(1, all())
  const seen = await rounds(pairs, all())
  await Promise.all(Object.values(sides).map((side) => side.stop()))
  const rows = (['first', 'duplicate'] as const).flatMap((act) =>
    (
      [
        ['lambda-once', 'ours', 'oursFull'],
        ['Powertools', 'theirs', 'theirsFull'],
      ] as const
    ).map(([label, empty, full]) => {
      const each = (side: keyof typeof sides) =>
        figure(medianOf(seen.map((round) => round[side][act].wallMs)) / OPERATIONS)
      const grown = (what: 'wallMs' | 'cpuMs') =>
        ratio(ratioOf(seen.map((round) => [round[full][act][what], round[empty][act][what]])))
      const name = `${label}, ${act === 'first' ? 'first execution' : 'duplicate'}`
      return [name, each(empty), each(full), grown('wallMs'), grown('cpuMs')]
    }),
  )
  const command = `npm run bench -- --only table --table-records ${tableRecords}`
  const full = `table with ${tableRecords.toLocaleString('en-US')} records: wall, ms`
  const head = ['', 'nearly empty table: wall, ms', full, 'growth of the wall time', 'growth of client CPU']
  return {
    name: tableRecords < 1_000_000 ? 'growth-table' : 'growth-million',
    command,
    head,
    rows,
  }
}
