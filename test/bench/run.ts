// `npm run bench`: what lambda-once costs, beside Powertools for AWS Lambda and beside the least that could be written.
import Table from 'cli-table3'
import { startDynamoDbLocal } from '../../infra/local/engines/dynamodb-local.ts'
import { benchOptions } from './options.ts'
import type { Spread } from './pairs.ts'
import { batches } from './parts/batches.ts'
import { coldStarts } from './parts/cold-start.ts'
import { counts } from './parts/counts.ts'
import { growth } from './parts/growth.ts'
import { latency } from './parts/latency.ts'
import { memory } from './parts/memory.ts'
import { profile } from './parts/profile.ts'
import { results } from './parts/results.ts'
import { single } from './parts/single.ts'
import { table } from './parts/table.ts'
import { machineSection, targetsSection } from './report/judgement.ts'
import { writePages } from './report/pages.ts'
import type { Conditions, Part, Section } from './report/section.ts'
import { judged, TARGETS } from './report/targets.ts'

const PARTS: readonly Part[] = [counts, single, profile, batches, results, coldStarts, latency, memory, growth, table]
/** The parts that the targets are measured by. */
const JUDGED: readonly Part[] = [single, batches, results, coldStarts]

process.env.AWS_REGION ??= 'eu-central-1'
process.env.AWS_ACCESS_KEY_ID ??= 'local'
process.env.AWS_SECRET_ACCESS_KEY ??= 'local'

const options = benchOptions(
  process.argv.slice(2),
  PARTS.map(({ name }) => name),
)
const { json, quick, write, only, tableRecords } = options
const startedAt = performance.now()
const seconds = () => Math.round((performance.now() - startedAt) / 1000)
const all = json && !write ? JUDGED : PARTS
const sections: Section[] = []
const figures: Record<string, Spread> = {}
const floors: Record<string, Spread> = {}

for (const part of PARTS.filter(({ name }) =>
  only === undefined ? all.some((one) => one.name === name) : name === only,
)) {
  // One engine for each part: what one leaves in the tables must not slow down the next.
  const engine = await startDynamoDbLocal({ isLongLived: true })
  const conditions: Conditions = {
    endpoint: engine.endpoint,
    pairs: quick ? 3 : 12,
    coldPairs: quick ? 3 : 20,
    isQuick: quick,
    tableRecords: quick ? Math.min(tableRecords, 1_000) : tableRecords,
    progress: (text) => console.error(`${String(seconds()).padStart(4)} s  ${text}`),
  }
  try {
    const report = await part.run(conditions)
    sections.push(...report.sections)
    Object.assign(figures, report.figures)
    Object.assign(floors, report.floors)
    if (!json) for (const section of report.sections) print(section)
  } finally {
    await engine.stop()
  }
}

const targets = targetsSection(figures, floors)
if (Object.keys(TARGETS).every((name) => name in figures)) sections.push(targets)
if (only === undefined) sections.push(machineSection())
if (write) await writePages(sections)
console.error(`${String(seconds()).padStart(4)} s  done`)
if (json) console.log(JSON.stringify(judged(figures, floors)))
else if (targets.rows.length > 0) print(targets)

function print({ head, rows, command }: Section): void {
  const printed = new Table({ head: [...head], style: { head: [], border: [] }, wordWrap: true })
  for (const row of rows) printed.push([...row])
  console.log(`\n${command}\n${printed.toString()}`)
}
