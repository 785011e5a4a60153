import { unfinishedLifetime } from '../lease/lease.ts'
import type { Settings } from '../operation/options.ts'
import { outboxItem } from '../outbox/item.ts'
import { CONTINUATION_ATTRIBUTE, isFifo, LIMIT_BYTES, RESERVED_BYTES, type ReadyMessage } from '../outbox/message.ts'
import { decodeStored, inlineValue, type Lifetime, storeValue } from '../outcome/outcome.ts'
import { hashOfParts } from '../record/identity.ts'
import type { Continuation, OperationRecord, RedriveTarget, StoredRedrive } from '../record/record.ts'
import type { BesideItem, RecordChange, WriteAnswer } from '../record/store.ts'
import type { OperationRequest } from './execution.ts'

/** A queue's message as it can be sent again. */
export interface RedriveMessage {
  readonly body: string
  readonly attributes: Readonly<Record<string, string>>
}

/** How a request can be delivered again. */
export interface Redrive {
  readonly target: RedriveTarget
  /** For a queue a {@link RedriveMessage}; for a function its event. */
  readonly payload: unknown
  /** Whether the record gets it with the claim, because nobody else delivers the request again when the work crashes. */
  readonly atClaim: boolean
}

/** A redrive that will arrive, or why the operation must not be suspended: it would never be continued. */
export function sendable(redrive: Redrive): Pick<OperationRequest, 'redrive' | 'mayNotSuspend'> {
  const { body, attributes } =
    'queueUrl' in redrive.target ? (redrive.payload as RedriveMessage) : invocation(redrive.payload)
  const bytes = Buffer.byteLength(body) + Buffer.byteLength(Object.entries(attributes).flat().join(''))
  const limit = LIMIT_BYTES.queueUrl - RESERVED_BYTES
  if (bytes <= limit) return { redrive }
  return { mayNotSuspend: `its request has ${bytes} bytes, and what continues it can carry ${limit}` }
}

/** SQS holds a message back no longer, in ms. What is due later comes in several hops. */
const LONGEST_HOP_MS = 900_000
/** How late a continuation may come before it counts as lost, in ms: the relay may lag behind, or be down for a while. */
const LATENESS_MS = 3_600_000

/** A redrive as it lies in the record itself; `undefined` when it is too large for that. */
export async function inlineRedrive({ target, payload }: Redrive): Promise<StoredRedrive | undefined> {
  const stored = await inlineValue(payload)
  return stored && { target, payload: stored }
}

/** @throws StoreError, OutcomeUnstorableError */
export async function storeRedrive(
  settings: Settings,
  { target, payload }: Redrive,
  lifetime: Lifetime,
): Promise<StoredRedrive> {
  return { target, payload: await storeValue(settings, payload, lifetime) }
}

/** A stored request as a message to where it came from. It names the operation, which its key may not. */
export async function redriveMessage(
  settings: Settings,
  { id, redrive }: { readonly id: string; readonly redrive: StoredRedrive },
  messageId: string,
): Promise<Omit<ReadyMessage, 'delaySeconds'>> {
  const { target } = redrive
  const payload = await decodeStored(settings.store, redrive.payload)
  const { body, attributes } = 'queueUrl' in target ? (payload as RedriveMessage) : invocation(payload)
  return {
    messageId,
    to: target,
    text: body,
    attributes: { ...attributes, [CONTINUATION_ATTRIBUTE]: messageId },
    groupId: isFifo(target) ? id : undefined,
  }
}

function invocation(event: unknown): RedriveMessage {
  return { body: JSON.stringify(event), attributes: {} }
}

/** Whether a reconciler will finish the operation: it can send a stored request again, or do without one. */
export function isReconciled(
  { reconcilerShards, reconcilerRecovers }: Settings,
  redrive: Redrive | StoredRedrive | undefined,
): boolean {
  return reconcilerShards > 0 && (reconcilerRecovers || redrive !== undefined)
}

/** Whether what is sent there can be held back for a time. */
export function canDelay(target: RedriveTarget): boolean {
  return 'queueUrl' in target && !isFifo(target)
}

/** The message that continues an operation at `dueAtMs`, or takes it one hop nearer to that. */
export async function continuationOf(
  settings: Settings,
  operation: { readonly id: string; readonly redrive: StoredRedrive },
  dueAtMs: number,
  lifetime: Lifetime,
): Promise<{ readonly continuation: Continuation; readonly item: BesideItem }> {
  const { id } = operation
  const nowMs = settings.clock.now()
  const token = settings.newId()
  const message = await redriveMessage(settings, operation, hashOfParts([id, token, 'continuation']))
  const item = await outboxItem(settings, { id, token }, { ...message, notBeforeMs: dueAtMs, position: 0 }, lifetime)
  const expectedMs = Math.min(Math.max(dueAtMs, nowMs), nowMs + LONGEST_HOP_MS)
  return { continuation: { id: message.messageId, dueAtMs: expectedMs }, item }
}

/** Whether the continuation may still be on its way. */
export function isLive(continuation: Continuation | undefined, nowMs: number): boolean {
  return continuation !== undefined && nowMs <= continuation.dueAtMs + LATENESS_MS
}

/**
 * The write that sends a continuation on its next hop, when this delivery is one that came before its time.
 * `undefined`: it is another delivery, and nothing of its business.
 */
export async function nextHop(
  settings: Settings,
  { id, continuationId, deadlineMs }: OperationRequest,
  seen: OperationRecord,
): Promise<(() => Promise<WriteAnswer>) | undefined> {
  const { store, clock, newId } = settings
  const { continuation, redrive, resumeAtMs, takeover } = seen
  if (continuation === undefined || continuation.id !== continuationId) return undefined
  if (redrive === undefined || resumeAtMs === undefined) return undefined
  const hop = await continuationOf(
    settings,
    { id, redrive },
    resumeAtMs,
    unfinishedLifetime(settings, takeover, deadlineMs),
  )
  const change: RecordChange = {
    status: 'WAITING',
    leaseUntil: undefined,
    expiresAt: seen.expiresAt,
    updatedAtMs: clock.now(),
    continuation: hop.continuation,
  }
  const prepared = store.prepare(id, [], [hop.item])
  const requestToken = newId()
  return async () => {
    const answer = await prepared.commit(change, { kind: 'seen', token: seen.token, rev: seen.rev }, requestToken)
    // Applied or not: it is for the record that lies there now to say what this delivery may do.
    return { applied: false, existing: answer.kind === 'refused' ? answer.existing : await store.get(id) }
  }
}
