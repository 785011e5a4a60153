import type { Context } from 'aws-lambda'
import pLimit from 'p-limit'
import { remainingTimeMs } from '../base/invocation.ts'
import { dueShardName } from '../record/due.ts'
import { OUTBOX_PREFIX } from '../record/record.ts'
import type { DueItem } from '../record/store.ts'
import { sendLane } from './lane.ts'
import { type ReconcilerOptions, resolveReconcilerOptions } from './options.ts'
import { type Deed, reconcile } from './reconcile.ts'

/** What one run of a reconciler did: how many items came to what. */
export type ReconcilerReport = Readonly<Record<Deed, number>> & {
  /** Items that this run looked at: what the index named, and messages that had to go before one that it named. */
  readonly examined: number
  /** Whether there was more than one run can do: run it more often, or raise `maxItems`. */
  readonly hasMore: boolean
}

/**
 * The handler of a schedule: finds operations that nobody is working on any more, and finishes them or delivers their
 * request again; sends messages that the relay has left behind. Any number may run at the same time.
 *
 * @example
 * export const handler = reconciler({ idempotency, sender: createSender() })
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function reconciler(
  options: ReconcilerOptions,
): (event?: unknown, context?: Context) => Promise<ReconcilerReport> {
  const settings = resolveReconcilerOptions(options)
  const { engine, maxItems, concurrency, deadlineMarginMs } = settings
  const { store, clock, namespace, reconcilerShards, random } = engine.settings

  return async (_event, context) => {
    const counts: Record<Deed, number> = {
      recovered: 0,
      continued: 0,
      redriven: 0,
      sent: 0,
      stuck: 0,
      skipped: 0,
      beyond: 0,
      failed: 0,
    }
    const leftMs = () => remainingTimeMs(context)
    const isTimeOver = () => (leftMs() ?? Number.POSITIVE_INFINITY) < deadlineMarginMs
    const limit = pLimit(concurrency)
    let examined = 0
    let hasMore = false

    // Another shard comes first in every run, so that a full one does not starve the others.
    const first = Math.floor(random() * reconcilerShards)
    for (let n = 0; n < reconcilerShards && !hasMore; n++) {
      const shard = dueShardName(namespace, (first + n) % reconcilerShards)
      const room = maxItems - examined
      const found: readonly DueItem[] = room > 0 ? await store.listDue(shard, clock.now(), room + 1) : []
      hasMore = room <= 0 || found.length > room
      // The messages of one operation one after another, whatever else at the same time.
      const tasks = Map.groupBy(found.slice(0, room), (item) => (item.sk.startsWith(OUTBOX_PREFIX) ? item.id : item))
      await limit.map([...tasks], async ([task, items]) => {
        if (isTimeOver()) {
          hasMore = true
          return
        }
        if (typeof task === 'string') {
          const { deeds, isCutShort } = await sendLane(settings, task, items, isTimeOver)
          examined += deeds.length
          for (const deed of deeds) counts[deed]++
          hasMore ||= isCutShort
        } else {
          examined++
          counts[await reconcile(settings, task, leftMs())]++
        }
      })
    }
    return { examined, ...counts, hasMore }
  }
}
