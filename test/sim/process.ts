import type { Clock } from '../../lib/index.ts'
import type { Scheduler, Suspendable } from './scheduler.ts'

/** One invocation on one machine: what is killed, frozen, and has a clock that is a little wrong. */
export interface Process extends Suspendable {
  readonly name: string
  /** Its machine's clock. Waiting on it is a scheduling point. */
  readonly clock: Clock
  readonly newId: () => string
  readonly skewMs: number
  /** Nothing of it goes on: whatever it awaits never answers. */
  kill(why: string): void
  freeze(ms: number): void
  /** It has come to its own end. */
  end(): void
  onDeath(run: () => void): void
  /** Is told of either end. What it has left running is frozen with its sandbox. */
  onGone(run: () => void): void
}

export function createProcess(
  scheduler: Scheduler,
  { name, skewMs, say }: { readonly name: string; readonly skewMs: number; readonly say: (line: string) => void },
): Process {
  let isDead = false
  let hasEnded = false
  let frozenUntilMs = 0
  let ids = 0
  const mourners: (() => void)[] = []
  const leavers: (() => void)[] = []
  const process: Process = {
    name,
    skewMs,
    get isDead() {
      return isDead
    },
    get frozenUntilMs() {
      return frozenUntilMs
    },
    clock: {
      now: () => scheduler.nowMs + skewMs,
      wait: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve()
          signal?.addEventListener('abort', () => resolve(), { once: true })
          scheduler.after(ms, resolve, process)
        }),
    },
    newId: () => `${name}.${ids++}`,
    kill(why) {
      if (isDead || hasEnded) return
      isDead = true
      say(`${name} is killed (${why})`)
      for (const run of [...leavers, ...mourners]) run()
    },
    freeze(ms) {
      if (isDead || hasEnded) return
      frozenUntilMs = scheduler.nowMs + ms
      say(`${name} is frozen for ${Math.round(ms)} ms`)
    },
    end() {
      hasEnded = true
      for (const run of leavers) run()
    },
    onDeath: (run) => mourners.push(run),
    onGone: (run) => leavers.push(run),
  }
  return process
}
