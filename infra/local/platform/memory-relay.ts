import type { Store } from '../../../lib/index.ts'
import { dispatchOne, OUTBOX_PREFIX, type Sender } from '../../../lib/outbox/index.ts'
import { dueShardName } from '../../../lib/record/due.ts'

const LOOK_EVERY_MS = 100
const MOST_ITEMS = 1_000
// The index says when a reconciler has to look after a message; in an hour it has to look after all that are there now.
const HORIZON_MS = 3_600_000

/** A running relay. */
export interface MemoryRelay {
  /** Resolves when what is in flight is sent. */
  stop(): Promise<void>
}

/** Sends what commits put into the outbox of an in-memory store, which has no stream that a relay could hang on. */
export function startMemoryRelay(options: {
  readonly store: Store
  readonly sender: Sender
  readonly namespaces: readonly string[]
  readonly reconcilerShards: number
  /** Hears of every message that was sent. */
  readonly onSent: () => void
}): MemoryRelay {
  const { store, sender, onSent } = options
  const shards = options.namespaces.flatMap((namespace) =>
    Array.from({ length: options.reconcilerShards }, (_, index) => dueShardName(namespace, index)),
  )
  let running: Promise<void> | undefined

  const sendAll = async (): Promise<void> => {
    for (const shard of shards) {
      for (const { id, sk } of await store.listDue(shard, Date.now() + HORIZON_MS, MOST_ITEMS)) {
        if (!sk.startsWith(OUTBOX_PREFIX)) continue
        const [item] = await store.listBeside(id, sk)
        if (item === undefined || item.attributes.state !== 'pending') continue
        if ((await dispatchOne(store, sender, { ...item, id })).kind === 'dispatched') onSent()
      }
    }
  }
  const timer = setInterval(() => {
    running ??= sendAll().finally(() => {
      running = undefined
    })
  }, LOOK_EVERY_MS)
  return Object.freeze({
    stop: async () => {
      clearInterval(timer)
      await running
    },
  })
}
