import { groupedStore } from '../../lib/dynamodb/group/grouped-store.ts'
import type { OperationRecord, Store } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { simulatedGroups, type Way } from '../sim/grouping.ts'

export const PACING = {
  clock: { now: () => Date.now(), wait: async () => undefined },
  random: Math.random,
  giveUpAtMs: Number.POSITIVE_INFINITY,
}

const QUIET: Way = {
  call: (_what, apply) => apply(),
  apply: (_id, write) => write(),
  fate: () => undefined,
  bringsItem: () => true,
  unfit(why) {
    throw new Error(`The service would refuse this request: ${why}.`)
  },
}

/** A store in memory whose writes go together as DynamoDB's do. */
export function groupingMemoryStore(way: Partial<Way> = {}): Store {
  const store = memoryStore()
  const groups = simulatedGroups(store, { ...QUIET, ...way })
  return { ...store, grouped: (pacing) => groupedStore(store, groups, pacing) }
}

/** The grouped store, each of whose writes is due together with one of another record: alone it would go alone. */
export function accompanied(store: Store): Store {
  const group = store.grouped?.(PACING)
  if (group === undefined) throw new Error('The store has no grouped().')
  const id = () => `companion#${crypto.randomUUID()}`

  async function together<T>(write: Promise<T>, companion: Promise<unknown>): Promise<T> {
    await companion
    return write
  }
  return {
    ...group,
    put: (record, condition) => {
      const { dueShard: _shard, dueAtMs: _due, ...others } = record
      const other: OperationRecord = { ...others, id: id() }
      return together(group.put(record, condition), group.put(other, condition))
    },
    update: (of, change, condition) =>
      together(group.update(of, change, condition), group.update(id(), change, condition)),
  }
}
