import type { AttributeValue } from '@aws-sdk/client-dynamodb'

/** What one item may have at most, names included. */
export const MAX_ITEM_BYTES = 409_600
/** What all items of one transaction may have together. */
export const MAX_TRANSACTION_BYTES = 4_194_304

/** A list or a map takes as much, and one more for each of its elements. */
const CONTAINER_BYTES = 3
const ELEMENT_BYTES = 1

/**
 * How large DynamoDB counts an item or a part of one, in bytes.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemSize(attributes: Readonly<Record<string, AttributeValue>>): number {
  return sum(Object.entries(attributes), ([name, value]) => Buffer.byteLength(name) + valueSize(value))
}

function valueSize(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  if (value.N !== undefined) return numberSize(value.N)
  if (value.B !== undefined) return value.B.byteLength
  if (value.M !== undefined) {
    return CONTAINER_BYTES + itemSize(value.M) + ELEMENT_BYTES * Object.keys(value.M).length
  }
  if (value.L !== undefined) return CONTAINER_BYTES + sum(value.L, (element) => valueSize(element) + ELEMENT_BYTES)
  if (value.SS !== undefined) return sum(value.SS, (text) => Buffer.byteLength(text))
  if (value.NS !== undefined) return sum(value.NS, numberSize)
  if (value.BS !== undefined) return sum(value.BS, ({ byteLength }) => byteLength)
  // NULL and BOOL.
  return 1
}

/** A byte for two significant digits, one more, and one for a minus. */
function numberSize(text: string): number {
  const [mantissa = ''] = text.toLowerCase().split('e')
  const digits = mantissa.replace(/[-+.]/g, '').replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '').length
  return Math.ceil(significant / 2) + 1 + (text.startsWith('-') ? 1 : 0)
}

function sum<T>(of: readonly T[], size: (one: T) => number): number {
  return of.reduce((total, one) => total + size(one), 0)
}
