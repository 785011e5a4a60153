import type { Command } from 'commander'
import { INDEX_NAME } from '../../dynamodb/table-shape.ts'
import { clockFinding, measureOffset } from '../doctor/clock.ts'
import { deliveryFindings } from '../doctor/delivery.ts'
import { type Finding, finding, type Level } from '../doctor/finding.ts'
import { type FunctionFacts, readFunction } from '../doctor/function.ts'
import { permissionFindings } from '../doctor/permissions.ts'
import { type QueueAttributes, readQueue } from '../doctor/queue.ts'
import { readTable, tableFindings } from '../doctor/table.ts'
import { CliFailure, EXIT, type ExitCode } from '../exit.ts'
import type { Paint } from '../terminal/screen.ts'
import { count } from '../terminal/text.ts'
import { type CommonOptions, type Context, perform, wholeNumber, withTable } from './context.ts'

type Options = CommonOptions & {
  readonly relay?: boolean
  readonly reconciler?: boolean
  readonly queue?: string
  readonly function?: string
  readonly retentionSeconds?: number
}

/** `doctor`: whether the table, your permissions and what delivers are as lambda-once needs them. */
export function addDoctor(program: Command): void {
  withTable(program.command('doctor'))
    .description('examine the table, your permissions and clock, and with --queue and --function what delivers')
    .option('--relay', 'an outbox relay is deployed: the stream has to be there')
    .option('--reconciler', 'a reconciler is deployed: the index has to be there')
    .option('--queue <url>', 'also the queue: its times, its dead letters, and the retention they ask for')
    .option('--function <name>', 'also the function: its timeout and its event sources')
    .option(
      '--retention-seconds <n>',
      'what the application has as retentionSeconds (default: the function’s RETENTION_SECONDS)',
      wholeNumber('--retention-seconds', 1),
    )
    .action((options: Options) => perform(options, (context) => doctor(context, options)))
}

async function doctor(context: Context, options: Options): Promise<ExitCode> {
  const { connection, screen } = context
  screen.progress('examining the table …')
  const facts = await readTable(connection)
  const hasIndex = facts.table.GlobalSecondaryIndexes?.some(({ IndexName }) => IndexName === INDEX_NAME) ?? false
  const expectation = { relay: options.relay ?? false, reconciler: options.reconciler ?? false }
  const findings = [
    ...tableFindings(facts, expectation),
    ...(await permissionFindings(connection, hasIndex)),
    clockFinding(await measureOffset(connection)),
    ...(await delivery(context, options)),
  ]
  screen.progress(undefined)
  const problems = findings.filter(({ level }) => level === 'problem').length
  const warnings = findings.filter(({ level }) => level === 'warning').length
  screen.json({ table: connection.tableName, isHealthy: problems === 0, findings })
  screen.table(
    [],
    findings.map(({ id, level, text }) => [mark(level, screen.paint), id, text]),
  )
  screen.line()
  screen.line(
    problems + warnings === 0
      ? 'Everything is as it should be.'
      : `${count(problems, 'problem')} to put right, ${count(warnings, 'warning')}.`,
  )
  screen.line(screen.paint.dim('Permissions are those of your credentials; those of a function are in its role.'))
  return problems === 0 ? EXIT.done : EXIT.unhealthy
}

async function delivery({ connection, screen }: Context, options: Options): Promise<readonly Finding[]> {
  const { tableName, region } = connection
  if (options.queue === undefined && options.function === undefined) return []
  screen.progress('examining what delivers …')
  const queue = options.queue === undefined ? undefined : await orFinding('queue', readQueue(options.queue, region))
  const handler =
    options.function === undefined ? undefined : await orFinding('function', readFunction(options.function, region))
  const failed = [queue, handler].filter((result) => result !== undefined && 'level' in result)
  return [
    ...failed,
    ...deliveryFindings(known<QueueAttributes>(queue), known<FunctionFacts>(handler), {
      tableName,
      retentionSeconds: options.retentionSeconds,
    }),
  ]
}

/** What cannot be read is a finding, too: the rest of the report is worth having. */
async function orFinding<T extends object>(id: string, reading: Promise<T>): Promise<T | Finding> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof CliFailure) throw error
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return finding(id, 'problem', `It cannot be read (${why}). Check its name, --region and your permissions.`)
  }
}

function known<T extends object>(result: T | Finding | undefined): T | undefined {
  return result === undefined || 'level' in result ? undefined : result
}

function mark(level: Level, paint: Paint): string {
  switch (level) {
    case 'ok':
      return paint.green('ok')
    case 'info':
      return paint.cyan('info')
    case 'warning':
      return paint.yellow('warning')
    case 'problem':
      return paint.red('problem')
    case 'skipped':
      return paint.dim('skipped')
  }
}
