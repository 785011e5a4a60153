import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

// A watcher shell reads our end of a pipe and kills the process when that end closes, however we went (kill -9 included).
// It stays outside the process, so it also ends one that is stopped (SIGSTOP) or that never looks at its standard input.
// `exec` keeps the shell's pid, so the pid we report is the command's own.
const TIE = 'exec 3<&0; (exec >/dev/null 2>&1; cat <&3; kill -9 $$) & exec "$@" </dev/null 3<&-'

/** A child process that cannot outlive this one. */
export interface TiedProcess {
  readonly pid: number
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the process has ended, with how it ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  signal(name: NodeJS.Signals): void
  /** Ends the process with SIGKILL and resolves when it is gone. */
  kill(): Promise<void>
}

/**
 * Starts a command that dies with this process.
 *
 * @throws Error when the command cannot be started.
 */
export function spawnTied(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): TiedProcess {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(
    '/bin/sh',
    ['-c', TIE, 'sh', command, ...args],
    {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  )
  const { pid } = child
  if (pid === undefined) throw new Error(`cannot start ${command}: /bin/sh could not be run`)
  // The pipe is only ever closed, never written; an EPIPE from its far end says nothing `exited` does not say.
  child.stdin.on('error', () => undefined)
  // 'exit', not 'close': a grandchild that inherited the output pipes would keep 'close' from coming.
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  let running = true
  child.once('exit', () => {
    running = false
  })
  const signal = (name: NodeJS.Signals): void => {
    if (running) child.kill(name)
  }
  return Object.freeze({
    pid,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    signal,
    kill: async () => {
      signal('SIGKILL')
      await exited
    },
  })
}

/**
 * The JSON object a child writes as its first line once it listens; its later output is drained.
 *
 * @throws Error with what the child wrote to stderr when it ends before that line.
 */
export async function firstJsonLine(child: TiedProcess, name: string): Promise<unknown> {
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-2000)
  })
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    void child.exited.then(({ code, signal }) =>
      reject(new Error(`${name} ended (${signal ?? `exit code ${code}`}) before it was ready: ${complaint.trim()}`)),
    )
  })
  return JSON.parse(line)
}
