import { InvalidOptionError } from '../base/errors.ts'
import type { Settings } from '../operation/options.ts'
import { CONTINUATION_ATTRIBUTE, isFifo, LIMIT_BYTES, RESERVED_BYTES, type ReadyMessage } from '../outbox/message.ts'
import { lazily } from '../outcome/lazily.ts'
import { decodeStored, inlineValue, type Lifetime, storeValue } from '../outcome/stored.ts'
import type { Continuation, OperationRecord, RedriveTarget, StoredRedrive } from '../record/record.ts'
import type { WriteAnswer } from '../record/store.ts'
import type { ValueName } from '../record/value-codec.ts'
import type { OperationRequest } from './request.ts'

const continuing = /* @__PURE__ */ lazily(() => import('./continuation.ts'))

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

/** How late a continuation may come before it counts as lost, in ms: the relay may lag behind, or be down for a while. */
const LATENESS_MS = 3_600_000

/** A redrive as it lies in the record itself; `undefined` when it is too large for that. */
export async function inlineRedrive(
  settings: Settings,
  id: string,
  { target, payload }: Redrive,
): Promise<StoredRedrive | undefined> {
  const stored = await inlineValue(settings, requestOf(id), payload)
  return stored && { target, payload: stored }
}

/** @throws StoreError, OutcomeUnstorableError */
export async function storeRedrive(
  settings: Settings,
  id: string,
  { target, payload }: Redrive,
  lifetime: Lifetime,
): Promise<StoredRedrive> {
  return { target, payload: await storeValue(settings, requestOf(id), payload, lifetime) }
}

/** The stored request: what {@link storeRedrive} was given. @throws as `decodeStored` */
export async function readRedrive(settings: Settings, id: string, { payload }: StoredRedrive): Promise<unknown> {
  return decodeStored(settings, payload, requestOf(id))
}

function requestOf(operationId: string): ValueName {
  return { operationId, purpose: 'request' }
}

/** A stored request as a message to where it came from. It names the operation, which its key may not. */
export async function redriveMessage(
  settings: Settings,
  { id, redrive }: { readonly id: string; readonly redrive: StoredRedrive },
  messageId: string,
): Promise<Omit<ReadyMessage, 'delaySeconds'>> {
  const { target } = redrive
  const payload = await readRedrive(settings, id, redrive)
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
  const { continuation, redrive, resumeAtMs } = seen
  if (continuation === undefined || continuation.id !== continuationId) return undefined
  if (redrive === undefined || resumeAtMs === undefined) return undefined
  const { hopOf } = await continuing()
  return hopOf(settings, { id, deadlineMs }, { ...seen, redrive, resumeAtMs })
}

/**
 * Whether somebody will continue a suspended operation: a message through the relay, or the reconciler.
 * @throws InvalidOptionError when nobody will, so that the work is not suspended for ever
 */
export function checkContinued(
  settings: Settings,
  { redrive, mayNotSuspend }: OperationRequest,
  isTimed: boolean,
): void {
  if (mayNotSuspend !== undefined) throw new InvalidOptionError(`The operation cannot be suspended: ${mayNotSuspend}.`)
  if (isReconciled(settings, redrive)) return
  const canBeSent = settings.relay && redrive !== undefined
  if (canBeSent && (!isTimed || canDelay(redrive.target))) return
  throw new InvalidOptionError(
    'operation.delay and operation.wait need somebody to continue the operation: give this handler redrive, and deploy an outbox relay (relay: true) or a reconciler (reconcilerShards); or a reconciler with recover (reconcilerRecovers: true).',
  )
}
