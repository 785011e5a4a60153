import type { Command } from 'commander'
import { type Connection, type ConnectionOptions, connect } from '../connection.ts'
import { CliFailure, EXIT, type ExitCode } from '../exit.ts'
import { explain } from '../explain.ts'
import type { NameOptions } from '../operation/name.ts'
import type { Viewing } from '../operation/view.ts'
import { createScreen, type Screen } from '../terminal/screen.ts'

/** The options that every command has. */
export interface CommonOptions extends ConnectionOptions {
  readonly json?: boolean
}

/** What a command works with. */
export interface Context {
  readonly connection: Connection
  readonly screen: Screen
  /** The moment of the command: everything it shows is of one moment. */
  readonly nowMs: number
  viewing(options: { readonly showValues?: boolean }): Viewing
}

/** Adds the options that say which table. */
export function withTable(command: Command): Command {
  return command
    .option('-t, --table <name>', 'the table (default: $IDEMPOTENCY_TABLE)')
    .option('--region <region>', 'its region (default: $AWS_REGION, or that of your profile)')
    .option('--endpoint <url>', 'a local engine, such as http://localhost:8000')
    .option('--json', 'one JSON document on stdout, for scripts')
}

/** Adds the options that name one operation. */
export function withOperation(command: Command): Command {
  return withTable(command)
    .argument('[id]', 'the id of the operation, as logs and `list` have it')
    .option('-n, --namespace <name>', 'with --key: the namespace of its handler')
    .option('-k, --key <key>', 'its idempotency key; more than once for a key of several parts', collect)
    .option('-s, --scope <part>', 'its scope; more than once for a scope of several parts', collect)
}

/** Adds the options of a command that writes. */
export function withWrite(command: Command): Command {
  return withOperation(command)
    .option('-y, --yes', 'do it without asking')
    .option(
      '--if-rev <n>',
      'only if the record is still at this rev, as `inspect` has shown it',
      wholeNumber('--if-rev', 0),
    )
}

/** A value of an option that may come several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Reads a whole number. The reader throws a CliFailure naming the option. */
export function wholeNumber(option: string, least: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (/^\d+$/.test(value) && Number.isSafeInteger(number) && number >= least) return number
    throw new CliFailure(EXIT.usage, `${option} must be a whole number, at least ${least}; got "${value}".`)
  }
}

/** What was given of an operation's name. */
export type OperationOptions = CommonOptions & NameOptions
/** What was given to a command that writes. */
export type WriteOptions = OperationOptions & { readonly yes?: boolean; readonly ifRev?: number }

/** Runs one command, from the options to the exit code: the one place where anything thrown becomes a sentence. */
export async function perform(
  options: CommonOptions,
  work: (context: Context) => Promise<ExitCode | undefined>,
): Promise<void> {
  const { stdout, stderr, env } = process
  const screen = createScreen({ isJson: options.json ?? false, stdout, stderr, env })
  let connection: Connection | undefined
  try {
    // The clients of other services are made elsewhere, and find it here.
    if (options.region !== undefined) env.AWS_REGION = options.region
    const opened = connect(options, env)
    connection = opened
    const nowMs = Date.now()
    const exitCode = await work({
      connection: opened,
      screen,
      nowMs,
      viewing: ({ showValues = false }) => ({ store: opened.store, showValues, nowMs }),
    })
    process.exitCode = exitCode ?? EXIT.done
  } catch (error) {
    const failure = explain(error, { tableName: connection?.tableName ?? '', endpoint: options.endpoint })
    screen.failure(failure)
    process.exitCode = failure.exitCode
  } finally {
    connection?.close()
  }
}
