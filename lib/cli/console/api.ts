import { createSender } from '../../outbox/sender.ts'
import { checkRev } from '../acts/fence.ts'
import { meaningOf } from '../acts/meaning.ts'
import { refusalOf } from '../acts/permitted.ts'
import { redriveShown } from '../acts/redrive.ts'
import { releaseShown } from '../acts/release.ts'
import { settleShown } from '../acts/settle.ts'
import type { Connection } from '../connection.ts'
import { CliFailure, EXIT } from '../exit.ts'
import { findingsView, findOperations } from '../operation/find.ts'
import { idOf, namespaceOf } from '../operation/name.ts'
import { type FoundOperation, readOperation, readRecord } from '../operation/read.ts'
import { LISTABLE, type Listable, NEEDING_SOMEBODY } from '../operation/search.ts'
import { standingOf } from '../operation/standing.ts'
import { TIMELINE_LIMITS, timelineOf } from '../operation/timeline.ts'
import { messageView, receiptView, recordView, type Viewing } from '../operation/view.ts'
import { sentence } from '../operation/words.ts'
import { isoTime } from '../terminal/text.ts'

/** What the console works on. */
export interface ConsoleSettings {
  readonly connection: Connection
  readonly allowWrites: boolean
  readonly showValues: boolean
}

const ACTS = ['resume', 'release', 'redrive'] as const
type ConsoleAct = (typeof ACTS)[number]
const MAX_FOUND = 200

/** Answers one request of the page. @throws CliFailure, and what the SDK throws */
export async function answerApi(
  settings: ConsoleSettings,
  { method, path, query }: { readonly method: string; readonly path: string; readonly query: URLSearchParams },
): Promise<unknown> {
  const viewing: Viewing = { store: settings.connection.store, showValues: settings.showValues, nowMs: Date.now() }
  if (method === 'GET' && path === 'about') return about(settings)
  if (method === 'GET' && path === 'operations') return operations(settings, viewing, query)
  if (method === 'GET' && path === 'operation') return operation(settings, viewing, query)
  if (method === 'POST' && path === 'act') return act(settings, viewing, query)
  throw new CliFailure(EXIT.usage, 'There is no such page.')
}

function about({ connection: { tableName, endpoint, region }, allowWrites, showValues }: ConsoleSettings) {
  return {
    table: tableName,
    endpoint,
    region,
    isLocal: endpoint !== undefined,
    allowWrites,
    showValues,
    states: LISTABLE,
  }
}

async function operations({ connection }: ConsoleSettings, viewing: Viewing, query: URLSearchParams) {
  const asked = LISTABLE.filter((state) => query.getAll('state').includes(state))
  const wanted: readonly Listable[] = asked.length > 0 ? asked : NEEDING_SOMEBODY
  const namespace = query.get('namespace') || undefined
  const found = await findOperations(
    connection,
    { wanted, namespace, limit: MAX_FOUND, viaIndex: false },
    viewing.nowMs,
    () => undefined,
  )
  const sentences = Object.fromEntries(
    found.records.map(({ record, standing }) => [record.id, sentence(standing, viewing.nowMs)]),
  )
  return { states: wanted, sentences, ...(await findingsView(viewing, found)) }
}

async function operation({ connection, allowWrites }: ConsoleSettings, viewing: Viewing, query: URLSearchParams) {
  const id = query.get('id') ?? undefined
  const name = {
    ...(query.has('namespace') && { namespace: query.get('namespace') ?? '' }),
    ...(query.has('scope') && { scope: query.getAll('scope') }),
    ...(query.has('key') && { key: query.getAll('key') }),
  }
  const found = await readOperation(connection.store, idOf(id, name), name)
  return {
    ...(await foundView(viewing, found)),
    acts: allowWrites ? actsOf(found, viewing.nowMs) : [],
  }
}

async function foundView(viewing: Viewing, found: FoundOperation) {
  const { id, record, receipts, messages } = found
  return {
    record: record === undefined ? undefined : await recordView(viewing, record),
    id,
    sentence:
      record === undefined
        ? 'Its record is gone: its retention was over. What follows is kept longer.'
        : sentence(standingOf(record, viewing.nowMs), viewing.nowMs),
    receipts: await Promise.all(receipts.map((receipt) => receiptView(viewing, receipt))),
    messages: await Promise.all(messages.map((message) => messageView(viewing, message))),
    timeline: timelineOf(found, viewing.nowMs).map(({ atMs, what }) => ({
      at: isoTime(atMs),
      isFuture: atMs > viewing.nowMs,
      what,
    })),
    limits: TIMELINE_LIMITS,
  }
}

/** What can be done to it as it stands, with what each means. */
function actsOf({ record }: FoundOperation, nowMs: number) {
  if (record === undefined) return []
  const standing = standingOf(record, nowMs)
  return ACTS.filter((name) => refusalOf(name, record, standing) === undefined).map((name) => ({
    act: name,
    meaning: meaningOf(name, { record, standing }),
    rev: record.rev,
  }))
}

async function act(
  { connection: { store }, allowWrites }: ConsoleSettings,
  { nowMs }: Viewing,
  query: URLSearchParams,
) {
  if (!allowWrites) throw new CliFailure(EXIT.refused, 'This console only reads. Start it with --allow-writes.')
  const id = query.get('id') ?? ''
  namespaceOf(id)
  const name = ACTS.find((known) => known === query.get('act'))
  const rev = Number(query.get('rev') ?? Number.NaN)
  if (name === undefined || !Number.isInteger(rev)) throw new CliFailure(EXIT.usage, 'The page sent no act, or no rev.')
  const record = await readRecord(store, id, {})
  checkRev(record, rev)
  const refusal = refusalOf(name, record, standingOf(record, nowMs))
  if (refusal !== undefined) throw new CliFailure(EXIT.refused, `${refusal} Nothing was written.`)
  await carryOut(name, store, record)
  return { id, act: name, result: RESULTS[name] }
}

const RESULTS: Readonly<Record<ConsoleAct, string>> = {
  resume: 'It may run again: the next delivery continues it.',
  release: 'It is released: the next request with its key begins anew.',
  redrive: 'Its request is on its way.',
}

function carryOut(
  name: ConsoleAct,
  store: Connection['store'],
  record: FoundOperation['record'] & object,
): Promise<void> {
  switch (name) {
    case 'resume':
      return settleShown(store, record, { rerun: true }, {})
    case 'release':
      return releaseShown(store, record)
    case 'redrive':
      return redriveShown(store, createSender(), record)
  }
}
