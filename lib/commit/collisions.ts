import { isDeepStrictEqual } from 'node:util'
import { InvalidInputError } from '../base/errors.ts'
import { RECORD_SORT_KEY } from '../record/record.ts'
import type { BesideItem } from '../record/store.ts'

/** What a write is on. */
export interface Target {
  readonly label: string
  /** The table's name or ARN. */
  readonly tableName: string
  /** Whether `attributes` are a whole item, of which it is not said which ones are its key. */
  readonly isWhole: boolean
  readonly attributes: Readonly<Record<string, unknown>>
}

/**
 * Refuses two writes on one item, and writes under the operation's own partition key, as far as that can be known: the
 * key of a Put cannot be told from the rest of its item unless another write names a key of that table. What stays
 * unknown is refused by DynamoDB itself, before anything is written.
 *
 * @throws InvalidInputError naming both
 */
export function refuseCollisions(
  { id, tableName = '' }: { readonly id: string; readonly tableName?: string },
  writes: readonly Target[],
  beside: readonly BesideItem[],
): void {
  const own = (label: string, sk: string): Target => ({ label, tableName, isWhole: false, attributes: { pk: id, sk } })
  const ownTable = nameOfTable(tableName)
  for (const { label, tableName: table, attributes } of writes) {
    if (ownTable !== '' && nameOfTable(table) === ownTable && attributes.pk === id) {
      throw new InvalidInputError(
        `${label} is on the operation's own record or on what lies beside it. Those are written by the commit itself.`,
      )
    }
  }
  const targets = [
    own("the operation's record", RECORD_SORT_KEY),
    ...beside.map(({ sk }) => own(`the item "${sk}" beside it`, sk)),
    ...writes,
  ]
  for (const onTable of Map.groupBy(targets, (target) => nameOfTable(target.tableName)).values()) {
    const named = onTable.find(({ isWhole }) => !isWhole)
    const key = named && Object.keys(named.attributes)
    for (const [index, target] of onTable.entries()) {
      const other = onTable.slice(0, index).find((earlier) => isSameItem(earlier, target, key))
      if (other === undefined) continue
      throw new InvalidInputError(
        `${target.label} is on the same item as ${other.label}. A transaction takes one write an item: put both into one.`,
      )
    }
  }
}

/** Whether two writes on one table are on one item, of which the names of the key attributes may be known. */
function isSameItem(one: Target, other: Target, key: readonly string[] | undefined): boolean {
  if (key === undefined) return isDeepStrictEqual(one.attributes, other.attributes)
  return key.every((name) => {
    const value = keyText(one.attributes[name])
    return value !== undefined && value === keyText(other.attributes[name])
  })
}

/** The tables of one transaction lie in one account and region, so the name is all that differs between their ARNs. */
function nameOfTable(nameOrArn: string): string {
  return nameOrArn.slice(nameOrArn.lastIndexOf('/') + 1)
}

/** A key's value as text. A key is a string, a number or binary. */
function keyText(value: unknown): string | undefined {
  if (typeof value === 'string') return `S${value}`
  if (typeof value === 'number' || typeof value === 'bigint') return `N${value}`
  if (ArrayBuffer.isView(value)) {
    return `B${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}`
  }
  // lib-dynamodb's NumberValue, known by its shape.
  const wrapped: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'value') : undefined
  return typeof wrapped === 'string' ? `N${wrapped}` : undefined
}
