import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { bundleSizes } from '../bundle-size.ts'
import { bundleParts, bundleSize, writeBundle } from '../cold/bundle.ts'
import { BASE, type ComparedFunction, FUNCTIONS } from '../cold/functions.ts'
import { type ColdStart, coldStart } from '../cold/run.ts'
import { medianOf, ratioOf, rounds, type Spread } from '../pairs.ts'
import { figure, type Part, type Report, ratio, type Section } from '../report/section.ts'
import { createTable } from '../tables.ts'

const COMMAND = 'npm run bench -- --only cold-start'

type ColdSide = 'ours' | 'theirs' | 'floor'
type ColdRound = Record<ColdSide, ColdStart>

/** What each side adds to a bundle and to a cold start, measured in fresh processes. */
export const coldStarts: Part = {
  name: 'cold-start',
  async run({ endpoint, coldPairs, progress }) {
    const client = new DynamoDBClient({ endpoint })
    const byId = await createTable(client, ['id'])
    const tables = { ours: await createTable(client, ['pk', 'sk']), theirs: byId, floor: byId }
    client.destroy()
    const base = await writeBundle('base', BASE, false)
    const rows: string[][] = []
    const figures: Record<string, Spread> = {}
    const floors: Record<string, Spread> = {}
    for (const compared of FUNCTIONS) {
      const { name, label, event } = compared
      progress(`cold-start: ${label}, ${coldPairs} pairs of fresh processes, twice`)
      const start = async (side: ColdSide, hasSdk: boolean) => {
        const code = compared[side] ?? compared.theirs
        const bundle = await writeBundle(
          `${name}-${side}-${hasSdk ? 'whole' : 'added'}`,
          hasSdk ? BASE + code : code,
          hasSdk,
        )
        return () => coldStart({ bundle, event: event(), endpoint, tableName: tables[side], ...(!hasSdk && { base }) })
      }
      const sides: readonly ColdSide[] = compared.floor === undefined ? ['ours', 'theirs'] : ['ours', 'theirs', 'floor']
      const roundsOf = async (hasSdk: boolean): Promise<ColdRound[]> => {
        const starts = await Promise.all(sides.map(async (side) => [side, await start(side, hasSdk)] as const))
        return rounds(coldPairs, Object.fromEntries(starts) as Record<ColdSide, () => Promise<ColdStart>>)
      }
      const added = await roundsOf(false)
      const whole = await roundsOf(true)
      const compare = (what: string, all: readonly ColdRound[], of: (one: ColdStart) => number) => {
        const to = (side: ColdSide) => ratioOf(all.map((round) => [of(round[side]), of(round.theirs)]))
        const each = (side: ColdSide) =>
          sides.includes(side) ? figure(medianOf(all.map((round) => of(round[side])))) : '–'
        rows.push([`${label}: ${what}`, each('ours'), each('theirs'), each('floor'), ratio(to('ours'))])
        return to
      }
      const importTimes = compare('import, SDK and Middy loaded already', added, ({ importMs }) => importMs)
      compare('import of the whole bundle', whole, ({ importMs }) => importMs)
      compare('first invocation', whole, ({ firstMs }) => firstMs)
      compare('import and first invocation', whole, ({ importMs, firstMs }) => importMs + firstMs)
      if (name === 'function') {
        figures.import_time = importTimes('ours')
        floors.import_time = importTimes('floor')
      }
    }
    const times = {
      name: 'cold-start',
      command: COMMAND,
      head: ['', 'lambda-once, ms', 'Powertools, ms', 'floor, ms', 'ratio to Powertools'],
      rows,
    }
    const bundles = await bundlesOf(FUNCTIONS)
    return {
      sections: [...bundles.sections, await partsSection(), await entriesSection(), times],
      figures: { ...figures, ...bundles.figures },
      floors: { ...floors, ...bundles.floors },
    }
  },
}

/** What of lambda-once a function carries that only runs an operation once. */
async function partsSection(): Promise<Section> {
  const [{ ours = '' } = {}] = FUNCTIONS
  const sizes = new Map<string, number>()
  for (const [path, bytes] of await bundleParts(ours)) {
    const part = PARTS_OF_A_BUNDLE.find(({ is }) => is.test(path))?.part ?? 'the rest'
    sizes.set(part, (sizes.get(part) ?? 0) + bytes)
  }
  const rows = [...sizes].sort(([, one], [, other]) => other - one).map(([part, bytes]) => [part, kilobytes(bytes)])
  return { name: 'bundle-parts', command: COMMAND, head: ['any function: what of it', 'minified, KB'], rows }
}

/** Which of its files belong to what; the first that fits counts. */
const PARTS_OF_A_BUNDLE: readonly { readonly is: RegExp; readonly part: string }[] = [
  {
    is: /^lib\/(commit|order|outbox)\/|commit-preparation|engine\/commit|dynamodb\/preparation/,
    part: '`commit`: writes and messages in one transaction',
  },
  { is: /^lib\/(steps|retry)\/|step-options/, part: '`step`, and its retries' },
  { is: /suspen|continuation|engine\/redrive|idempotency\/signal/, part: '`delay`, `wait` and `signal`' },
  { is: /idempotency\/(admission|settle)|receipts/, part: '`acquire`, `settle` and receipts' },
  { is: /dynamodb\/group\/|p-limit|yocto-queue/, part: 'group commit' },
  {
    is: /devalue|rich-values|compression|outcome\/parts|dynamodb\/parts|codec|coded/,
    part: 'outcomes that are no small JSON: rich values, compression, parts, codecs',
  },
  { is: /^lib\/dynamodb\/|@aws-sdk/, part: 'the DynamoDB store' },
  {
    is: /guards|errors\.ts|operation\/options|metadata|schema/,
    part: 'errors that say what to do, and checks of options',
  },
  {
    is: /^lib\/(record|lease)\/|canonicalize|^lib\/engine\/|^lib\/idempotency\/|^lib\/outcome\/|^lib\/operation\/|^lib\/base\//,
    part: 'the claim: keys, fingerprints, lease, takeover, replay',
  },
]

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
  const floors: Record<string, Spread> = {}
  for (const { name, label, ours, theirs, floor } of functions) {
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
    if (floor !== undefined) {
      const byHand = (await bundleSize(BASE + floor)).whole - base.whole
      rows.push([`${label}: by hand, added to SDK and Middy`, kilobytes(byHand), '', ''])
      floors.bundle_bytes = ratioOf([[byHand, added[1]]])
    }
  }
  const section: Section = {
    name: 'bundles',
    command: COMMAND,
    head: ['minified', 'lambda-once, KB', 'Powertools, KB', 'ratio'],
    rows,
  }
  return { sections: [section], figures, floors }
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1)
}
