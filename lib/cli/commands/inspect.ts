import type { Command } from 'commander'
import { fenceOf } from '../../record/identity.ts'
import type { OperationRecord } from '../../record/record.ts'
import { idOf } from '../operation/name.ts'
import { type FoundOperation, readOperation } from '../operation/read.ts'
import { troubleOf } from '../operation/search.ts'
import { standingOf } from '../operation/standing.ts'
import { shownValue, valueText } from '../operation/values.ts'
import { failureView, messageView, receiptView, recordView, type Viewing } from '../operation/view.ts'
import { advice, sentence, word } from '../operation/words.ts'
import type { Screen } from '../terminal/screen.ts'
import { count, moment, oneLine } from '../terminal/text.ts'
import { type Context, type OperationOptions, perform, withOperation } from './context.ts'
import { messageRows, receiptRows } from './rows.ts'

type Options = OperationOptions & { readonly showValues?: boolean }

/** `inspect`: one operation, with everything that lies under it. */
export function addInspect(program: Command): void {
  withOperation(program.command('inspect'))
    .description('one operation: how it stands, its steps, receipts and messages, and what you can do')
    .option('--show-values', 'show stored outcomes, requests and bodies, too: they may hold what is nobody’s business')
    .action((id: string | undefined, options: Options) => perform(options, (context) => inspect(context, id, options)))
}

async function inspect(context: Context, id: string | undefined, options: Options): Promise<undefined> {
  const { connection, screen } = context
  const found = await readOperation(connection.store, idOf(id, options), options)
  const viewing = context.viewing(options)
  if (screen.isJson) screen.json(await operationView(viewing, found))
  else await show(screen, viewing, found)
}

/** The whole operation as one document. */
async function operationView(viewing: Viewing, { id, record, receipts, messages }: FoundOperation) {
  return {
    ...(record === undefined ? { id, status: null } : await recordView(viewing, record)),
    receipts: await Promise.all(receipts.map((receipt) => receiptView(viewing, receipt))),
    messages: await Promise.all(messages.map((message) => messageView(viewing, message))),
  }
}

async function show(
  screen: Screen,
  viewing: Viewing,
  { id, record, receipts, messages }: FoundOperation,
): Promise<void> {
  const { nowMs } = viewing
  const { paint } = screen
  if (record === undefined) {
    screen.line(paint.bold(id))
    screen.line('Its record is gone: its retention was over. What follows is kept longer.')
  } else {
    const standing = standingOf(record, nowMs)
    screen.line(`${paint.bold(id)}  ${word(standing, paint)}`)
    screen.line(sentence(standing, nowMs))
    screen.line()
    screen.fields(await fieldsOf(viewing, record))
    await showSteps(screen, viewing, record)
  }
  if (receipts.length > 0) {
    screen.line()
    screen.line(paint.bold(count(receipts.length, 'receipt')))
    screen.table(['KIND', 'AT', 'ATTEMPT', 'STEP', 'VALUE'], await receiptRows(viewing, receipts))
  }
  if (messages.length > 0) {
    screen.line()
    screen.line(paint.bold(count(messages.length, 'message')))
    screen.table(['STATE', 'TO', 'CREATED', 'SINCE', 'BODY'], await messageRows(viewing, messages))
  }
  const todo = [
    ...(record === undefined ? [] : advice(record, standingOf(record, nowMs))),
    ...(messages.some((message) => troubleOf(message, nowMs) !== undefined)
      ? [`lambda-once dispatch '${id}'   send its messages that nobody has sent`]
      : []),
  ]
  if (todo.length === 0) return
  screen.line()
  screen.line(paint.bold('What you can do'))
  for (const sentence of todo) screen.line(`  ${sentence}`)
}

async function fieldsOf(viewing: Viewing, record: OperationRecord): Promise<(readonly [string, string])[]> {
  const { store, showValues, nowMs } = viewing
  const at = (atMs: number) => moment(atMs, nowMs)
  const { outcome, redrive, signals = [], metadata, expiresAt, leaseUntil, continuation } = record
  const rows: (readonly [string, string])[] = [
    ['status', `${record.status}, attempt ${record.attempt}, rev ${record.rev}`],
    ['first claim', at(record.createdAtMs)],
    ['last write', at(record.updatedAtMs)],
  ]
  if (leaseUntil !== undefined) rows.push(['lease until', at(leaseUntil)])
  if (record.takeover === 'never') rows.push(['takeover', 'never: only an operator may decide'])
  if (record.crashes) rows.push(['crashes', `${count(record.crashes, 'attempt')} ended without a word`])
  rows.push(['kept until', expiresAt === undefined ? 'for ever' : at(expiresAt * 1000)])
  rows.push(['fence', fenceOf(record)])
  for (const [name, value] of Object.entries(metadata ?? {})) rows.push([`note ${oneLine(name)}`, oneLine(value)])
  if (outcome?.kind === 'failure') {
    const { name, code, message } = failureView(outcome.failure, showValues)
    const text = [name, code && `(${code})`, message && `: ${message}`].filter(Boolean).join(' ').replace(' :', ':')
    rows.push(['failure', oneLine(text)])
  }
  if (outcome?.value !== undefined)
    rows.push(['outcome', valueText(await shownValue(store, outcome.value, showValues))])
  if (record.commitId !== undefined) rows.push(['committed', 'in one transaction with its writes'])
  if (redrive !== undefined) {
    const [target = ''] = Object.values(redrive.target)
    rows.push([
      'request',
      `${valueText(await shownValue(store, redrive.payload, showValues))}; goes to ${oneLine(target)}`,
    ])
  }
  for (const { atMs, payload } of signals) {
    rows.push(['signal', `${at(atMs)}, ${valueText(await shownValue(store, payload, showValues))}`])
  }
  if (continuation !== undefined) rows.push(['continuation', `a message, expected ${at(continuation.dueAtMs)}`])
  return rows
}

async function showSteps(
  screen: Screen,
  { store, showValues, nowMs }: Viewing,
  { steps }: OperationRecord,
): Promise<void> {
  const names = Object.entries(steps)
  if (names.length === 0) return
  const rows = names.map(async ([name, step]): Promise<string[]> => {
    switch (step.kind) {
      case 'done':
        return [oneLine(name), screen.paint.green('done'), valueText(await shownValue(store, step.value, showValues))]
      case 'started':
        return [oneLine(name), screen.paint.yellow('begun'), `${moment(step.startedAtMs, nowMs)}, and no end recorded`]
      case 'result-lost':
        return [
          oneLine(name),
          screen.paint.red('done'),
          `its result could not be stored: ${oneLine(step.failure.name)}`,
        ]
    }
  })
  screen.line()
  screen.line(screen.paint.bold(count(names.length, 'step')))
  screen.table(['NAME', 'STATE', 'RESULT'], await Promise.all(rows))
}
