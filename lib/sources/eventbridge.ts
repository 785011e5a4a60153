import { canonicalJson } from '../base/json.ts'
import { type Envelope, type Opened, single, unlessTooDeep } from './content.ts'
import { type Fields, fieldsOf, isObject, jsonOf, nonEmpty } from './fields.ts'

/** An event of EventBridge, as far as it is looked at. */
interface BusEvent {
  readonly id: string
  readonly source: string
  readonly account: string
  readonly detail: Fields
  readonly 'detail-type': string
}

/** The value as an event of EventBridge, or `undefined` when it is none. */
export function busEventOf(value: unknown): BusEvent | undefined {
  if (!isObject(value)) return undefined
  const { id, source, account, detail, 'detail-type': detailType } = value
  if (nonEmpty(id) === undefined || nonEmpty(source) === undefined || !isObject(detail)) return undefined
  if (typeof detailType !== 'string') return undefined
  return {
    id: String(id),
    source: String(source),
    account: nonEmpty(account) ?? '',
    detail,
    'detail-type': detailType,
  }
}

/**
 * The key that an outbox relay puts into the detail, else the event's id: a relay that sends twice makes two ids.
 */
export function busEventKey({ id, detail }: BusEvent): string {
  return nonEmpty(fieldsOf(detail.metadata).idempotencyKey) ?? id
}

/** What counts of an event; id, time and the name of a replay are another's at each sending. */
export function busEventMeaning(event: Fields): unknown {
  return [event.source, event['detail-type'], event.detail]
}

/**
 * Takes off the envelope of EventBridge: the content is the `detail`.
 */
export function eventBridgeEvent<T = unknown>(): Envelope<T> {
  return Object.freeze({
    open(text: string): Opened {
      const event = busEventOf(jsonOf(text))
      if (event === undefined) return { kind: 'refused', message: 'The body is no event of EventBridge.' }
      return unlessTooDeep(() =>
        single({ text: detailText(text), fingerprint: meaningOf(text), key: () => busEventKey(event) }),
      )
    },
    // The type is what the user says of it.
    parse: (text: string) => JSON.parse(text) as T,
  })
}

/** The detail as it was written, numbers that a double cannot hold included. */
function detailText(text: string): string {
  const event = parseWithSource(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined ? rawJson(source) : value,
  )
  return JSON.stringify(fieldsOf(event).detail)
}

/** These (ES2026, in Node since 22) are not in TypeScript's library yet. */
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown
const { rawJSON: rawJson } = JSON as typeof JSON & { rawJSON(text: string): unknown }

/** By what the text says, with integers beyond 2^53 by their digits; where that cannot be told, the text as it is. */
function meaningOf(text: string): { readonly value: unknown } | { readonly text: string } {
  try {
    const form = canonicalJson(text)
    if (isObject(form)) return { value: busEventMeaning(form) }
  } catch {
    // Nested too deeply to be walked through.
  }
  return { text }
}
