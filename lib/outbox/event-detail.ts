/** The ids of an event, which has no attributes to carry them. */
export interface EventIds {
  readonly idempotencyKey: string
  readonly operationId: string
}

/**
 * The detail of an event with its ids under `metadata`, beside what is there; an id that is there already stays.
 * `undefined` when the text cannot be a detail: it is no JSON object, or its `metadata` is something else than one.
 */
export function detailWithIds(text: string, ids: EventIds): string | undefined {
  const detail = parsed(text)
  if (!isObject(detail)) return undefined
  const metadata = Object.hasOwn(detail, 'metadata') ? detail.metadata : {}
  return isObject(metadata) ? JSON.stringify({ ...detail, metadata: { ...ids, ...metadata } }) : undefined
}

function parsed(text: string): unknown {
  try {
    return parseWithSource(text, (_name, value, { source }) =>
      typeof value === 'number' && source !== undefined ? rawJson(source) : value,
    )
  } catch {
    return undefined
  }
}

/**
 * Numbers go out with the digits they came with, integers beyond 2^53 among them.
 * These (ES2026, in Node since 22) are not in TypeScript's library yet.
 */
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown
const { rawJSON: rawJson, isRawJSON: isRawJson } = JSON as typeof JSON & {
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): boolean
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value)
}
