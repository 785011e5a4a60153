import { idOf, type NameOptions } from '../operation/name.ts'
import { type FoundOperation, readOperation } from '../operation/read.ts'
import { type Standing, standingOf } from '../operation/standing.ts'
import { TIMELINE_LIMITS, timelineOf } from '../operation/timeline.ts'
import { messageView, receiptView, recordView, type Viewing } from '../operation/view.ts'
import { sentence } from '../operation/words.ts'
import { moment } from '../terminal/text.ts'
import { attemptsOf } from '../watch/attempts.ts'
import { changesBetween } from '../watch/changes.ts'
import { told } from '../watch/happening.ts'
import type { Watch } from '../watch/watch.ts'
import { offeredActs, type Shown } from './acts.ts'
import type { Demo } from './demo.ts'
import type { MessageView, OneOperation, ReceiptView, RecordView } from './wire.ts'

/** A value that is longer is cut: no page, and nobody, reads more of it. */
const MOST_CHARACTERS = 20_000

/** Reads one operation with all that lies under it. @throws CliFailure when there is none, and what the SDK throws */
export async function oneOperation(
  watch: Watch,
  demo: Demo | undefined,
  viewing: Viewing,
  shown: Shown | undefined,
  query: URLSearchParams,
): Promise<OneOperation> {
  const id = query.get('id') || undefined
  const name: NameOptions = {
    ...(query.get('namespace') && { namespace: query.get('namespace') ?? '' }),
    ...(query.has('scope') && { scope: query.getAll('scope') }),
    ...(query.get('key') && { key: query.getAll('key') }),
  }
  const found = await readOperation(viewing.store, idOf(id, name), id === undefined ? name : {})
  const { record, receipts, messages } = found
  const { nowMs } = viewing
  const standing = record && standingOf(record, nowMs)
  const seen = watch.journal.storyOf(found.id)
  const story = seen.length > 0 || record === undefined ? seen : changesBetween(undefined, record)
  const label = demo?.labelOf(found.id)
  const views = {
    ...(record !== undefined && { record: (await recordView(viewing, record)) as unknown as RecordView }),
    receipts: (await Promise.all(receipts.map((one) => receiptView(viewing, one)))) as unknown as ReceiptView[],
    messages: (await Promise.all(messages.map((one) => messageView(viewing, one)))) as unknown as MessageView[],
  }
  return shortened({
    id: found.id,
    ...(label !== undefined && { label }),
    ...(standing !== undefined && { standing }),
    sentence:
      standing === undefined
        ? 'Its record is gone: its retention was over. What follows is kept longer.'
        : sentence(standing, nowMs),
    holder: holderOf(found, standing, nowMs),
    ...views,
    attempts: record === undefined ? [] : attemptsOf(record, story),
    story: told(story),
    beside: besideOf(found, nowMs),
    limits: watch.hasEvents
      ? 'Told by the events of the functions since this console was started; steps, receipts and messages by the table.'
      : TIMELINE_LIMITS,
    acts: shown === undefined ? [] : offeredActs(shown, found, nowMs),
  })
}

/** Who has the right to work on it, and until when. */
function holderOf({ record }: FoundOperation, standing: Standing | undefined, nowMs: number): string {
  if (record === undefined || standing === undefined) return 'Nobody.'
  const since = `attempt ${record.attempt}, last heard of ${moment(record.updatedAtMs, nowMs)}`
  switch (standing.kind) {
    case 'running':
    case 'taken':
      return standing.untilMs === undefined
        ? `Whoever holds the claim of ${since}; the record names no end.`
        : `Whoever holds the claim of ${since}; until ${moment(standing.untilMs, nowMs)}. The table keeps no name of it.`
    case 'stale':
    case 'stopped':
      return `Nobody any more: the lease of ${since}, is over.`
    default:
      return 'Nobody.'
  }
}

/** What receipts and messages tell of the past, and all of them of the future. */
function besideOf(found: FoundOperation, nowMs: number): OneOperation['beside'] {
  const past = timelineOf({ ...found, record: undefined }, nowMs).filter(({ atMs }) => atMs <= nowMs)
  const future = timelineOf(found, nowMs).filter(({ atMs }) => atMs > nowMs)
  return [...past, ...future].map(({ atMs, what }) => ({ atMs, what, isFuture: atMs > nowMs }))
}

/** Cuts every text that is too long for a page, wherever it stands. */
function shortened(operation: OneOperation): OneOperation {
  const text = JSON.stringify(operation, (key, value: unknown) => {
    if (key !== 'value') return cut(value)
    const shown = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
    // An outcome has a `value`, too: what is told of one, and no text.
    const isTold = typeof value === 'object' && value !== null && 'bytes' in value && 'stored' in value
    return isTold || shown.length <= MOST_CHARACTERS ? value : cut(shown)
  })
  return JSON.parse(text) as OneOperation
}

function cut(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= MOST_CHARACTERS) return value
  const rest = value.length - MOST_CHARACTERS
  return `${value.slice(0, MOST_CHARACTERS)}\n… ${rest.toLocaleString('en-US')} more characters: \`lambda-once inspect --show-values --json\` gives all of it.`
}
