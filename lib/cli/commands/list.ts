import type { Command } from 'commander'
import { type Findings, findingsView, findOperations } from '../operation/find.ts'
import { LISTABLE, type Listable, NEEDING_SOMEBODY } from '../operation/search.ts'
import { sentence, word } from '../operation/words.ts'
import { count, oneLine, relative } from '../terminal/text.ts'
import { type CommonOptions, type Context, perform, wholeNumber, withTable } from './context.ts'
import { targetText } from './rows.ts'

type Options = CommonOptions &
  Partial<Record<Listable, boolean>> & {
    readonly namespace?: string
    readonly limit: number
    readonly index?: boolean
  }

const DEFAULT_LIMIT = 100

/** `list`: what is in some state, found by reading the table. */
export function addList(program: Command): void {
  withTable(program.command('list'))
    .description('operations in some state; without one: what may need somebody (--stale --unknown --stuck)')
    .option('--stale', 'nobody is working on it any more: its lease is over')
    .option('--unknown', 'nobody knows whether an effect has happened')
    .option('--stuck', 'messages that were refused, or that nobody has sent for a quarter of an hour')
    .option('--waiting', 'suspended, until a time or a signal')
    .option('--failed', 'failed for good')
    .option('--retryable', 'given up, to be continued by the next delivery')
    .option('--running', 'somebody may be working on it; admission keys that are taken')
    .option('--completed', 'completed')
    .option('-n, --namespace <name>', 'only of this namespace')
    .option('--limit <n>', 'stop after so many', wholeNumber('--limit', 1), DEFAULT_LIMIT)
    .option(
      '--index',
      'read only the reconciler’s index: cheap on a large table, but it lacks what no machine may finish, and what was written without reconcilerShards',
    )
    .action((options: Options) => perform(options, (context) => list(context, options)))
}

async function list(context: Context, options: Options): Promise<undefined> {
  const { screen, nowMs } = context
  const asked = LISTABLE.filter((name) => options[name])
  const wanted = asked.length > 0 ? asked : NEEDING_SOMEBODY
  const { namespace, limit, index: viaIndex = false } = options
  const found = await findOperations(context.connection, { wanted, namespace, limit, viaIndex }, nowMs, screen.progress)
  if (screen.isJson) {
    screen.json({ states: wanted, ...(await findingsView(context.viewing({}), found)) })
    return
  }
  show(context, found)
  summary(context, found, wanted, options)
}

function show({ screen, nowMs }: Context, { records, messages }: Findings): void {
  const { paint } = screen
  if (records.length > 0) {
    screen.table(
      ['STATE', 'OPERATION', 'ATTEMPT', 'HOW IT STANDS'],
      records
        .toSorted((a, b) => a.record.updatedAtMs - b.record.updatedAtMs)
        .map(({ record, standing }) => [
          word(standing, paint),
          oneLine(record.id),
          String(record.attempt),
          sentence(standing, nowMs),
        ]),
    )
  }
  if (records.length > 0 && messages.length > 0) screen.line()
  if (messages.length > 0) {
    screen.table(
      ['MESSAGE', 'OPERATION', 'CREATED', 'TO'],
      messages.map(({ id, message: { found, stuckReason }, trouble }) => [
        paint.red(stuckReason === undefined ? trouble : `${trouble}: ${oneLine(stuckReason)}`),
        oneLine(id),
        found.kind === 'entry' ? relative(found.entry.createdAtMs - nowMs) : 'unreadable',
        found.kind === 'entry' ? targetText(found.entry.to) : '',
      ]),
    )
  }
}

function summary({ screen }: Context, findings: Findings, wanted: readonly Listable[], options: Options): void {
  const { records, messages, scanned } = findings
  const found = records.length + messages.length
  const states = wanted.join(', ')
  if (found > 0) screen.line()
  const what = found === 0 ? `Nothing is ${states}` : `${count(found, 'found item')} (${states})`
  const where = options.index ? 'in the index' : 'in the table'
  screen.line(
    scanned.isComplete
      ? `${what}; ${count(scanned.items, 'item')} read ${where}.`
      : `${what}; stopped at --limit ${options.limit}, there may be more.`,
  )
}
