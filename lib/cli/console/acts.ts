import { createHmac, randomBytes } from 'node:crypto'
import type { Settlement } from '../../idempotency/settle.ts'
import { DEFAULTS } from '../../operation/options.ts'
import type { Sender } from '../../outbox/sender.ts'
import type { OperationRecord } from '../../record/record.ts'
import type { Store } from '../../record/store.ts'
import { dispatchMeaning, dispatchShown, whyNotSent } from '../acts/dispatch.ts'
import { changed } from '../acts/fence.ts'
import { meaningOf } from '../acts/meaning.ts'
import { type Insistence, refusalOf } from '../acts/permitted.ts'
import { redriveShown } from '../acts/redrive.ts'
import { releaseShown } from '../acts/release.ts'
import { settleShown } from '../acts/settle.ts'
import { CliFailure, EXIT } from '../exit.ts'
import type { FoundOperation, StoredMessage } from '../operation/read.ts'
import { troubleOf } from '../operation/search.ts'
import { standingOf } from '../operation/standing.ts'
import { count } from '../terminal/text.ts'
import type { ActRequest, OfferedAct, WriteAct } from './wire.ts'

/** What stands for "exactly this": made with a key of this process, so that no token of a claim leaves it. */
export interface Shown {
  ofRecord(record: OperationRecord): string
  ofMessages(messages: readonly StoredMessage[]): string
}

/** Makes it with a key of its own. */
export function createShown(): Shown {
  const key = randomBytes(32)
  const proof = (parts: readonly unknown[]) =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')
  return Object.freeze({
    ofRecord: ({ id, token, rev }: OperationRecord) => proof([id, token, rev]),
    ofMessages: (messages: readonly StoredMessage[]) =>
      proof(messages.map(({ item, stuckAtMs }) => [item.sk, item.attributes.state, stuckAtMs])),
  })
}

const ON_RECORDS = ['resume', 'settle', 'redrive', 'release'] as const

/** What can be done to an operation as it stands, with what each means. */
export function offeredActs(shown: Shown, found: FoundOperation, nowMs: number): readonly OfferedAct[] {
  const { record } = found
  const unsent = unsentOf(found, nowMs)
  return [
    ...(record === undefined ? [] : ON_RECORDS.flatMap((act) => offered(shown, act, record, nowMs))),
    ...(unsent.length === 0
      ? []
      : [{ act: 'dispatch' as const, meaning: [dispatchMeaning(unsent.length)], shown: shown.ofMessages(unsent) }]),
  ]
}

function offered(
  shown: Shown,
  act: (typeof ON_RECORDS)[number],
  record: OperationRecord,
  nowMs: number,
): readonly OfferedAct[] {
  const standing = standingOf(record, nowMs)
  const refusal = refusalOf(act, record, standing)
  const insistence = act === 'release' && refusal !== undefined ? insistenceOn(record, standing.kind) : undefined
  if (refusal !== undefined && insistence === undefined) return []
  const meaning = act === 'settle' ? SETTLING : meaningOf(act, { record, standing })
  return [
    {
      act,
      meaning,
      shown: shown.ofRecord(record),
      ...(insistence !== undefined && { insistence }),
      ...(act === 'resume' && record.redrive !== undefined && { canRelay: true as const }),
      ...(act === 'settle' && { retentionSeconds: DEFAULTS.retentionSeconds }),
    },
  ]
}

const SETTLING: readonly string[] = [
  'Settling says what you have found out. Every repetition gets it, as long as you say, and the handler is not run.',
  'A stored outcome never changes afterwards.',
]

/** What a release needs besides, where that is all it needs. */
function insistenceOn({ steps }: OperationRecord, kind: string): OfferedAct['insistence'] | undefined {
  if (kind === 'taken') return { name: 'isHolderGone', text: 'I know that its holder is gone.' }
  const names = Object.keys(steps)
  // It stands as one that may be released, or nothing that is said makes it so.
  if (names.length === 0 || ['running', 'completed', 'released', 'expired'].includes(kind)) return undefined
  return { name: 'forgetsSteps', text: `Its recorded steps may be done again: ${names.join(', ')}.` }
}

function unsentOf({ messages }: FoundOperation, nowMs: number): readonly StoredMessage[] {
  return messages.filter((message) => message.found.kind === 'entry' && troubleOf(message, nowMs) !== undefined)
}

/** What an act is carried out with. */
export interface Means {
  readonly store: Store
  readonly shown: Shown
  readonly sender: () => Sender
}

