import { readFile } from 'node:fs/promises'
import { text as readStream } from 'node:stream/consumers'
import type { Command } from 'commander'
import type { Settlement } from '../../idempotency/settle.ts'
import { DEFAULTS } from '../../operation/options.ts'
import { settleMeaning } from '../acts/meaning.ts'
import { settleShown } from '../acts/settle.ts'
import { CliFailure, EXIT } from '../exit.ts'
import { moment } from '../terminal/text.ts'
import { type Context, perform, type WriteOptions, wholeNumber, withWrite } from './context.ts'
import { choose, confirmChange, done } from './write.ts'

type Options = WriteOptions & {
  readonly value?: string
  readonly valueFile?: string
  readonly error?: string
  readonly errorName: string
  readonly retentionSeconds: number
}

/** `settle`: ends an operation with what somebody has found out. */
export function addSettle(program: Command): void {
  withWrite(program.command('settle'))
    .description('end it with what you have found out: a value, or a failure, which every repetition then gets')
    .option('--value <json>', 'it happened; this is the answer, as JSON')
    .option('--value-file <path>', 'the same from a file; - reads stdin')
    .option('--error <message>', 'it failed for good')
    .option('--error-name <name>', 'the name of that failure', 'Error')
    .option(
      '--retention-seconds <n>',
      'how long that is kept: what the application has as retentionSeconds',
      wholeNumber('--retention-seconds', 1),
      DEFAULTS.retentionSeconds,
    )
    .action((id: string | undefined, options: Options) => perform(options, (context) => settle(context, id, options)))
}

async function settle(context: Context, id: string | undefined, options: Options): Promise<undefined> {
  const settlement = await settlementOf(options)
  const chosen = await choose(context, 'settle', id, options)
  const { retentionSeconds } = options
  const until = moment(context.nowMs + retentionSeconds * 1000, context.nowMs)
  await confirmChange(context, chosen, settleMeaning(settlement, until), options)
  await settleShown(context.connection.store, chosen.record, settlement, { retentionSeconds })
  const result = 'error' in settlement ? 'failed' : 'completed'
  done(context, chosen, result, [`It is ${result}. Repetitions get what you gave, until ${until}.`])
}

/** @throws CliFailure when not exactly one outcome is given, or it is no JSON */
async function settlementOf({ value, valueFile, error, errorName }: Options): Promise<Settlement> {
  const given = [value, valueFile, error].filter((option) => option !== undefined)
  if (given.length !== 1) {
    throw new CliFailure(EXIT.usage, 'Say what you have found out: exactly one of --value, --value-file and --error.')
  }
  if (error !== undefined) return { error: Object.assign(new Error(error), { name: errorName }) }
  const json = value ?? (await textOf(valueFile ?? '-'))
  try {
    return { value: JSON.parse(json) as unknown }
  } catch {
    throw new CliFailure(EXIT.usage, `The value is no JSON. A text needs its quotes: --value '"paid"'.`)
  }
}

async function textOf(path: string): Promise<string> {
  if (path === '-') return readStream(process.stdin)
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const code: unknown = Reflect.get(Object(cause), 'code')
    throw new CliFailure(EXIT.usage, `--value-file ${path} cannot be read (${String(code)}).`, { cause })
  }
}
