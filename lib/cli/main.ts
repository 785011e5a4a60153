#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { addConsole } from './commands/console.ts'
import { addDispatch } from './commands/dispatch.ts'
import { addDoctor } from './commands/doctor.ts'
import { addExport } from './commands/export.ts'
import { addHistory } from './commands/history.ts'
import { addInspect } from './commands/inspect.ts'
import { addList } from './commands/list.ts'
import { addReceipts } from './commands/receipts.ts'
import { addRedrive } from './commands/redrive.ts'
import { addRelease } from './commands/release.ts'
import { addResume } from './commands/resume.ts'
import { addSettle } from './commands/settle.ts'
import { EXIT, exitName } from './exit.ts'
import { explain } from './explain.ts'

const EPILOGUE = `
The table is --table or $IDEMPOTENCY_TABLE. Nothing stored is shown without --show-values, and nothing is written without
--yes or your answer. Exit codes: 0 done, 1 unexpected, 2 usage, 3 no such operation, 4 refused or changed meanwhile,
5 not confirmed, 6 wrong table, 7 no permission, 8 no answer, 9 doctor found something, 10 stored value lost, 11 not sent.`

// Two levels up, from the source as from the bundle.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const isJson = process.argv.includes('--json')
const program = new Command('lambda-once')
  .version(version)
  .description('See and operate what lambda-once keeps in its table.')
  .addHelpText('after', EPILOGUE)
  .showHelpAfterError(isJson ? false : 'Say --help for what there is.')
  // Before the commands are added, which take it over.
  .configureOutput({ outputError: (text, write) => write(isJson ? usageError(text) : text) })

for (const add of [
  addList,
  addInspect,
  addHistory,
  addReceipts,
  addResume,
  addSettle,
  addRelease,
  addRedrive,
  addDispatch,
  addExport,
  addDoctor,
]) {
  add(program)
}
addConsole(program, new URL('./page/', import.meta.url))
for (const command of [program, ...program.commands]) command.exitOverride()

/** What is wrong with the arguments, as every failure is told to scripts. */
function usageError(text: string): string {
  const message = text.replace(/^error: /, '').trim()
  return `${JSON.stringify({ error: { code: exitName(EXIT.usage), exitCode: EXIT.usage, message } })}\n`
}

// Whoever reads the output may have seen enough (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done)
  throw error
})

try {
  await program.parseAsync()
} catch (error) {
  // commander has said what is wrong by now; help and version come this way, too, with code 0.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage
  else {
    const { message, exitCode } = explain(error, { tableName: '', endpoint: undefined })
    process.stderr.write(`error: ${message}\n`)
    process.exitCode = exitCode
  }
}
