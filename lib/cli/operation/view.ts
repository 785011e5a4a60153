import { fenceOf } from '../../record/identity.ts'
import type { OperationRecord, StoredFailure, StoredValue } from '../../record/record.ts'
import type { Store } from '../../record/store.ts'
import { isoTime } from '../terminal/text.ts'
import { namespaceIn } from './name.ts'
import type { StoredMessage, StoredReceipt } from './read.ts'
import { standingOf } from './standing.ts'
import { type ShownValue, shownValue } from './values.ts'

/** What every view is made with. */
export interface Viewing {
  readonly store: Store
  readonly showValues: boolean
  readonly nowMs: number
}

/** An operation's record as `--json` and `export` write it. Its token is left out: it is the proof of ownership. */
export async function recordView(
  viewing: Viewing,
  record: OperationRecord,
): Promise<Readonly<Record<string, unknown>>> {
  const { store, showValues, nowMs } = viewing
  const shown = (stored: StoredValue): Promise<ShownValue> => shownValue(store, stored, showValues)
  const { outcome, wire, signals = [], redrive, continuation } = record
  return {
    id: record.id,
    namespace: namespaceIn(record.id),
    status: record.status,
    standing: standingOf(record, nowMs).kind,
    attempt: record.attempt,
    rev: record.rev,
    fence: fenceOf(record),
    takeover: record.takeover,
    createdAt: isoTime(record.createdAtMs),
    updatedAt: isoTime(record.updatedAtMs),
    leaseUntil: time(record.leaseUntil),
    expiresAt: time(record.expiresAt === undefined ? undefined : record.expiresAt * 1000),
    resumeAt: time(record.resumeAtMs),
    dueAt: time(record.dueAtMs),
    waitingFor: record.waitingFor,
    unknownStep: record.unknownStep,
    crashes: record.crashes,
    isAdmission: record.isAdmission,
    isCommitted: record.commitId === undefined ? undefined : true,
    metadata: record.metadata,
    steps: await Promise.all(
      Object.entries(record.steps).map(async ([name, step]) => ({
        name,
        kind: step.kind,
        ...(step.kind === 'started' && { startedAt: isoTime(step.startedAtMs) }),
        ...(step.kind === 'done' && { result: await shown(step.value) }),
        ...(step.kind === 'result-lost' && { failure: failureView(step.failure, showValues) }),
      })),
    ),
    outcome: outcome && {
      kind: outcome.kind,
      ...(outcome.kind === 'failure' && { failure: failureView(outcome.failure, showValues) }),
      ...(outcome.value !== undefined && { value: await shown(outcome.value) }),
    },
    wireResponse: wire && (await shown(wire)),
    signals: await Promise.all(
      signals.map(async ({ id, atMs, payload }) => ({ id, at: isoTime(atMs), payload: await shown(payload) })),
    ),
    request: redrive && { target: redrive.target, payload: await shown(redrive.payload) },
    continuation: continuation && { id: continuation.id, dueAt: isoTime(continuation.dueAtMs) },
  }
}

/** A receipt as `--json` and `export` write it. */
export async function receiptView(
  { store, showValues }: Viewing,
  { kind, atMs, attempt, step, value, expiresAt }: StoredReceipt,
): Promise<Readonly<Record<string, unknown>>> {
  return {
    kind,
    at: isoTime(atMs),
    attempt,
    step,
    expiresAt: time(expiresAt === undefined ? undefined : expiresAt * 1000),
    value: await shownValue(store, value, showValues),
  }
}

/** A message of the outbox as `--json` and `export` write it. */
export async function messageView(
  { store, showValues }: Viewing,
  { item, found, dispatchedAtMs, stuckAtMs, stuckReason }: StoredMessage,
): Promise<Readonly<Record<string, unknown>>> {
  const common = { dispatchedAt: time(dispatchedAtMs), stuckAt: time(stuckAtMs), stuckReason }
  if (found.kind === 'unreadable') return { ...common, state: item.attributes.state, isUnreadable: true }
  const { messageId, to, state, createdAtMs, notBeforeMs, attributes, body } = found.entry
  return {
    ...common,
    messageId,
    state,
    to,
    createdAt: isoTime(createdAtMs),
    notBefore: time(notBeforeMs),
    attributes: showValues ? attributes : Object.keys(attributes ?? {}),
    body: await shownValue(store, body, showValues),
  }
}

/** What an error's message quotes belongs to the outcome, and is shown only with it. */
export function failureView(failure: StoredFailure, showValues: boolean): Partial<StoredFailure> {
  const { name, code, message } = failure
  return { name, ...(code !== undefined && { code }), ...(showValues && { message }) }
}

function time(atMs: number | undefined): string | number | undefined {
  return atMs === undefined ? undefined : isoTime(atMs)
}
