import { type OperationRecord, RECORD_SORT_KEY } from '../record/record.ts'
import type { BesideItem, DueItem, Store } from '../record/store.ts'
import { defined } from './holds.ts'

/** What lies beside the records. */
export interface Beside {
  readonly methods: Pick<Store, 'putBeside' | 'updateBeside' | 'listBeside' | 'listDue'>
  put(id: string, item: BesideItem): void
}

/** Items beside the records, and the index over both. */
export function besideItems(records: ReadonlyMap<string, OperationRecord>): Beside {
  const items = new Map<string, Map<string, Readonly<Record<string, unknown>>>>()

  function put(id: string, { sk, attributes }: BesideItem): void {
    const under = items.get(id) ?? new Map()
    items.set(id, under.set(sk, structuredClone(defined(attributes))))
  }

  function everything(): { id: string; sk: string; dueShard?: unknown; dueAtMs?: unknown }[] {
    const beside = [...items].flatMap(([id, under]) =>
      [...under].map(([sk, attributes]) => ({ ...attributes, id, sk })),
    )
    return [...[...records.values()].map((record) => ({ ...record, sk: RECORD_SORT_KEY })), ...beside]
  }

  return {
    put,
    methods: {
      async putBeside(id, item) {
        put(id, item)
      },
      async updateBeside(id, sk, set, { attribute, value }) {
        const attributes = items.get(id)?.get(sk)
        if (attributes?.[attribute] !== value) return false
        put(id, { sk, attributes: { ...attributes, ...set } })
        return true
      },
      async listBeside(id, prefix) {
        return (
          [...(items.get(id) ?? [])]
            .filter(([sk]) => sk.startsWith(prefix))
            // As DynamoDB orders them: by their UTF-8 bytes.
            .sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
            .map(([sk, attributes]) => ({ sk, attributes: structuredClone(attributes) }))
        )
      },
      async listDue(shard, untilMs, limit) {
        return everything()
          .flatMap(({ id, sk, dueShard, dueAtMs }): DueItem[] => {
            return dueShard === shard && typeof dueAtMs === 'number' && dueAtMs <= untilMs ? [{ id, sk, dueAtMs }] : []
          })
          .sort((one, other) => one.dueAtMs - other.dueAtMs)
          .slice(0, limit)
      },
    },
  }
}
