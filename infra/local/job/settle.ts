import { setTimeout as sleep } from 'node:timers/promises'
import type { SQSClient } from '@aws-sdk/client-sqs'
import type { LocalService } from '../local-service.ts'
import type { PaymentProvider } from '../payment-provider/start.ts'
import { messagesOn } from './queues.ts'
import { leftToDo, type RecordsSeen } from './records.ts'
import type { Roles } from './roles.ts'

const LOOK_EVERY_MS = 500
// Longer than any honest wait of a run: the reconciler looks after a lease a minute after its end, and a reconciler that
// was killed has reserved what it had in hand for two.
const STALL_MS = 240_000
// Between the work of one function and the delivery to the next, a single look may find nothing anywhere.
const QUIET_LOOKS = 2
// The schedule goes on when all work is done, so that there is still something to kill.
const LAST_KILLS_MS = 15_000

/** Options of {@link createSettling}. */
export interface SettlingOptions {
  readonly service: Pick<LocalService, 'streamsAreIdle'>
  readonly provider: Pick<PaymentProvider, 'stats'>
  readonly roles: Pick<Roles, 'workedQueues'>
  readonly sqs: SQSClient
  readonly readRecords: () => Promise<RecordsSeen>
  /** How many deliveries there were so far. */
  readonly deliveries: () => number
  readonly signal: AbortSignal
}

/** Waiting for a run to come to rest. */
export interface Settling {
  /** What is being waited for, in words. */
  waitingFor(): readonly string[]
  /**
   * Waits until nothing is left on any queue or stream, no callback is outstanding, and every operation has ended; says in
   * words what is left when it never gets there.
   *
   * @param isOver - whether nobody will disturb the rest any more
   */
  untilSettled(isOver: () => boolean): Promise<readonly string[]>
}

/** Watches the queues, the streams, the provider and the idempotency table. */
export function createSettling(options: SettlingOptions): Settling {
  const { service, provider, roles, sqs, readRecords, deliveries, signal } = options
  let left: readonly string[] = []

  const look = async (): Promise<readonly string[]> => {
    // Streams first: what they hand on is on a queue by then.
    const streams = service.streamsAreIdle() ? [] : ['records on a stream']
    const waiting = await Promise.all(roles.workedQueues.map(({ url }) => messagesOn(sqs, url)))
    const queues = roles.workedQueues.flatMap(({ name }, index) =>
      waiting[index] ? [`${waiting[index]} on the queue ${name}`] : [],
    )
    const { outstanding } = (await provider.stats()).callbacks
    const callbacks = outstanding > 0 ? [`${outstanding} of the provider's callbacks`] : []
    const moving = [...streams, ...queues, ...callbacks]
    // The table is read only when nothing else moves: it is the largest look.
    return moving.length > 0 ? moving : leftToDo(await readRecords())
  }

  return Object.freeze({
    waitingFor: () => left.slice(0, 1).map((what) => `waiting for ${what}`),
    untilSettled: async (isOver: () => boolean) => {
      let lastChangeMs = Date.now()
      let lastSeen = ''
      let quietLooks = 0
      let quietSinceMs: number | undefined
      for (;;) {
        const beganMs = Date.now()
        left = await look()
        quietLooks = left.length === 0 ? quietLooks + 1 : 0
        quietSinceMs = left.length === 0 ? (quietSinceMs ?? beganMs) : undefined
        const mayEnd = isOver() || (quietSinceMs !== undefined && Date.now() - quietSinceMs > LAST_KILLS_MS)
        if (quietLooks >= QUIET_LOOKS && mayEnd) return []
        const seen = `${left} ${deliveries()}`
        if (seen !== lastSeen) lastChangeMs = Date.now()
        lastSeen = seen
        if (Date.now() - lastChangeMs > STALL_MS) return left.map((what) => `stalled: ${what}`)
        await sleep(Math.max(LOOK_EVERY_MS, Date.now() - beganMs), undefined, { signal })
      }
    },
  })
}
