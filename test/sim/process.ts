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
      for (const run of mourners) run()
    },
    freeze(ms) {
      if (isDead || hasEnded) return
      frozenUntilMs = scheduler.nowMs + ms
      say(`${name} is frozen for ${Math.round(ms)} ms`)
    },
    end() {
      hasEnded = true
    },
    onDeath: (run) => mourners.push(run),
  }
  return process
}
