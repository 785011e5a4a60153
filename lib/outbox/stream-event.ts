import { unmarshall } from '@aws-sdk/util-dynamodb'
import { InvalidEventError } from '../base/errors.ts'
import { kindOf, show } from '../base/guards.ts'
import { OUTBOX_PREFIX } from '../record/record.ts'
import { type FoundItem, readEntry } from './outbox-item.ts'

/** A new item of the outbox, as a table's stream brought it. */
export interface StreamedItem extends FoundItem {
  /** What a failure is reported under. */
  readonly sequenceNumber: string | undefined
}

/** What a stream's event says: what has to be sent, and what nothing can be made of. */
export interface StreamReading {
  /** In the order of the event, each item once. */
  readonly items: readonly StreamedItem[]
  /** Why records could not even be told apart from those of others. */
  readonly illegible: readonly InvalidEventError[]
}

/**
 * Looks for messages that are new: other items, changes and deletions (those by TTL, too) are none of the outbox's.
 *
 * @throws InvalidEventError when the event is not one of a table's stream, or of a stream without images
 */
export function readStreamEvent(event: unknown): StreamReading {
  const records: unknown = isObject(event) ? event.Records : undefined
  if (!Array.isArray(records)) {
    throw new InvalidEventError(
      `The event has no list of Records (got ${kindOf(records)}): it does not come from a DynamoDB stream.`,
    )
  }
  const items = new Map<string, StreamedItem>()
  const illegible: InvalidEventError[] = []
  for (const [index, record] of records.entries()) {
    const at = `Records[${index}]`
    const source: unknown = isObject(record) ? record.eventSource : undefined
    if (isObject(record) && source !== 'aws:dynamodb') {
      throw new InvalidEventError(`${at}.eventSource must be "aws:dynamodb"; got ${show(source)}.`)
    }
    const change = isObject(record) ? record.dynamodb : undefined
    const pk = keyOf(change, 'pk')
    const sk = keyOf(change, 'sk')
    if (!isObject(record) || !isObject(change) || pk === undefined || sk === undefined) {
      illegible.push(new InvalidEventError(`${at} does not name its item by pk and sk, as those of the table do.`))
      continue
    }
    if (record.eventName !== 'INSERT' || !sk.startsWith(OUTBOX_PREFIX)) continue
    if (change.NewImage === undefined && change.StreamViewType !== undefined && !hasImages(change.StreamViewType)) {
      throw new InvalidEventError(
        `The stream's view type must be NEW_IMAGE or NEW_AND_OLD_IMAGES; it is ${show(change.StreamViewType)}, which leaves out what is to be sent.`,
      )
    }
    const found = readEntry(plain(change.NewImage))
    if (found.kind === 'entry' && found.entry.state !== 'pending') continue
    const name = JSON.stringify([pk, sk])
    if (!items.has(name)) items.set(name, { id: pk, sk, found, sequenceNumber: text(change.SequenceNumber) })
  }
  return { items: [...items.values()], illegible }
}

/** What cannot be unmarshalled is no item: `undefined`. */
function plain(image: unknown): unknown {
  try {
    return unmarshall(image as Parameters<typeof unmarshall>[0])
  } catch {
    return undefined
  }
}

function keyOf(change: unknown, name: 'pk' | 'sk'): string | undefined {
  const keys = isObject(change) ? change.Keys : undefined
  const key = isObject(keys) ? keys[name] : undefined
  return isObject(key) ? text(key.S) : undefined
}

function hasImages(viewType: unknown): boolean {
  return viewType === 'NEW_IMAGE' || viewType === 'NEW_AND_OLD_IMAGES'
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
