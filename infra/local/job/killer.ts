import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionEnvironment, Work } from '../lambda/environment.ts'
import type { FunctionPool } from '../lambda/function-pool.ts'
import type { PartName } from '../parts.ts'
import type { Tally } from './tally.ts'

const LOOK_EVERY_MS = 10
// Kills come at a random moment of an invocation; a part whose invocations prove shorter is aimed at sooner.
const LONGEST_AIM_MS = 150
const SHORTEST_AIM_MS = 5
// A target's kills are done when so much of the run is: later there may be no work left to be killed in.
const DONE_BY = 0.7
// For so long a kill waits for the moment it is meant for, then takes any.
const PATIENCE_MS = 6000

/** A function whose processes may be killed. */
export interface KillTarget {
  readonly name: PartName
  readonly processes: FunctionPool
  /** How much of the run is over, 0–1, when all of its kills are due. @defaultValue 0.7 */
  readonly doneBy?: number
  /** Whether every kill is meant for a moment, not only every other one. @defaultValue false */
  readonly alwaysAimed?: boolean
  /** How much of the run is over, 0–1, when a kill no longer waits for its moment: soon there is no work. @defaultValue 1 */
  readonly pickyUntil?: number
}

/** Options of {@link startKiller}. */
export interface KillerOptions {
  /** Where there are none, nothing is killed. */
  readonly targets: readonly KillTarget[]
  /** All together; each target gets its share. */
  readonly kills: number
  /** How far the run is, 0–1: the kills are spread over it. */
  readonly progress: () => number
  /** A message of this queue that was received this often is left alone: it has to get through before it counts as poison. */
  readonly sparedReceiveCount: (queueArn: string) => number
  /** Whether this is the very moment that a kill is meant for: `now` is too short to wait in. */
  readonly moment?: (name: PartName, work: Work, killsDone: number) => Promise<'now' | 'soon' | 'no'>
  readonly random: () => number
  readonly tally: Tally
}

/** A running killer. */
export interface Killer {
  /** Whether all kills are done. */
  isDone(): boolean
  stop(): Promise<void>
}

/** Kills (SIGKILL) processes in the middle of their work, until the number is reached. */
export function startKiller(options: KillerOptions): Killer {
  const { targets, kills, random, tally } = options
  // A stream may give records up after a few failures, and a request may have nobody who repeats it: each is met once.
  const met = new Set<string>()
  // A process that was hit looks busy until its end is noticed.
  const hitRequestIds = new Set<string>()
  let open = targets.length
  let stopped = false

  const isFair = ({ requestId, event }: Work): boolean =>
    !hitRequestIds.has(requestId) &&
    !onceOnly(event).some((id) => met.has(id)) &&
    recordsOf(event).every(
      ({ attributes, eventSourceARN = '' }) =>
        Number(attributes?.ApproximateReceiveCount ?? 0) < options.sparedReceiveCount(eventSourceARN),
    )

  const fairVictims = ({ processes }: KillTarget): { victim: ExecutionEnvironment; work: Work }[] =>
    processes.busy().flatMap((victim) => {
      const work = victim.busyWith
      return work?.deliveredAtMs !== undefined && isFair(work) ? [{ victim, work }] : []
    })

  const hunt = async (target: KillTarget, quota: number): Promise<void> => {
    const { name, doneBy = DONE_BY, alwaysAimed = false, pickyUntil = 1 } = target
    let done = 0
    let aimMs = LONGEST_AIM_MS
    let waitingSinceMs: number | undefined
    while (!stopped && done < quota) {
      const isDue = done < Math.min(quota, 1 + Math.floor((quota * options.progress()) / doneBy))
      const fair = isDue ? fairVictims(target) : []
      if (fair.length > 0) waitingSinceMs ??= Date.now()
      const isAimed = alwaysAimed || done % 2 === 0
      const isEarly = pickyUntil === 1 || options.progress() < pickyUntil
      const isPicky = isAimed && isEarly && waitingSinceMs !== undefined && Date.now() - waitingSinceMs < PATIENCE_MS
      const { chosen, isNow } = await choose(name, fair, isPicky ? done : undefined)
      if (chosen === undefined) {
        await sleep(LOOK_EVERY_MS)
        continue
      }
      const { victim, work } = chosen
      if (!isNow) await sleep(random() * aimMs)
      // Still at the same work: neither frozen with nothing in hand nor already on the next batch.
      if (victim.busyWith?.requestId !== work.requestId) {
        aimMs = Math.max(SHORTEST_AIM_MS, aimMs / 2)
        continue
      }
      process.kill(victim.pid, 'SIGKILL')
      hitRequestIds.add(work.requestId)
      for (const id of onceOnly(work.event)) met.add(id)
      done += 1
      waitingSinceMs = undefined
      tally.killed(name)
    }
    if (done === quota) open -= 1
  }

  const choose = async (
    name: PartName,
    fair: readonly { victim: ExecutionEnvironment; work: Work }[],
    aimedAfter: number | undefined,
  ) => {
    if (aimedAfter !== undefined && options.moment !== undefined) {
      for (const chosen of fair) {
        const moment = await options.moment(name, chosen.work, aimedAfter)
        if (moment !== 'no') return { chosen, isNow: moment === 'now' }
      }
      return { chosen: undefined, isNow: false }
    }
    return { chosen: fair[Math.floor(random() * fair.length)], isNow: false }
  }

  const hunting = Promise.all(
    targets.map((target, index) => {
      const share = Math.floor(kills / targets.length) + (index < kills % targets.length ? 1 : 0)
      return hunt(target, share)
    }),
  )
  return Object.freeze({
    isDone: () => open === 0,
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

/** The records of a batch; a request or a scheduled event has none. */
function recordsOf(event: unknown): readonly BatchRecord[] {
  return (event as { Records?: readonly BatchRecord[] }).Records ?? []
}

/** What of an event must not be met a second time: a stream's records, and a request under a key. */
function onceOnly(event: unknown): readonly string[] {
  const { headers } = event as { headers?: { readonly [name: string]: string } }
  const key = headers?.['idempotency-key']
  const sequenceNumbers = recordsOf(event).flatMap(({ dynamodb }) => (dynamodb ? [dynamodb.SequenceNumber] : []))
  return key === undefined ? sequenceNumbers : [key, ...sequenceNumbers]
}
