import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { bundleSizes } from '../bundle-size.ts'
import { bundleSize, writeBundle } from '../cold/bundle.ts'
import { BASE, type ComparedFunction, FUNCTIONS } from '../cold/functions.ts'
import { coldStart } from '../cold/run.ts'
import { medianOf, ratioOf, rounds, type Spread } from '../pairs.ts'
import { figure, type Part, type Report, ratio, type Section } from '../report/section.ts'
import { createTable } from '../tables.ts'

const COMMAND = 'npm run bench -- --only cold-start'

/** What each side adds to a bundle and to a cold start, measured in fresh processes. */
export const coldStarts: Part = {
  name: 'cold-start',
  async run({ endpoint, coldPairs, progress }) {
    const client = new DynamoDBClient({ endpoint })
    const tables = { ours: await createTable(client, ['pk', 'sk']), theirs: await createTable(client, ['id']) }
    client.destroy()
    const base = await writeBundle('base', BASE, false)
    const rows: string[][] = []
    const figures: Record<string, Spread> = {}
    for (const compared of FUNCTIONS) {
      const { name, label, event } = compared
      progress(`cold-start: ${label}, ${coldPairs} pairs of fresh processes, twice`)
      const start = async (side: 'ours' | 'theirs', hasSdk: boolean) => {
        const contents = hasSdk ? BASE + compared[side] : compared[side]
        const bundle = await writeBundle(`${name}-${side}-${hasSdk ? 'whole' : 'added'}`, contents, hasSdk)
        return () => coldStart({ bundle, event: event(), endpoint, tableName: tables[side], ...(!hasSdk && { base }) })
      }
      const added = await rounds(coldPairs, { ours: await start('ours', false), theirs: await start('theirs', false) })
      const whole = await rounds(coldPairs, { ours: await start('ours', true), theirs: await start('theirs', true) })
      const compare = (what: string, all: typeof added, of: (one: (typeof added)[number]['ours']) => number) => {
        const spread = ratioOf(all.map(({ ours, theirs }) => [of(ours), of(theirs)]))
        const each = (side: 'ours' | 'theirs') => figure(medianOf(all.map((round) => of(round[side]))))
        rows.push([`${label}: ${what}`, each('ours'), each('theirs'), ratio(spread)])
        return spread
      }
      const importTime = compare('import, SDK and Middy loaded already', added, ({ importMs }) => importMs)
      compare('import of the whole bundle', whole, ({ importMs }) => importMs)
      compare('first invocation', whole, ({ firstMs }) => firstMs)
      compare('import and first invocation', whole, ({ importMs, firstMs }) => importMs + firstMs)
      if (name === 'function') figures.import_time = importTime
    }
    const times = {
      name: 'cold-start',
      command: COMMAND,
      head: ['', 'lambda-once, ms', 'Powertools, ms', 'ratio'],
      rows,
    }
    const bundles = await bundlesOf(FUNCTIONS)
    return {
      sections: [...bundles.sections, await entriesSection(), times],
      figures: { ...figures, ...bundles.figures },
    }
  },
}

/** What each entry point of lambda-once adds; these have budgets that a test holds. */
async function entriesSection(): Promise<Section> {
  const rows = (await bundleSizes()).map(({ entry, bytes, first }) => [entry, kilobytes(bytes), kilobytes(first)])
  const head = [
    'lambda-once: added to SDK and Middy',
    'minified, KB',
    'loaded before the first invocation, if split, KB',
  ]
  return { name: 'entries', command: COMMAND, head, rows }
}

/** Exact figures: nothing here is repeated. */
async function bundlesOf(functions: readonly ComparedFunction[]): Promise<Report> {
  const base = await bundleSize(BASE)
  const rows: string[][] = []
  const figures: Record<string, Spread> = {}
  for (const { name, label, ours, theirs } of functions) {
    const our = await bundleSize(BASE + ours)
    const their = await bundleSize(BASE + theirs)
    const added = [our.whole - base.whole, their.whole - base.whole] as const
    const first = [our.first - base.first, their.first - base.first] as const
    rows.push([`${label}: added to SDK and Middy`, ...added.map(kilobytes), (added[0] / added[1]).toFixed(2)])
    rows.push([
      `${label}: of these loaded before the first invocation, if split`,
      ...first.map(kilobytes),
      (first[0] / first[1]).toFixed(2),
    ])
    rows.push([
      `${label}: with SDK and Middy`,
      kilobytes(our.whole),
      kilobytes(their.whole),
      (our.whole / their.whole).toFixed(2),
    ])
    if (name === 'function') {
      figures.bundle_bytes = ratioOf([added])
      figures.bundle_bytes_loaded_first = ratioOf([first])
    }
  }
  const section: Section = {
    name: 'bundles',
    command: COMMAND,
    head: ['minified', 'lambda-once, KB', 'Powertools, KB', 'ratio'],
    rows,
  }
  return { sections: [section], figures }
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1)
}