/**
 * Does it, if what lies there is exactly what was shown.
 *
 * @returns what has happened, in a sentence
 * @throws CliFailure when it is not, or cannot be done
 */
export async function carryOut(
  means: Means,
  found: FoundOperation,
  request: ActRequest,
  nowMs: number,
): Promise<string> {
  const { store, shown, sender } = means
  if (request.act === 'dispatch') return dispatch(means, found, request, nowMs)
  const { record } = found
  if (record === undefined || shown.ofRecord(record) !== request.shown) throw changed()
  const standing = standingOf(record, nowMs)
  const insists = request.insists ?? false
  const insistence: Insistence = { forgetsSteps: insists, isHolderGone: insists }
  const refusal = refusalOf(request.act, record, standing, insistence)
  if (refusal !== undefined) throw new CliFailure(EXIT.refused, `${refusal} Nothing was written.`)
  switch (request.act) {
    case 'resume':
      await settleShown(store, record, { rerun: true }, { relay: request.relay ?? false })
      return 'It may run again: the next delivery continues it.'
    case 'settle': {
      const { settlement, retentionSeconds } = settlementOf(request.settlement)
      await settleShown(store, record, settlement, { retentionSeconds })
      return 'error' in settlement
        ? 'It is failed: repetitions get the failure you gave.'
        : 'It is completed: repetitions get the value you gave.'
    }
    case 'release':
      await releaseShown(store, record)
      return 'It is released: the next request with its key begins anew.'
    case 'redrive':
      await redriveShown(store, sender(), record)
      return 'Its request is on its way.'
  }
}

async function dispatch(
  { store, shown, sender: newSender }: Means,
  found: FoundOperation,
  request: ActRequest,
  nowMs: number,
): Promise<string> {
  const unsent = unsentOf(found, nowMs)
  if (unsent.length === 0 || shown.ofMessages(unsent) !== request.shown) throw changed()
  const sender = newSender()
  const failures: string[] = []
  // One after another: what one operation sends stays in order.
  for (const message of unsent) {
    const why = whyNotSent(await dispatchShown(store, sender, found.id, message))
    if (why !== undefined) failures.push(why)
  }
  if (failures.length === 0) return `Sent: ${count(unsent.length, 'message')}.`
  throw new CliFailure(
    EXIT.notSent,
    `${failures.length} of ${count(unsent.length, 'message')} not sent: ${failures.join('; ')}.`,
  )
}

function settlementOf(given: ActRequest['settlement']): {
  readonly settlement: Exclude<Settlement, { rerun: true }>
  readonly retentionSeconds: number
} {
  const { retentionSeconds = 0 } = given ?? {}
  if (given === undefined || !Number.isInteger(retentionSeconds) || retentionSeconds < 1) {
    throw new CliFailure(
      EXIT.usage,
      'Say what you have found out, and for how many seconds it is kept (a whole number from 1).',
    )
  }
  if (given.kind === 'error') {
    if (given.message.trim() === '') throw new CliFailure(EXIT.usage, 'Say why it failed.')
    return { settlement: { error: new Error(given.message) }, retentionSeconds }
  }
  try {
    return { settlement: { value: JSON.parse(given.json) as unknown }, retentionSeconds }
  } catch {
    throw new CliFailure(EXIT.usage, 'The value is no JSON. A text needs its quotes: "paid".')
  }
}

const ACTS: readonly WriteAct[] = [...ON_RECORDS, 'dispatch']

/** What a page has sent, checked. @throws CliFailure when it is no request of ours */
export function actRequest(body: unknown): ActRequest {
  const { id, act, shown, insists, relay, settlement } = Object(body) as Partial<Record<keyof ActRequest, unknown>>
  const known = ACTS.find((name) => name === act)
  if (typeof id !== 'string' || typeof shown !== 'string' || known === undefined) {
    throw new CliFailure(EXIT.usage, 'The page did not say what to do, and to what. Load it again.')
  }
  return {
    id,
    act: known,
    shown,
    ...(insists === true && { insists }),
    ...(relay === true && { relay }),
    ...(settlement !== undefined && { settlement: settlementRequest(settlement) }),
  }
}

function settlementRequest(given: unknown): NonNullable<ActRequest['settlement']> {
  const { kind, json, message, retentionSeconds } = Object(given) as Readonly<Record<string, unknown>>
  const seconds = Number(retentionSeconds)
  return kind === 'error'
    ? { kind, message: String(message ?? ''), retentionSeconds: seconds }
    : { kind: 'value', json: String(json ?? ''), retentionSeconds: seconds }
}
