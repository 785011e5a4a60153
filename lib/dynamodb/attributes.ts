import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { convertToAttr, convertToNative } from '@aws-sdk/util-dynamodb'
import { MARSHALLING } from '../commit/marshalled.ts'

/** An item, a key or the values of an expression as DynamoDB takes them. What is `undefined` is left out. */
export function attributesOf(values: object): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) set(attributes, name, attributeOf(value))
  }
  return attributes
}

/** Most of a record are texts and counts, for which the library's way is the long one: each claim goes it 30 times. */
export function attributeOf(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (Number.isSafeInteger(value)) return { N: String(value) }
  if (isPlainObject(value)) return { M: attributesOf(value) }
  return convertToAttr(value, MARSHALLING)
}

/** The reverse of {@link attributesOf}. */
export function valuesOf(attributes: Readonly<Record<string, AttributeValue>>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, attribute] of Object.entries(attributes)) set(values, name, nativeOf(attribute))
  return values
}

function nativeOf(attribute: AttributeValue): unknown {
  if (attribute.S !== undefined) return attribute.S
  if (attribute.M !== undefined) return valuesOf(attribute.M)
  if (attribute.N !== undefined) {
    const count = Number(attribute.N)
    if (Number.isSafeInteger(count)) return count
  }
  return convertToNative(attribute)
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** A step may have any name. */
function set<T>(into: Record<string, T>, name: string, value: T): void {
  if (name !== '__proto__') into[name] = value
  else Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true })
}
