import { normalizeKey, normalizeScope, operationId } from '../../record/identity.ts'
import type { OperationRecord } from '../../record/record.ts'
import { namespaceIn } from '../operation/name.ts'
import { headingOf, LISTABLE, type Listable, troubleOf } from '../operation/search.ts'
import { type Standing, standingOf } from '../operation/standing.ts'
import { told } from '../watch/happening.ts'
import { seriesOf } from '../watch/series.ts'
import type { Watch } from '../watch/watch.ts'
import type { Demo } from './demo.ts'
import type { LiveView, Row } from './wire.ts'

/** What one page wants to see. */
export interface LiveQuery {
  /** None: whatever its state. */
  readonly states: readonly Listable[]
  readonly namespace: string | undefined
  /** A key, or part of an id, a note or a label. */
  readonly find: string
  readonly scope: readonly string[]
  readonly windowMs: number
  readonly most: number
  /** The operation that is open. */
  readonly chosen: string | undefined
}

const SHOWN_STORY = 10
/** Windows of the charts, in ms: five minutes to a day. */
const SHORTEST_WINDOW_MS = 300_000
const LONGEST_WINDOW_MS = 86_400_000
const MOST_ROWS = 1_000
const ROWS = 50

/** Reads what a page asks for; what it does not say, or says wrongly, has a default. */
export function liveQuery(query: URLSearchParams): LiveQuery {
  const number = (name: string, least: number, most: number, usual: number) => {
    const given = Number(query.get(name) ?? Number.NaN)
    return Number.isFinite(given) ? Math.min(most, Math.max(least, given)) : usual
  }
  return {
    states: LISTABLE.filter((state) => query.getAll('state').includes(state)),
    namespace: query.get('namespace') || undefined,
    find: query.get('find')?.trim() ?? '',
    scope: query.getAll('scope').filter((part) => part !== ''),
    windowMs: number('window', SHORTEST_WINDOW_MS / 1000, LONGEST_WINDOW_MS / 1000, SHORTEST_WINDOW_MS / 1000) * 1000,
    most: Math.floor(number('most', 1, MOST_ROWS, ROWS)),
    chosen: query.get('id') || undefined,
  }
}

/** What a page shows now. */
export function liveView(watch: Watch, demo: Demo | undefined, query: LiveQuery, nowMs: number): LiveView {
  const counts = Object.fromEntries(LISTABLE.map((state) => [state, 0])) as Record<Listable, number>
  const namespaces = new Set<string>()
  const stuck = stuckMessages(watch, nowMs)
  counts.stuck = stuck.size
  const standings: { readonly record: OperationRecord; readonly standing: Standing }[] = []
  for (const record of watch.operations()) {
    const standing = standingOf(record, nowMs)
    const heading = headingOf(standing)
    if (heading !== undefined) counts[heading] += 1
    const namespace = namespaceIn(record.id)
    if (namespace !== undefined) namespaces.add(namespace)
    standings.push({ record, standing })
  }
  const isMeant = meant(query, namespaces, demo)
  const matching = standings.filter(({ record, standing }) => {
    const heading = headingOf(standing)
    const isInState =
      query.states.length === 0 ||
      (heading !== undefined && query.states.includes(heading)) ||
      (query.states.includes('stuck') && stuck.has(record.id))
    return isInState && isMeant(record)
  })
  // By the time of its claim: a list whose lines jump with every write cannot be read.
  const newest = matching.sort(
    (a, b) => b.record.createdAtMs - a.record.createdAtMs || (a.record.id < b.record.id ? -1 : 1),
  )
  const chosen = query.chosen === undefined ? undefined : watch.operation(query.chosen)
  const { journal, hasEvents } = watch
  const reading = watch.reading()
  const isKnown = (kind: string) => hasEvents || (kind !== 'replayed' && kind !== 'conflicted')
  return {
    counts,
    namespaces: [...namespaces].sort(),
    rows: newest.slice(0, query.most).map(({ record, standing }) => rowOf(watch, demo, record, standing, stuck)),
    matching: matching.length,
    series: seriesOf((kind) => (isKnown(kind) ? journal.moments(kind) : undefined), query.windowMs, nowMs),
    ...(reading !== undefined && { reading }),
    ...(chosen !== undefined && {
      chosen: { id: chosen.id, rev: chosen.rev, told: journal.storyOf(chosen.id).length },
    }),
    ...(demo !== undefined && { demo: demo.state() }),
  }
}

function rowOf(
  { journal }: Watch,
  demo: Demo | undefined,
  record: OperationRecord,
  standing: Standing,
  stuck: ReadonlyMap<string, number>,
): Row {
  const { id, attempt, rev, updatedAtMs } = record
  const story = told(journal.storyOf(id))
  const label = demo?.labelOf(id)
  const absent = standing.kind === 'released' ? 'released' : 'expired'
  return {
    id,
    namespace: namespaceIn(id) ?? '',
    ...(label !== undefined && { label }),
    heading: headingOf(standing) ?? absent,
    standing,
    attempt,
    rev,
    updatedAtMs,
    story: story.slice(-SHOWN_STORY),
    earlier: Math.max(0, story.length - SHOWN_STORY),
    stuckMessages: stuck.get(id) ?? 0,
  }
}

function stuckMessages(watch: Watch, nowMs: number): ReadonlyMap<string, number> {
  const stuck = new Map<string, number>()
  for (const id of watch.withMessages()) {
    const count = watch.messagesOf(id).filter((message) => troubleOf(message, nowMs) !== undefined).length
    if (count > 0) stuck.set(id, count)
  }
  return stuck
}

/**
 * Whether an operation is one that is looked for. Keys and scopes are not in the table, only a hash of them: a key finds
 * the operation whose id it makes, with the scope that is given, in the namespace that is given or in any.
 */
function meant(
  { namespace, find, scope }: LiveQuery,
  namespaces: ReadonlySet<string>,
  demo: Demo | undefined,
): (record: OperationRecord) => boolean {
  const text = find.toLowerCase()
  const ids = new Set(find === '' ? [] : [...namespaces].flatMap((name) => idUnder(name, scope, find)))
  return ({ id, metadata }) => {
    if (namespace !== undefined && namespaceIn(id) !== namespace) return false
    if (find === '' || ids.has(id)) return true
    const texts = [id, demo?.labelOf(id) ?? '', ...Object.values(metadata ?? {})]
    return texts.some((one) => one.toLowerCase().includes(text))
  }
}

function idUnder(namespace: string, scope: readonly string[], text: string): readonly string[] {
  try {
    const key = normalizeKey(text)
    return key === undefined ? [] : [operationId(namespace, normalizeScope(scope), key)]
  } catch {
    // No key can be so long, or so strange: then it is the part of some text.
    return []
  }
}
