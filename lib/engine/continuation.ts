import { unfinishedLifetime } from '../lease/lease.ts'
import type { Settings } from '../operation/options.ts'
import { outboxItem } from '../outbox/item.ts'
import type { Lifetime } from '../outcome/stored.ts'
import { hashOfParts } from '../record/identity.ts'
import type { Continuation, OperationRecord, StoredRedrive } from '../record/record.ts'
import type { BesideItem, RecordChange, WriteAnswer } from '../record/store.ts'
import { redriveMessage } from './redrive.ts'
import type { OperationRequest } from './request.ts'

/** SQS holds a message back no longer, in ms. What is due later comes in several hops. */
const LONGEST_HOP_MS = 900_000

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

/** The write that sends a continuation on its next hop. */
export async function hopOf(
  settings: Settings,
  { id, deadlineMs }: Pick<OperationRequest, 'id'> & { readonly deadlineMs: number | undefined },
  seen: OperationRecord & { readonly redrive: StoredRedrive; readonly resumeAtMs: number },
): Promise<() => Promise<WriteAnswer>> {
  const { store, clock, newId } = settings
  const { redrive, resumeAtMs, takeover } = seen
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
  const prepared = await store.prepare(id, [], [hop.item])
  const requestToken = newId()
  return async () => {
    const answer = await prepared.commit(change, { kind: 'seen', token: seen.token, rev: seen.rev }, requestToken)
    // Applied or not: it is for the record that lies there now to say what this delivery may do.
    return { applied: false, existing: answer.kind === 'refused' ? answer.existing : await store.get(id) }
  }
}
