import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { convertToAttr } from '@aws-sdk/util-dynamodb'
import { MARSHALLING } from '../commit/marshalled.ts'

/** An item, a key or the values of an expression as DynamoDB takes them. What is `undefined` is left out. */
export function attributesOf(values: object): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) attributes[name] = attributeOf(value)
  }
  return attributes
}

/** Most of a record are texts and counts, for which the library's way is the long one: each claim goes it 30 times. */
export function attributeOf(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (Number.isSafeInteger(value)) return { N: String(value) }
  return convertToAttr(value, MARSHALLING)
}
