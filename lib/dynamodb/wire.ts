import type { AttributeValue } from '@aws-sdk/client-dynamodb'

/** All that a write of one item consists of here, and what a client's own middleware may add to it. */
const KNOWN_PARTS: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'TableName',
  'Item',
  'Key',
  'ConditionExpression',
  'UpdateExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValuesOnConditionCheckFailure',
  'ReturnConsumedCapacity',
])

type Attributes = Readonly<Record<string, AttributeValue>>

/** The parts of a write that hold attributes. */
interface Write {
  readonly Item?: Attributes
  readonly Key?: Attributes
  readonly ExpressionAttributeValues?: Attributes
}

/**
 * The body of a write of one item, when JSON says all that is in it: attributes have the form in which DynamoDB reads
 * them. `undefined` for any other: bytes have another form there, and what is not known here the SDK may know.
 */
export function wireText(input: object): string | undefined {
  for (const part in input) if (!KNOWN_PARTS.has(part)) return undefined
  const { Item, Key, ExpressionAttributeValues }: Write = input
  const isPlain = isPlainMap(Item) && isPlainMap(Key) && isPlainMap(ExpressionAttributeValues)
  return isPlain ? JSON.stringify(input) : undefined
}

function isPlainMap(attributes: Attributes = {}): boolean {
  for (const name in attributes) if (!isPlain(attributes[name])) return false
  return true
}

function isPlain(value: AttributeValue | undefined): boolean {
  if (value === undefined) return false
  if (typeof value.S === 'string' || typeof value.N === 'string') return true
  if (value.M !== undefined) return isPlainMap(value.M)
  if (value.L !== undefined) return value.L.every(isPlain)
  return typeof value.BOOL === 'boolean' || value.NULL === true
}

/** Attributes that DynamoDB has written, in the form that the SDK gives them: bytes come as base64. */
export function fromWire(attributes: Attributes): Record<string, AttributeValue> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, valueFromWire(value)]))
}

function valueFromWire(value: AttributeValue): AttributeValue {
  if (value.M !== undefined) return { M: fromWire(value.M) }
  if (value.L !== undefined) return { L: value.L.map(valueFromWire) }
  if (value.B !== undefined) return { B: bytesOf(value.B) }
  if (value.BS !== undefined) return { BS: value.BS.map(bytesOf) }
  return value
}

function bytesOf(base64: unknown): Uint8Array {
  return Uint8Array.from(Buffer.from(String(base64), 'base64'))
}
