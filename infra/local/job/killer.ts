import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionEnvironment, Work } from '../lambda/environment.ts'
import type { FunctionPool } from '../lambda/function-pool.ts'
import type { PartName } from '../parts.ts'
import type { Tally } from './tally.ts'

const LOOK_EVERY_MS = 10
// Kills come at a random moment of an invocation.
const LONGEST_AIM_MS = 200

/** A function whose processes may be killed. */
export interface KillTarget {
  readonly name: PartName
  readonly processes: FunctionPool
}

/** Options of {@link startKiller}. */
export interface KillerOptions {
  /** Where there are none, nothing is killed. */
  readonly targets: readonly KillTarget[]
  readonly kills: number
  /** How far the run is, 0–1: the kills are spread over it. */
  readonly progress: () => number
  /** A message of this queue that was received this often is left alone: it has to get through before it counts as poison. */
  readonly sparedReceiveCount: (queueArn: string) => number
  readonly random: () => number
  readonly tally: Tally
}

/** Kills (SIGKILL) processes in the middle of their work, until the number is reached. */
export function startKiller(options: KillerOptions): { stop(): Promise<void> } {
  const { targets, kills, random, tally } = options
  // A stream may give records up after a few failures, too: each batch of one is met once.
  const metSequenceNumbers = new Set<string>()
  // A process that was hit looks busy until its end is noticed.
  const hitRequestIds = new Set<string>()
  let stopped = false

  const candidates = (): { name: PartName; victim: ExecutionEnvironment }[] =>
    targets.flatMap(({ name, processes }) =>
      processes
        .busy()
        .filter(({ busyWith }) => busyWith?.deliveredAtMs !== undefined && isFair(busyWith))
        .map((victim) => ({ name, victim })),
    )

  const isFair = ({ requestId, event }: Work): boolean =>
    !hitRequestIds.has(requestId) &&
    recordsOf(event).every(({ attributes, dynamodb, eventSourceARN = '' }) => {
      if (dynamodb) return !metSequenceNumbers.has(dynamodb.SequenceNumber)
      return Number(attributes?.ApproximateReceiveCount ?? 0) < options.sparedReceiveCount(eventSourceARN)
    })

  const hunt = async (): Promise<void> => {
    let done = 0
    while (targets.length > 0 && !stopped && done < kills) {
      const due = Math.ceil(kills * options.progress())
      const fair = done < due ? candidates() : []
      const target = fair[Math.floor(random() * fair.length)]
      if (target === undefined) {
        await sleep(LOOK_EVERY_MS)
        continue
      }
      const { name, victim } = target
      const work = victim.busyWith
      await sleep(random() * LONGEST_AIM_MS)
      // Still at the same work: neither frozen with nothing in hand nor already on the next batch.
      if (work === undefined || victim.busyWith?.requestId !== work.requestId) continue
      process.kill(victim.pid, 'SIGKILL')
      hitRequestIds.add(work.requestId)
      for (const { dynamodb } of recordsOf(work.event)) if (dynamodb) metSequenceNumbers.add(dynamodb.SequenceNumber)
      done += 1
      tally.killed(name)
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

interface BatchRecord {
  readonly eventSourceARN?: string
  readonly attributes?: { readonly ApproximateReceiveCount?: string }
  readonly dynamodb?: { readonly SequenceNumber: string }
}

/** The records of a batch; a request or a scheduled event has none, and is always fair game: it is made again. */
function recordsOf(event: unknown): readonly BatchRecord[] {
  return (event as { Records?: readonly BatchRecord[] }).Records ?? []
}
