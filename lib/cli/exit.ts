/** What the process ends with. Scripts branch on these: they are documented in docs/cli.md and never change their meaning. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  usage: 2,
  notFound: 3,
  /** The operation's state does not allow it, or it has changed since it was shown. Nothing was written. */
  refused: 4,
  unconfirmed: 5,
  table: 6,
  permission: 7,
  unreachable: 8,
  /** `doctor` found something that has to be put right. */
  unhealthy: 9,
  /** A stored value is incomplete or damaged. */
  lost: 10,
  /** A message was refused by its target, or nobody knows whether it was sent. */
  notSent: 11,
} as const

/** One of the {@link EXIT} codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What a command ends with when it cannot do what it was asked for: a sentence for people, a code for scripts. */
export class CliFailure extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CliFailure'
    this.exitCode = exitCode
  }
}

/** The name of an exit code, as `--json` writes it. */
export function exitName(exitCode: ExitCode): string {
  return Object.entries(EXIT).find(([, code]) => code === exitCode)?.[0] ?? 'unexpected'
}
