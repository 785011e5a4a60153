import type { Command } from 'commander'
import { idOf } from '../operation/name.ts'
import { readOperation } from '../operation/read.ts'
import { standingOf } from '../operation/standing.ts'
import { TIMELINE_LIMITS, timelineOf } from '../operation/timeline.ts'
import { sentence } from '../operation/words.ts'
import { count, isoTime, moment, oneLine } from '../terminal/text.ts'
import { type Context, type OperationOptions, perform, withOperation } from './context.ts'

/** `history`: what is known to have happened, in order. */
export function addHistory(program: Command): void {
  withOperation(program.command('history'))
    .description('what the record, its receipts and its messages tell of the past, in order')
    .action((id: string | undefined, options: OperationOptions) =>
      perform(options, (context) => history(context, id, options)),
    )
}

async function history(
  { connection, screen, nowMs }: Context,
  given: string | undefined,
  options: OperationOptions,
): Promise<undefined> {
  const found = await readOperation(connection.store, idOf(given, options), options)
  const entries = timelineOf(found, nowMs)
  const { id, record } = found
  const known = record && { attempt: record.attempt, rev: record.rev, crashes: record.crashes ?? 0 }
  screen.json({
    id,
    ...known,
    entries: entries.map(({ atMs, what }) => ({ at: isoTime(atMs), isFuture: atMs > nowMs, what })),
    limits: TIMELINE_LIMITS,
  })
  screen.line(screen.paint.bold(id))
  screen.line(record === undefined ? 'Its record is gone.' : sentence(standingOf(record, nowMs), nowMs))
  if (known !== undefined)
    screen.line(
      `${count(known.attempt, 'attempt')}, ${known.crashes} known to have ended without a word; ${count(known.rev, 'write')}.`,
    )
  screen.line()
  screen.table(
    ['AT', 'WHAT'],
    entries.map(({ atMs, what }) => {
      const isFuture = atMs > nowMs
      return [moment(atMs, nowMs), isFuture ? screen.paint.dim(oneLine(what)) : oneLine(what)]
    }),
  )
  screen.line()
  screen.line(screen.paint.dim(TIMELINE_LIMITS))
}
