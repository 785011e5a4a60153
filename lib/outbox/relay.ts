import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda'
import { InvalidEventError, isLambdaOnceError } from '../base/errors.ts'
import { type Dispatching, type DispatchResult, dispatchAll } from './dispatch.ts'
import { type Ending, watchEnding } from './ending.ts'
import { lanesOf, type Place } from './lanes.ts'
import { type MessageName, type OutboxRelayOptions, type RelaySettings, resolveRelayOptions } from './relay-options.ts'
import { readStreamEvent, type StreamedItem } from './stream-event.ts'

/** What Lambda calls. */
export type OutboxRelayHandler = (event: DynamoDBStreamEvent, context: Context) => Promise<DynamoDBBatchResponse>

/**
 * The handler for the stream of the operations' table: sends the messages that commits have put into the outbox, and
 * marks them. The event source needs `ReportBatchItemFailures`, and a stream with new images.
 *
 * @example
 * export const handler = outboxRelay({ store: dynamoStore({ tableName: process.env.IDEMPOTENCY_TABLE ?? '' }) })
 *
 * @throws InvalidOptionError naming the option, what was expected and what came. The handler throws InvalidEventError
 * for an event that does not come from such a stream.
 */
export function outboxRelay(options: OutboxRelayOptions): OutboxRelayHandler {
  const settings = resolveRelayOptions(options)
  return async (event, context) => {
    const { items, illegible } = readStreamEvent(event)
    for (const error of illegible) settings.observe({ type: 'unreadable', atMs: settings.clock.now(), error })
    if (items.length === 0) return { batchItemFailures: [] }
    const ending = watchEnding(settings, context)
    try {
      return answerOf(await relay(settings, items, ending))
    } finally {
      ending.stop()
    }
  }
}

/** Messages under way at the same time. A batch may have 10 000, and when a target is down, few should find out. */
const ROUND_MESSAGES = 100

type Lane = Place<StreamedItem>[]

/**
 * Sends in rounds: the next message of every operation, together, so that those to one target share a call. Answers
 * with what is still to be done.
 *
 * Lambda brings again everything from the lowest reported failure on. So a failure stops what comes after it in the
 * event, which would only be sent twice, and nothing of what comes before it, which would be lost.
 */
async function relay(settings: RelaySettings, items: readonly StreamedItem[], ending: Ending): Promise<Lane> {
  const dispatching: Dispatching = { ...settings, store: ending.store, signal: ending.signal }
  const undone: Lane = []
  let lanes = lanesOf(items)
  while (lanes.length > 0) {
    const firstUndone = lowestOf(undone)
    const isDue = (lane: Lane) => !ending.isNear() && lowestOf(lane) < firstUndone
    const { due = [], left = [] } = Object.groupBy(lanes, (lane) => (isDue(lane) ? 'due' : 'left'))
    for (const place of left.flat()) observe(settings, place, { kind: 'not-started' })
    undone.push(...left.flat())

    const round = due.slice(0, ROUND_MESSAGES)
    const heads = round.flatMap((lane) => lane.slice(0, 1))
    const results = await dispatchAll(
      dispatching,
      heads.map(({ item }) => item),
    )
    const going = round.flatMap((lane, at) => {
      const [head, ...rest] = lane
      const result = results[at]
      if (head === undefined || result === undefined) return []
      observe(settings, head, result)
      if (!isInTheWay(head, result)) return rest.length > 0 ? [rest] : []
      // What the operation has sent after it must not overtake it.
      for (const place of rest) observe(settings, place, { kind: 'not-started' })
      undone.push(...lane)
      return []
    })
    lanes = [...going, ...due.slice(ROUND_MESSAGES)]
  }
  return undone
}

/** An item that cannot be read and cannot be marked either would stop the shard until it expires from it. */
function isInTheWay({ item }: Place<StreamedItem>, result: DispatchResult): boolean {
  if (result.kind !== 'failed') return false
  const isHopeless = isLambdaOnceError(result.error) && !result.error.retryable
  return item.found.kind === 'entry' || !isHopeless
}

function lowestOf(places: Lane): number {
  return Math.min(...places.map(({ index }) => index))
}

/** @throws InvalidEventError when the failure has nothing to be reported under: only the whole batch can come again. */
function answerOf(undone: Lane): DynamoDBBatchResponse {
  if (undone.length === 0) return { batchItemFailures: [] }
  const lowest = lowestOf(undone)
  const { sequenceNumber } = undone.find(({ index }) => index === lowest)?.item ?? {}
  if (sequenceNumber === undefined) {
    throw new InvalidEventError('A record of the stream has no SequenceNumber, so the batch fails as a whole.')
  }
  return { batchItemFailures: [{ itemIdentifier: sequenceNumber }] }
}

function observe(
  { observe, clock }: RelaySettings,
  { item: { id, sk, found } }: Place<StreamedItem>,
  result: DispatchResult | { readonly kind: 'not-started' },
): void {
  const entry = found.kind === 'entry' ? found.entry : undefined
  const name: MessageName = { operationId: id, sk, messageId: entry?.messageId, to: entry?.to }
  const atMs = clock.now()
  if (result.kind === 'stuck') observe({ type: 'stuck', reason: result.reason, atMs, ...name })
  else if (result.kind === 'failed') observe({ type: 'failed', error: result.error, atMs, ...name })
  else observe({ type: result.kind, atMs, ...name })
}
