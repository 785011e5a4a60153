import Table from 'cli-table3'
import colors from 'picocolors'
import { type CliFailure, exitName } from '../exit.ts'
import { plain } from './text.ts'

/** The streams and settings of the process. */
export interface ScreenOptions {
  readonly isJson: boolean
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly env: NodeJS.ProcessEnv
}

/** Colours that are nothing where nobody sees them. */
export type Paint = ReturnType<typeof colors.createColors>

/** Where answers go: tables and sentences for people, or one JSON document for scripts. */
export interface Screen {
  readonly isJson: boolean
  /** Whether a person sits in front of it. */
  readonly isTerminal: boolean
  readonly paint: Paint
  /** For people; nothing with `--json`. */
  line(text?: string): void
  /** Name and value, one below the other. For people. */
  fields(rows: readonly (readonly [name: string, value: string])[]): void
  /** For people. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): void
  /** For scripts: the whole answer. Nothing without `--json`. */
  json(value: unknown): void
  /** One line of many, whatever the mode; resolves when there is room for more. */
  record(value: unknown): Promise<void>
  /** Shown while something lasts, when a person watches; `undefined` takes it away. */
  progress(text: string | undefined): void
  /** On stderr, so that what is piped on stays clean. */
  note(text: string): void
  failure(failure: CliFailure): void
}

const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

/** Makes the screen of one run. */
export function createScreen({ isJson, stdout, stderr, env }: ScreenOptions): Screen {
  const paint = colors.createColors(wantsColour(stdout, env))
  const watches = stderr.isTTY === true && !isJson
  let isProgressShown = false

  function clear() {
    if (isProgressShown) stderr.write('\r\u001B[2K')
    isProgressShown = false
  }
  function write(text: string) {
    clear()
    stdout.write(`${text}\n`)
  }
  function aligned(head: readonly string[], rows: readonly (readonly string[])[]): string {
    const table = new Table({
      head: head.map((title) => paint.dim(title)),
      chars: BORDERLESS,
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    })
    table.push(...rows.map((row) => [...row]))
    return table
      .toString()
      .split('\n')
      .map((text) => text.trimEnd())
      .join('\n')
  }

  return Object.freeze({
    isJson,
    isTerminal: stdout.isTTY === true && !isJson,
    paint,
    line(text = '') {
      if (!isJson) write(text)
    },
    fields(rows: readonly (readonly [string, string])[]) {
      if (!isJson && rows.length > 0)
        write(
          aligned(
            [],
            rows.map(([name, value]) => [paint.dim(name), value]),
          ),
        )
    },
    table(head: readonly string[], rows: readonly (readonly string[])[]) {
      if (!isJson) write(aligned(head, rows))
    },
    json(value: unknown) {
      if (isJson) write(JSON.stringify(value, undefined, 2))
    },
    async record(value: unknown) {
      clear()
      if (stdout.write(`${JSON.stringify(value)}\n`)) return
      await new Promise<void>((resolve) => stdout.once('drain', () => resolve()))
    },
    progress(text: string | undefined) {
      if (!watches) return
      clear()
      if (text === undefined) return
      stderr.write(text)
      isProgressShown = true
    },
    note(text: string) {
      clear()
      if (!isJson) stderr.write(`${text}\n`)
    },
    failure(failure: CliFailure) {
      clear()
      const { exitCode, message } = failure
      stderr.write(
        isJson
          ? `${JSON.stringify({ error: { code: exitName(exitCode), exitCode, message } })}\n`
          : `${wantsColour(stderr, env) ? colors.createColors(true).red('error') : 'error'}: ${plain(message)}\n`,
      )
    },
  })
}

/** https://no-color.org and https://force-color.org: either is on when it is not empty. */
function wantsColour(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0'
  return stream.isTTY === true && env.TERM !== 'dumb'
}
