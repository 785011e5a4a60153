import { setTimeout as sleep } from 'node:timers/promises'
import type { SQSEvent } from 'aws-lambda'
import type { ExecutionEnvironment } from '../lambda/environment.ts'
import type { FunctionPool } from '../lambda/function-pool.ts'
import type { Tally } from './tally.ts'

const LOOK_EVERY_MS = 10
// Kills come at a random moment of an invocation.
const LONGEST_AIM_MS = 200

/** Options of {@link startKiller}. */
export interface KillerOptions {
  /** Their processes; where there are none, nothing is killed. */
  readonly workers: FunctionPool | undefined
  readonly kills: number
  /** How far the run is, 0–1: the kills are spread over it. */
  readonly progress: () => number
  /** A message that was received this often is left alone: it has to get through before it counts as poison. */
  readonly sparedReceiveCount: number
  readonly random: () => number
  readonly tally: Tally
}

/** Kills (SIGKILL) processes of a function while they work on messages, until the number is reached. */
export function startKiller(options: KillerOptions): { stop(): Promise<void> } {
  const { workers, kills, random, tally } = options
  let stopped = false
  const hunt = async (): Promise<void> => {
    let done = 0
    while (workers && !stopped && done < kills) {
      const due = Math.ceil(kills * options.progress())
      const target = done < due ? pick(workers.busy(), options) : undefined
      if (target === undefined) {
        await sleep(LOOK_EVERY_MS)
        continue
      }
      const requestId = target.busyWith?.requestId
      await sleep(random() * LONGEST_AIM_MS)
      // Still at the same work: neither frozen with nothing in hand nor already on the next batch.
      if (target.busyWith?.requestId !== requestId) continue
      process.kill(target.pid, 'SIGKILL')
      done += 1
      tally.workerKilled()
    }
  }
  const hunting = hunt()
  return Object.freeze({
    stop: async () => {
      stopped = true
      await hunting
    },
  })
}

function pick(busy: readonly ExecutionEnvironment[], options: KillerOptions): ExecutionEnvironment | undefined {
  const fair = busy.filter(({ busyWith }) => {
    if (busyWith?.deliveredAtMs === undefined) return false
    const { Records } = busyWith.event as SQSEvent
    return Records.every(({ attributes }) => Number(attributes.ApproximateReceiveCount) < options.sparedReceiveCount)
  })
  return fair[Math.floor(options.random() * fair.length)]
}
