import { InvalidInputError } from '../base/errors.ts'
import { kindOf } from '../base/guards.ts'
import type { OutboxTarget } from '../operation/commit-plan.ts'
import type { StoredValue } from '../record/record.ts'
import type { OutboxEntry } from './message.ts'

/** An item of the outbox, as it was found. */
export interface FoundItem {
  /** The operation's id. */
  readonly id: string
  readonly sk: string
  readonly found: FoundEntry
}

/** What an item holds. */
export type FoundEntry =
  | { readonly kind: 'entry'; readonly entry: OutboxEntry }
  | { readonly kind: 'unreadable'; readonly error: unknown }

/** Reads an item by itself, so that a bad one does not take its neighbours along. */
export function readEntry(attributes: unknown): FoundEntry {
  try {
    return { kind: 'entry', entry: entryOf(attributes) }
  } catch (error) {
    return { kind: 'unreadable', error }
  }
}

/** @throws InvalidInputError naming the attribute */
function entryOf(attributes: unknown): OutboxEntry {
  if (!isObject(attributes)) throw new InvalidInputError(`An outbox item has no content; it is ${kindOf(attributes)}.`)
  const { messageId, to, body, attributes: named, groupId, notBeforeMs, position, createdAtMs, state } = attributes
  return {
    messageId: text('messageId', messageId),
    to: targetOf(to),
    body: bodyOf(body),
    ...(named !== undefined && { attributes: textsOf(named) }),
    ...(groupId !== undefined && { groupId: text('groupId', groupId) }),
    ...(notBeforeMs !== undefined && { notBeforeMs: number('notBeforeMs', notBeforeMs) }),
    position: number('position', position),
    createdAtMs: number('createdAtMs', createdAtMs),
    state: stateOf(state),
  }
}

function targetOf(to: unknown): OutboxTarget {
  if (isObject(to)) {
    const { queueUrl, topicArn, eventBusName, source, detailType, functionName } = to
    if (isText(queueUrl)) return { queueUrl }
    if (isText(topicArn)) return { topicArn }
    if (isText(functionName)) return { functionName }
    if (isText(eventBusName) && isText(source) && isText(detailType)) return { eventBusName, source, detailType }
  }
  throw wrong('to', to)
}

function bodyOf(body: unknown): StoredValue {
  if (isObject(body)) {
    const { kind, text, partsId, count, length, sha256, codec } = body
    // In the events of a stream, binary values are base64.
    const bytes = isText(body.bytes) ? Buffer.from(body.bytes, 'base64') : body.bytes
    if ((kind === 'json' || kind === 'text') && isText(text)) return { kind, text }
    if (kind === 'brotli' && bytes instanceof Uint8Array) return { kind, bytes }
    if (kind === 'coded' && isText(codec) && bytes instanceof Uint8Array) return { kind, codec, bytes }
    if (kind === 'parts' && isText(partsId) && isText(sha256)) {
      const by = isText(codec) && { codec }
      return { kind, partsId, count: number('body.count', count), length: number('body.length', length), sha256, ...by }
    }
  }
  throw wrong('body', body)
}

function textsOf(named: unknown): Readonly<Record<string, string>> {
  if (!isObject(named)) throw wrong('attributes', named)
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, text(`attributes.${name}`, value)]))
}

function stateOf(state: unknown): OutboxEntry['state'] {
  if (state === 'pending' || state === 'dispatched' || state === 'stuck') return state
  throw wrong('state', state)
}

function text(name: string, value: unknown): string {
  if (isText(value)) return value
  throw wrong(name, value)
}

function number(name: string, value: unknown): number {
  if (typeof value === 'number') return value
  throw wrong(name, value)
}

function wrong(name: string, value: unknown): InvalidInputError {
  return new InvalidInputError(`An outbox item was not written by lambda-once: its ${name} is ${kindOf(value)}.`)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
