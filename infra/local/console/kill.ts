import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionEnvironment, Work } from '../lambda/environment.ts'
import type { FunctionPool } from '../lambda/function-pool.ts'

const LOOK_EVERY_MS = 10
/** So long a kill waits for work to kill it in. */
const PATIENCE_MS = 60_000
/** So long it waits, once there is work, for the charge to be made. */
const AIM_MS = 1_000
/** So long after the claim the charge has been asked for, where the provider cannot say so. */
const ASKED_MS = 300

/** What a kill came to. */
export type Kill =
  | {
      readonly kind: 'killed'
      readonly pids: readonly number[]
      readonly orderIds: readonly string[]
      readonly isCharged: boolean
    }
  | { readonly kind: 'no-work' }

/** What {@link killAtWork} works with. */
export interface KillOptions {
  readonly pool: FunctionPool
  /** Whether the order is being worked on: every message comes twice, and to kill a repetition shows nothing. */
  readonly isWorkedOn: (orderId: string) => boolean
  /** Orders that are charged, and whose worker has not heard of it; `undefined` when nobody can say. */
  readonly unanswered: () => Promise<readonly string[] | undefined>
  readonly signal: AbortSignal
}

/** Kills (SIGKILL) what works now, or the next one that does; where it can, between the charge and the news of it. */
export async function killAtWork({ pool, isWorkedOn, unanswered, signal }: KillOptions): Promise<Kill> {
  const patienceEndsMs = Date.now() + PATIENCE_MS
  while (Date.now() < patienceEndsMs && !signal.aborted) {
    if (atWork(pool, isWorkedOn).length > 0) {
      const isCharged = await untilCharged(() => atWork(pool, isWorkedOn), unanswered)
      const hit = atWork(pool, isWorkedOn)
      if (hit.length > 0) {
        for (const { victim } of hit) process.kill(victim.pid, 'SIGKILL')
        return {
          kind: 'killed',
          pids: hit.map(({ victim }) => victim.pid),
          orderIds: hit.flatMap(({ work }) => orderIdsOf(work)),
          isCharged,
        }
      }
    }
    await sleep(LOOK_EVERY_MS)
  }
  return { kind: 'no-work' }
}

interface AtWork {
  readonly victim: ExecutionEnvironment
  readonly work: Work
}

function atWork(pool: FunctionPool, isWorkedOn: KillOptions['isWorkedOn']): readonly AtWork[] {
  return pool.busy().flatMap((victim) => {
    const work = victim.busyWith
    return work?.deliveredAtMs !== undefined && orderIdsOf(work).some(isWorkedOn) ? [{ victim, work }] : []
  })
}

async function untilCharged(victims: () => readonly AtWork[], unanswered: KillOptions['unanswered']): Promise<boolean> {
  const aimEndsMs = Date.now() + AIM_MS
  while (Date.now() < aimEndsMs && victims().length > 0) {
    const waiting = await unanswered()
    if (waiting === undefined) {
      await sleep(ASKED_MS)
      return false
    }
    if (victims().some(({ work }) => orderIdsOf(work).some((orderId) => waiting.includes(orderId)))) return true
    await sleep(LOOK_EVERY_MS)
  }
  return false
}

/** The orders in a batch of the payments queue. */
function orderIdsOf({ event }: Work): readonly string[] {
  const { Records = [] } = Object(event) as { readonly Records?: readonly { readonly body?: string }[] }
  return Records.flatMap(({ body = '' }) => /"orderId":"([^"]+)"/.exec(body)?.[1] ?? [])
}
