import type { Command } from 'commander'
import { startConsole } from '../console/server.ts'
import { CliFailure, EXIT } from '../exit.ts'
import { explain } from '../explain.ts'
import { createJournal } from '../watch/journal.ts'
import { type WatchedTable, watchedTable } from '../watch/table.ts'
import { createWatch } from '../watch/watch.ts'
import { type CommonOptions, type Context, perform, wholeNumber, withTable } from './context.ts'

type Options = CommonOptions & {
  readonly port: number
  readonly allowWrites?: boolean
  readonly showValues?: boolean
}

/** `console`: the same in a browser. @param page - the folder of the page's files */
export function addConsole(program: Command, page: URL): void {
  withTable(program.command('console'))
    .description('the same in a browser, on this machine only; reads, unless you say --allow-writes')
    .option('--port <n>', 'a port of its own (default: any that is free)', wholeNumber('--port', 1), 0)
    .option('--allow-writes', 'with resume, settle, release, redrive and dispatch, each with a question')
    .option('--show-values', 'with stored outcomes, requests and bodies')
    .action((options: Options) => perform(options, (context) => serve(context, options, page)))
}

async function serve({ connection, screen }: Context, options: Options, page: URL): Promise<undefined> {
  const { port, allowWrites = false, showValues = false } = options
  const table = watchedTable(connection)
  await checkTable(table)
  const watch = createWatch(table, createJournal(), false)
  const console = await startConsole({ watch, allowWrites, showValues }, page, port).catch((cause: unknown) => {
    throw new CliFailure(EXIT.usage, `The console cannot listen on port ${port}: ${String(cause)}`, { cause })
  })
  screen.json({ url: console.url })
  screen.line(`The console of ${connection.tableName}: ${screen.paint.bold(console.url)}`)
  screen.line(allowWrites ? 'It may write. Ctrl-C ends it.' : 'It only reads. Ctrl-C ends it.')
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await console.close()
}

/** Says at once what the page would have to say. Who may not read the table may still look an operation up. */
async function checkTable(table: WatchedTable): Promise<void> {
  try {
    await table.readPage(undefined, 1)
  } catch (error) {
    const failure = explain(error, table)
    if (failure.exitCode !== EXIT.permission) throw failure
  }
}
