// `npm start`: the service of the synthesized template on this machine, and the main job run through it.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import pc from 'picocolors'
import { findOrInstallJava } from './engines/java.ts'
import { reportTable } from './job/report.ts'
import { runService } from './job/run-service.ts'
import type { StartOptions, Whereabouts } from './job/start-options.ts'
import { PARTS, type PartName } from './parts.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const SHOWN_PROBLEMS = 12

function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (Number.isInteger(value) && value >= least) return value
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`)
  }
}

const command = new Command('npm start --')
  .description(
    'Runs the synthesized service locally, puts orders through it while processes are killed, and looks into the books.',
  )
  .option('--orders <n>', 'orders to place; 0 with --serve only serves', wholeNumber(0), 200)
  .option(
    '--kills <n>',
    'processes to kill -9 mid-flight (default: 4 of each function, 1 under 50 orders, more from 1000 on)',
    wholeNumber(0),
  )
  .addOption(
    new Option('--kill <functions...>', 'whose processes are killed').choices(PARTS.map(({ name }) => name)).default(
      PARTS.map(({ name }) => name),
      'all of them',
    ),
  )
  .option('--schedule-every <seconds>', 'the period of schedules, instead of the template’s', wholeNumber(1), 5)
  .option('--seed <n>', 'decides the orders, the faults of the payment provider and the kills', wholeNumber(0), 1)
  .option(
    '--visibility <seconds>',
    'visibility of received messages (default: the worker’s timeout + 3 s)',
    wholeNumber(1),
  )
  .option('--serve', 'keep everything up afterwards, with a page to watch it and for curl', false)
  .option('--allow-writes', 'with --serve: the page may write, and asks each time', false)
  .option('--show-values', 'with --serve: the page shows stored values', false)
  .option('--in-memory', 'do without Java: one process, the in-memory store, no kills', false)
  .option('--assembly <directory>', 'a cloud assembly to run instead of synthesizing this project’s')
  .parse()
const flags = command.opts<{
  orders: number
  kills?: number
  kill: PartName[]
  scheduleEvery: number
  seed: number
  visibility?: number
  serve: boolean
  allowWrites: boolean
  showValues: boolean
  inMemory: boolean
  assembly?: string
}>()
if (flags.orders === 0 && !flags.serve) command.error('error: --orders 0 does nothing without --serve')
if (flags.inMemory && flags.kills) command.error('error: --in-memory has no processes that --kills could kill')
if (flags.inMemory && flags.assembly) command.error('error: --in-memory runs the functions of this project only')

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopping.abort(new Error(`stopped by ${signal}`))
  })
}

try {
  const where = findWhere()
  const options: StartOptions = {
    root: ROOT,
    logDirectory: join(ROOT, '.local', 'logs'),
    where,
    assemblyDirectory: flags.assembly,
    orders: flags.orders,
    kills:
      where.kind === 'one-process' || flags.orders === 0
        ? 0
        : (flags.kills ?? flags.kill.length * killsOfEach(flags.orders)),
    killParts: flags.kill,
    scheduleEverySeconds: flags.scheduleEvery,
    seed: flags.seed,
    visibilitySeconds: flags.visibility,
    serve: flags.serve,
    consoleWrites: flags.allowWrites,
    consoleValues: flags.showValues,
    signal: stopping.signal,
  }
  const result = await runService(options, (finished) => {
    console.log(reportTable(finished))
    const { problems } = finished.findings
    for (const problem of problems.slice(0, SHOWN_PROBLEMS)) console.log(pc.red(`✗ ${problem}`))
    if (problems.length > SHOWN_PROBLEMS) console.log(pc.red(`✗ … and ${problems.length - SHOWN_PROBLEMS} more`))
    const verdict =
      problems.length === 0
        ? pc.green('every order once, every charge once, every balance right')
        : pc.red('NOT exactly once')
    const limits = finished.hadProcesses ? '' : ' (in one process, in memory)'
    console.log(`${verdict}${limits} · ${finished.seconds} s · seed ${flags.seed}`)
  })
  process.exitCode = result && result.findings.problems.length > 0 ? 1 : 0
} catch (error) {
  if (stopping.signal.aborted) {
    console.error('stopped')
    process.exitCode = 130
  } else {
    console.error(pc.red(error instanceof Error ? error.message : String(error)))
    process.exitCode = 1
  }
}

function findWhere(): Whereabouts {
  if (flags.inMemory) return { kind: 'one-process', reason: 'Java is not used, as --in-memory asks for.' }
  const java = findOrInstallJava()
  if (java.found) return { kind: 'processes', javaPath: java.path }
  // What is in somebody else's assembly can only be run from its bundles.
  if (flags.assembly !== undefined) throw new Error(java.reason)
  return { kind: 'one-process', reason: `No Java. ${java.reason}` }
}

function killsOfEach(orders: number): number {
  return orders < 50 ? 1 : Math.max(4, Math.round(orders / 200))
}
