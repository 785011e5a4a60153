import { dispatchOne, STUCK_RETRY_MS } from '../outbox/dispatch.ts'
import { lanesOf } from '../outbox/lanes.ts'
import { OUTBOX_PREFIX } from '../record/record.ts'
import type { BesideItem, DueItem } from '../record/store.ts'
import type { ReconcilerSettings } from './options.ts'
import { type Deed, RETRY_MS } from './reconcile.ts'

/** When a message that could not be sent is tried again, in ms: as long as the relay has for it. */
const SEND_RETRY_MS = 300_000

/** What is to be done with a message. */
export type Turn =
  /** Send it: those after it wait for it. */
  | 'send'
  /** Send it, although it was refused before: nobody waits for it. */
  | 'retry'
  /** Nothing: it is done, or stuck and not due. */
  | 'pass'
  /** Nothing yet, and nothing with those after it: somebody else is at it. */
  | 'hold'

/** Decides from the item itself; `isNamed`: the index named it. */
export function turnOf({ attributes }: BesideItem, isNamed: boolean, nowMs: number): Turn {
  const { state, dueAtMs } = attributes
  // Committed while no reconciler was deployed: older than one that is due.
  const isDue = typeof dueAtMs !== 'number' || dueAtMs <= nowMs
  if (state === 'pending') return isDue ? 'send' : 'hold'
  if (state === 'dispatched' || typeof state !== 'string') return 'pass'
  return isNamed && isDue ? 'retry' : 'pass'
}

/** What became of the messages of one operation. */
export interface LaneReport {
  readonly deeds: readonly Deed[]
  /** Whether the time was over before all were looked at. */
  readonly isCutShort: boolean
}

/**
 * Sends those messages of one operation that the index named, and before them whatever else is pending: the index may
 * name a later one alone. The first that cannot be sent stops the others until it is due again. It never throws.
 */
export async function sendLane(
  settings: ReconcilerSettings,
  id: string,
  named: readonly DueItem[],
  isTimeOver: () => boolean,
): Promise<LaneReport> {
  const { store, clock } = settings.engine.settings
  const open = new Set(named.map(({ sk }) => sk))
  const deeds: Deed[] = []
  let heldUntilMs: number | undefined
  let isCutShort = false
  try {
    for (const item of inOrder(id, await store.listBeside(id, OUTBOX_PREFIX), open)) {
      isCutShort = isTimeOver()
      if (isCutShort) break
      const isNamed = open.has(item.sk)
      const turn = turnOf(item, isNamed, clock.now())
      if (turn === 'hold') heldUntilMs ??= Number(item.attributes.dueAtMs)
      if (turn === 'pass' || turn === 'hold') {
        if (isNamed) deeds.push('skipped')
      } else if (heldUntilMs !== undefined) {
        // Out of the way of others, and not before the one it waits for.
        await putOff(settings, id, item, heldUntilMs)
        deeds.push('skipped')
      } else {
        const againMs = clock.now() + againAfterMs(settings, turn)
        const deed = await send(settings, id, item, againMs)
        deeds.push(deed === 'failed' && turn === 'retry' ? 'stuck' : deed)
        if (deed === 'failed' && turn === 'send') heldUntilMs = againMs
      }
      open.delete(item.sk)
    }
    // The index lags: these are no longer there.
    if (!isCutShort) for (const _ of open) deeds.push('skipped')
  } catch (error) {
    settings.engine.report({ type: 'store-error', during: 'reconcile', error }, id)
    for (const _ of open) deeds.push('failed')
  }
  return { deeds, isCutShort }
}

/** In the order in which they are to be sent, up to the last that the index named. */
function inOrder(id: string, items: readonly BesideItem[], named: ReadonlySet<string>): readonly BesideItem[] {
  const commits = items.toSorted((one, other) => createdAtMs(one) - createdAtMs(other))
  const lane = lanesOf(commits.map((item) => ({ ...item, id }))).flatMap((places) => places.map(({ item }) => item))
  return lane.slice(0, lane.findLastIndex(({ sk }) => named.has(sk)) + 1)
}

/** One that cannot be read becomes stuck, so that its place matters to nobody. */
function createdAtMs({ attributes }: BesideItem): number {
  return typeof attributes.createdAtMs === 'number' ? attributes.createdAtMs : 0
}

function againAfterMs({ sender }: ReconcilerSettings, turn: 'send' | 'retry'): number {
  if (sender === undefined) return RETRY_MS
  return turn === 'send' ? SEND_RETRY_MS : STUCK_RETRY_MS
}

async function send(settings: ReconcilerSettings, id: string, item: BesideItem, againMs: number): Promise<Deed> {
  const { engine, sender } = settings
  const { store, clock, codecs } = engine.settings
  // Out of the way first: what cannot be sent must not stand before all others for ever.
  if (!(await putOff(settings, id, item, againMs))) return 'skipped'
  if (sender === undefined) return 'beyond'
  const { kind } = await dispatchOne(store, sender, { ...item, id }, { clock, codec: codecs })
  if (kind === 'dispatched') return 'sent'
  return kind === 'overtaken' ? 'skipped' : kind
}

async function putOff(
  { engine }: ReconcilerSettings,
  id: string,
  { sk, attributes }: BesideItem,
  dueAtMs: number,
): Promise<boolean> {
  return engine.settings.store.updateBeside(
    id,
    sk,
    { dueAtMs },
    { attribute: 'state', value: String(attributes.state) },
  )
}
