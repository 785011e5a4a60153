import { setTimeout as sleep } from 'node:timers/promises'
import type { FunctionPool } from '../../infra/local/lambda/function-pool.ts'
import type { Chance } from '../sim/chance.ts'

/** What is done to the worker processes themselves. */
export interface Attacks {
  readonly kills: number
  readonly freezes: number
  /** Resolves when nothing more will be done, and every frozen process was woken. */
  stop(): Promise<void>
}

/** The numbers to reach, in step with the work. */
export interface AttackPlan {
  readonly kills: number
  readonly freezes: number
  /** The part of the work that is done, 0 to 1. */
  progress(): number
}

/** Longer than the lease, so that somebody takes over meanwhile. */
const FREEZE_MS = [1_500, 6_000] as const

export function startAttacks(pool: FunctionPool, chance: Chance, plan: AttackPlan): Attacks {
  const done = { kills: 0, freezes: 0 }
  const frozen = new Set<Promise<void>>()
  let stopped = false

  const signal = (pid: number, name: NodeJS.Signals) => {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended by itself.
    }
  }

  async function freeze(pid: number): Promise<void> {
    signal(pid, 'SIGSTOP')
    await sleep(chance.between(...FREEZE_MS))
    signal(pid, 'SIGCONT')
  }

  async function hunt(): Promise<void> {
    while (!stopped) {
      await sleep(chance.between(5, 60))
      const share = Math.min(1, plan.progress() + 0.02)
      const victims = pool.busy().filter(({ busyWith }) => busyWith?.deliveredAtMs !== undefined)
      const victim = victims[Math.floor(chance.next() * victims.length)]
      if (victim === undefined) continue
      if (done.kills < plan.kills * share) {
        signal(victim.pid, 'SIGKILL')
        done.kills++
      } else if (done.freezes < plan.freezes * share) {
        const waking = freeze(victim.pid)
        frozen.add(waking)
        void waking.then(() => frozen.delete(waking))
        done.freezes++
      }
    }
  }

  const hunting = hunt()
  return {
    get kills() {
      return done.kills
    },
    get freezes() {
      return done.freezes
    },
    async stop() {
      stopped = true
      await hunting
      await Promise.all(frozen)
    },
  }
}
