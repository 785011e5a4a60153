import type { CommitWrite, TransactWrite } from '../../../lib/index.ts'
import type { Transact } from '../../../lib/memory/index.ts'
import type { LocalTable } from '../template/model.ts'

type Item = Readonly<Record<string, unknown>>
type Conflict = NonNullable<ReturnType<Transact>>[number]

/** The service's own tables, as maps. */
export interface MemoryTables {
  create(tables: readonly LocalTable[]): void
  /** @throws Error naming a table that is not in the template. */
  items(tableName: string): readonly Item[]
  get(tableName: string, key: Item): Item | undefined
  put(tableName: string, item: Item): void
  /** Judges and applies the writes of a commit, for the in-memory store. */
  readonly transact: Transact
}

/**
 * Makes the tables. They evaluate no expressions: they know the writes that this service's functions commit (a Put that
 * must be the first under its key, a Put guarded by a version, an Update of a pending order), and refuse any other.
 */
export function createMemoryTables(): MemoryTables {
  const rows = new Map<string, Map<string, Item>>()
  const keyNames = new Map<string, readonly string[]>()

  const tableNamed = (name: string | undefined): Map<string, Item> => {
    const table = rows.get(name ?? '')
    if (table === undefined) throw new Error(`no table ${name} in the template`)
    return table
  }
  const keyOf = (tableName: string | undefined, item: Item): string =>
    JSON.stringify((keyNames.get(tableName ?? '') ?? []).map((name) => item[name]))
  const get = (tableName: string, key: Item): Item | undefined => tableNamed(tableName).get(keyOf(tableName, key))
  const put = (tableName: string, item: Item): void => {
    tableNamed(tableName).set(keyOf(tableName, item), structuredClone(item))
  }

  /** What stands against a write, and what it does when nothing does. */
  const judge = (write: CommitWrite, index: number): Conflict | (() => void) => {
    const guard = 'ifNewer' in write ? write.ifNewer : undefined
    const { Put, Update } = ('ifNewer' in write ? write.write : write) as TransactWrite
    if (Put?.TableName !== undefined && Put.Item !== undefined) {
      const { TableName, Item: item } = Put
      const existing = get(TableName, item)
      const isStale =
        guard !== undefined && existing !== undefined && Number(existing[guard.attribute]) >= Number(guard.value)
      if (isStale || (existing !== undefined && Put.ConditionExpression !== undefined)) {
        return { index, ...(existing && { item: existing }), isStale }
      }
      return () => put(TableName, { ...item, ...(guard && { [guard.attribute]: guard.value }) })
    }
    if (Update?.TableName !== undefined && Update.Key !== undefined) {
      const { TableName, Key, ExpressionAttributeValues: values = {} } = Update
      const existing = get(TableName, Key)
      if (existing?.status !== values[':pending']) return { index, ...(existing && { item: existing }), isStale: false }
      return () => put(TableName, { ...existing, status: values[':paid'], chargeId: values[':chargeId'] })
    }
    throw new Error(`a write that the in-memory tables do not know: ${JSON.stringify(write)}`)
  }

  return Object.freeze({
    create: (tables: readonly LocalTable[]) => {
      for (const { name, creation } of tables) {
        rows.set(name, new Map())
        keyNames.set(
          name,
          (creation?.KeySchema ?? []).map(({ AttributeName = '' }) => AttributeName),
        )
      }
    },
    items: (tableName: string) => [...tableNamed(tableName).values()],
    get,
    put,
    transact: (writes: readonly CommitWrite[]) => {
      const judged = writes.map(judge)
      const conflicts = judged.filter((one) => typeof one !== 'function')
      if (conflicts.length > 0) return conflicts
      for (const apply of judged) if (typeof apply === 'function') apply()
      return undefined
    },
  })
}
