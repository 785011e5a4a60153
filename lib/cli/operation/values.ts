import { inspect } from 'node:util'
import { isLambdaOnceError } from '../../base/errors.ts'
import { decodeStored } from '../../outcome/stored.ts'
import type { StoredValue } from '../../record/record.ts'
import type { Store } from '../../record/store.ts'
import type { ValueName } from '../../record/value-codec.ts'
import { count, plain, size } from '../terminal/text.ts'

/** A stored value as it is shown: by its size, or with what is in it. */
export interface ShownValue {
  /** How it lies there: in the record, compressed, encoded by a codec, or in parts beside it. */
  readonly stored: StoredValue['kind']
  /** As it lies there, in bytes. */
  readonly bytes: number
  readonly parts?: number
  /** The codec that has encoded it: its content cannot be shown here. */
  readonly codec?: string
  /** Only when it was asked for. Values that JSON has no form for are written as text. */
  readonly value?: unknown
  /** Why it cannot be read, when it was asked for. */
  readonly lost?: string
}

/** The name of a value is for codecs. */
const NO_CODEC: ValueName = { operationId: '', purpose: 'outcome' }

/** What is told of a value; its content only where `showValues` says so. */
export async function shownValue(store: Store, stored: StoredValue, showValues: boolean): Promise<ShownValue> {
  const about = {
    stored: stored.kind,
    bytes: bytesOf(stored),
    ...(stored.kind === 'parts' && { parts: stored.count }),
    ...('codec' in stored && { codec: stored.codec }),
  }
  if (!showValues || 'codec' in stored) return about
  try {
    return { ...about, value: jsonable(await decodeStored({ store, codecs: [] }, stored, NO_CODEC)) }
  } catch (error) {
    if (isLambdaOnceError(error, 'OUTCOME_LOST')) return { ...about, lost: error.message }
    throw error
  }
}

function bytesOf(stored: StoredValue): number {
  switch (stored.kind) {
    case 'json':
    case 'text':
      return Buffer.byteLength(stored.text)
    case 'brotli':
    case 'coded':
      return stored.bytes.length
    case 'parts':
      return stored.length
  }
}

/** The value where JSON can say it, else the text that Node shows of it: a Map, a Date, a bigint, a cycle. */
function jsonable(value: unknown): unknown {
  try {
    const text = JSON.stringify(value, (_key, inner: unknown) => {
      if (typeof inner === 'bigint' || typeof inner === 'function') return String(inner)
      return inner instanceof Map || inner instanceof Set ? inspect(inner, { depth: 8, breakLength: 120 }) : inner
    })
    return text === undefined ? inspect(value) : JSON.parse(text)
  } catch {
    return inspect(value, { depth: 8, breakLength: 120 })
  }
}

/** As much of a value as a person reads in a terminal; `--json` gives all of it. */
const MOST_CHARACTERS = 4_000

/** A value in words for people. */
export function valueText({ stored, bytes, parts, codec, value, lost }: ShownValue): string {
  const how = codec === undefined ? 'compressed' : `encoded by "${codec}"`
  const where =
    stored === 'parts'
      ? `${how}, in ${count(parts ?? 0, 'part')}`
      : stored === 'json' || stored === 'text'
        ? 'as text'
        : how
  const about = `${size(bytes)}, ${where}`
  if (lost !== undefined) return `${about}: LOST. ${lost}`
  if (value === undefined) return about
  const text = plain(typeof value === 'string' ? value : JSON.stringify(value, undefined, 2))
  const rest = text.length - MOST_CHARACTERS
  const shown =
    rest <= 0
      ? text
      : `${text.slice(0, MOST_CHARACTERS)}\n… ${rest.toLocaleString('en-US')} more characters: --json gives all of it`
  return `${about}\n${shown}`
}
