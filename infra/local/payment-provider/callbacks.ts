import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Charge, Ledger } from './ledger.ts'

const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 2_000
// A confirmation takes this long at most; its copies, and those of older news, come up to as much later.
const LONGEST_DELAY_MS = 1_500
// One of so many copies is later than everything else.
const LATE_MS = 5_000
const LATE_CHANCE = 0.1

/** Where callbacks go. */
export interface CallbackTarget {
  readonly url: string
  /** What they are signed with. */
  readonly secret: string
}

/** Counts of callbacks. */
export interface CallbackStats {
  /** Different ones. */
  readonly events: number
  /** Requests, repetitions and unanswered ones included. */
  readonly posts: number
  /** Requests that were answered with a success. */
  readonly accepted: number
  /** Copies that are still to be accepted. */
  readonly outstanding: number
}

/** Calls back about charges. */
export interface Callbacks {
  /** Tells of a pending charge, and confirms it a little later: each at least twice, in any order, until accepted. */
  follow(charge: Charge): void
  stats(): CallbackStats
}

/** Makes the provider's callbacks. */
export function createCallbacks({ url, secret }: CallbackTarget, ledger: Ledger, random: () => number): Callbacks {
  let events = 0
  let posts = 0
  let accepted = 0
  let outstanding = 0

  const post = async (body: string): Promise<boolean> => {
    posts += 1
    const seconds = Math.floor(Date.now() / 1_000)
    const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'payment-signature': `t=${seconds},v1=${signature}` },
        body,
      })
      await response.arrayBuffer()
      return response.ok
    } catch {
      return false
    }
  }

  const deliver = async (body: string, delayMs: number): Promise<void> => {
    outstanding += 1
    await sleep(delayMs)
    for (let retry = 0; !(await post(body)); retry += 1) {
      await sleep(random() * Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** retry))
    }
    accepted += 1
    outstanding -= 1
  }

  const tell = (charge: Charge, earliestMs: number): void => {
    events += 1
    const { orderId, chargeId, status, version } = charge
    const body = JSON.stringify({ id: `evt_${randomUUID()}`, orderId, charge: { chargeId, status, version } })
    void deliver(body, earliestMs)
    void deliver(body, earliestMs + random() * LONGEST_DELAY_MS)
    if (random() < LATE_CHANCE) void deliver(body, earliestMs + LATE_MS)
  }

  const confirmLater = async ({ chargeId }: Charge): Promise<void> => {
    outstanding += 1
    await sleep(random() * LONGEST_DELAY_MS)
    const confirmed = ledger.confirm(chargeId)
    if (confirmed !== undefined) tell(confirmed, 0)
    outstanding -= 1
  }

  return Object.freeze({
    follow: (charge: Charge) => {
      tell(charge, random() * LONGEST_DELAY_MS)
      void confirmLater(charge)
    },
    stats: () => ({ events, posts, accepted, outstanding }),
  })
}
