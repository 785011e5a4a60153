import pLimit from 'p-limit'
import { systemClock } from '../base/clock.ts'
import { isLambdaOnceError } from '../base/errors.ts'
import { refuseUnknown, secondsOption } from '../base/guards.ts'
import type { Clock } from '../base/ports.ts'
import { decodeStored } from '../outcome/stored.ts'
import { expiryAfter } from '../record/expiry.ts'
import { TTL_ATTRIBUTE } from '../record/record.ts'
import type { BesideItem, Store } from '../record/store.ts'
import { codecsOption, type ValueCodec } from '../record/value-codec.ts'
import type { OutboxEntry } from './message.ts'
import { type FoundItem, readEntry } from './outbox-item.ts'
import type { OutgoingMessage, SendResult } from './outgoing.ts'
import { errorName, unanswered } from './send-failure.ts'
import type { Sender } from './sender.ts'

/** What became of an item of the outbox. */
export type DispatchResult =
  /** It was sent, and the item says so. */
  | { readonly kind: 'dispatched' }
  /** Its target refuses it, or it cannot be read: it is tried again every hour. `reason` is an error's name. */
  | { readonly kind: 'stuck'; readonly reason: string }
  /** Another relay, or a reconciler, was done with it first. It may have been sent once more, with the same ids. */
  | { readonly kind: 'overtaken' }
  /** It is still to be sent, for all that is known; if it was sent, the next time brings the same ids. */
  | { readonly kind: 'failed'; readonly error: unknown }

/** What dispatching works with. */
export interface Dispatching {
  readonly store: Store
  readonly codecs: readonly ValueCodec[]
  readonly sender: Sender
  readonly clock: Clock
  readonly dispatchedRetentionSeconds: number
  readonly signal: AbortSignal | undefined
}

/** Options of {@link dispatchOne}. */
export interface DispatchOptions {
  /**
   * How long an item is kept after it was sent, in seconds.
   * @defaultValue 604800, a week
   */
  readonly dispatchedRetentionSeconds?: number
  /** Decodes the message's body: what `createIdempotency` was given. @defaultValue none */
  readonly codec?: ValueCodec | readonly ValueCodec[]
  /** Aborted: the message is not sent, or given up on its way. */
  readonly signal?: AbortSignal
  /** @defaultValue the system's clock */
  readonly clock?: Clock
}

/** How long an item is kept after it was sent, in seconds: as evidence only, nothing depends on it. */
export const DISPATCHED_RETENTION_SECONDS = 604_800

/** When a reconciler tries a message again that its target has refused, in ms: somebody may have put it right. */
export const STUCK_RETRY_MS = 3_600_000

/** Store calls at the same time: enough to keep up with the sender, few enough for one client's connections. */
const STORE_CALLS = 20

/**
 * Sends one item of the outbox, pending or stuck, and marks it. For a reconciler, and for an operator who has put right
 * why a message was refused.
 *
 * @param item - as `store.listBeside(id, OUTBOX_PREFIX)` gives it, and the operation it lies beside
 * @throws InvalidOptionError when an option is wrong; nothing else
 */
export async function dispatchOne(
  store: Store,
  sender: Sender,
  item: BesideItem & { readonly id: string },
  options: DispatchOptions = {},
): Promise<DispatchResult> {
  refuseUnknown('dispatchOne', options, ['dispatchedRetentionSeconds', 'codec', 'signal', 'clock'])
  const { dispatchedRetentionSeconds, signal, clock = systemClock } = options
  const retentionSeconds = secondsOption('dispatchedRetentionSeconds', dispatchedRetentionSeconds, 0)
  const dispatching: Dispatching = {
    store,
    codecs: codecsOption(options.codec),
    sender,
    clock,
    signal,
    dispatchedRetentionSeconds: retentionSeconds ?? DISPATCHED_RETENTION_SECONDS,
  }
  const { id, sk, attributes } = item
  const [result] = await dispatchAll(dispatching, [{ id, sk, found: readEntry(attributes) }])
  return result ?? { kind: 'overtaken' }
}

/** Sends items, which may overtake each other, and marks each as what became of it. Answers for each, in order. */
export async function dispatchAll(
  dispatching: Dispatching,
  items: readonly FoundItem[],
): Promise<readonly DispatchResult[]> {
  const limit = pLimit(STORE_CALLS)
  const readings = await limit.map(items, (item) => readMessage(dispatching, item))
  const messages = readings.flatMap((reading) => (reading.kind === 'message' ? [reading.message] : []))
  const results = messages.length > 0 ? await dispatching.sender.send(messages, dispatching.signal) : []
  return limit.map(items, async (item, index): Promise<DispatchResult> => {
    const reading = readings[index]
    if (reading === undefined || reading.kind === 'overtaken') return { kind: 'overtaken' }
    const sent = reading.kind === 'message' ? results[messages.indexOf(reading.message)] : reading
    return mark(dispatching, item, sent ?? unanswered())
  })
}

type Reading =
  | { readonly kind: 'message'; readonly message: OutgoingMessage }
  | { readonly kind: 'overtaken' }
  | Exclude<SendResult, { kind: 'sent' }>

async function readMessage(reader: Dispatching, { id, found }: FoundItem): Promise<Reading> {
  if (found.kind === 'unreadable') return { kind: 'refused', reason: errorName(found.error) }
  if (found.entry.state === 'dispatched') return { kind: 'overtaken' }
  try {
    const { body, messageId } = found.entry
    const text = await decodeStored(reader, body, { operationId: id, purpose: 'message', name: messageId })
    if (typeof text !== 'string') return { kind: 'refused', reason: 'InvalidBody' }
    return { kind: 'message', message: outgoing(id, found.entry, text) }
  } catch (error) {
    // Pieces that are lost, or a codec that is not here, do not come back; a store that does not answer may.
    return isLambdaOnceError(error) && !error.retryable && error.code !== 'STORE'
      ? { kind: 'refused', reason: error.name }
      : { kind: 'failed', error }
  }
}

function outgoing(operationId: string, entry: OutboxEntry, text: string): OutgoingMessage {
  const { messageId, to, attributes = {}, groupId, notBeforeMs } = entry
  return {
    messageId,
    operationId,
    to,
    text,
    attributes,
    ...(groupId !== undefined && { groupId }),
    ...(notBeforeMs !== undefined && { notBeforeMs }),
  }
}

async function mark(
  { store, clock, dispatchedRetentionSeconds }: Dispatching,
  { id, sk, found }: FoundItem,
  sent: SendResult,
): Promise<DispatchResult> {
  if (sent.kind === 'failed') return sent
  const nowMs = clock.now()
  const set =
    sent.kind === 'sent'
      ? {
          state: 'dispatched',
          dispatchedAtMs: nowMs,
          [TTL_ATTRIBUTE]: expiryAfter(nowMs, dispatchedRetentionSeconds),
          stuckAtMs: undefined,
          stuckReason: undefined,
          dueShard: undefined,
          dueAtMs: undefined,
        }
      : // The index holds what has both, so that one committed without a reconciler stays out of it.
        { state: 'stuck', stuckAtMs: nowMs, stuckReason: sent.reason, dueAtMs: nowMs + STUCK_RETRY_MS }
  const value = found.kind === 'entry' ? found.entry.state : 'pending'
  try {
    const isMarked = await store.updateBeside(id, sk, set, { attribute: 'state', value })
    if (!isMarked) return { kind: 'overtaken' }
  } catch (error) {
    return { kind: 'failed', error }
  }
  return sent.kind === 'sent' ? { kind: 'dispatched' } : { kind: 'stuck', reason: sent.reason }
}
