import type { AttributeValue, BatchStatementResponse } from '@aws-sdk/client-dynamodb'

/** All that a write consists of here, a statement of a batch included, and what a client's own middleware may add to it. */
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
  'Statements',
  'Statement',
  'Parameters',
])

type Attributes = Readonly<Record<string, AttributeValue>>

/** The parts of a write that hold attributes. */
interface Write {
  readonly Item?: Attributes
  readonly Key?: Attributes
  readonly ExpressionAttributeValues?: Attributes
  readonly Parameters?: readonly AttributeValue[]
  readonly Statements?: readonly Write[]
}

/**
 * The body of a write, when JSON says all that is in it: attributes have the form in which DynamoDB reads them.
 * `undefined` for any other: bytes have another form there, and what is not known here the SDK may know.
 */
export function wireText(input: object): string | undefined {
  return isPlainWrite(input) ? JSON.stringify(input) : undefined
}

function isPlainWrite(input: object): boolean {
  const write: Write & Readonly<Record<string, unknown>> = { ...input }
  // What is null the SDK leaves out.
  for (const part in write) if (!KNOWN_PARTS.has(part) || write[part] === null) return false
  const { Item, Key, ExpressionAttributeValues, Parameters = [], Statements = [] } = write
  return (
    isPlainMap(Item) &&
    isPlainMap(Key) &&
    isPlainMap(ExpressionAttributeValues) &&
    Parameters.every(isPlain) &&
    Statements.every((statement) => statement && isPlainWrite(statement))
  )
}

function isPlainMap(attributes: Attributes = {}): boolean {
  for (const name in attributes) if (!isPlain(attributes[name])) return false
  return true
}

function isPlain(value: AttributeValue | undefined | null): boolean {
  if (!value) return false
  if (typeof value.S === 'string' || typeof value.N === 'string') return true
  if (value.M) return isPlainMap(value.M)
  if (value.L) return value.L.every(isPlain)
  return typeof value.BOOL === 'boolean' || value.NULL === true
}

/** The answer to a write of one item, where it has nothing to say. */
export function emptyAnswerIn(text: string): object | undefined {
  return text === '{}' ? {} : undefined
}

/** What a failed condition has to say; `undefined` for every other error. */
export function refusalIn(text: string): { readonly message: string; readonly Item?: Attributes } | undefined {
  if (!text.includes('ConditionalCheckFailedException')) return undefined
  const { __type, message, Message, Item } = JSON.parse(text) as Refused
  if (__type?.endsWith('#ConditionalCheckFailedException') !== true) return undefined
  return { message: message ?? Message ?? 'The conditional request failed', ...(Item && { Item: fromWire(Item) }) }
}

interface Refused {
  readonly __type?: string
  readonly message?: string
  readonly Message?: string
  readonly Item?: Attributes
}

/**
 * The answers to the statements of a batch; `undefined` where there is no list of them. An answer that has not the form
 * it always has says nothing, and is `null`.
 */
export function statementAnswersIn(text: string): object | undefined {
  const answer: unknown = JSON.parse(text)
  if (!isObject(answer) || !('Responses' in answer) || !Array.isArray(answer.Responses)) return undefined
  return { ...answer, Responses: answer.Responses.map(statementAnswer) }
}

function statementAnswer(answer: unknown): BatchStatementResponse | null {
  if (!isObject(answer)) return null
  const { Item, Error: error, ...rest }: BatchStatementResponse = answer
  // An error in another form than an object is no success.
  if (!isObject(error ?? {})) return null
  return {
    ...rest,
    ...(Item && { Item: fromWire(Item) }),
    ...(error && { Error: { ...error, ...(error.Item && { Item: fromWire(error.Item) }) } }),
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
