import type { Settings } from '../operation/options.ts'
import { type Lifetime, storeValue } from '../outcome/stored.ts'
import { dueFrom } from '../record/due.ts'
import { OUTBOX_PREFIX } from '../record/record.ts'
import type { BesideItem } from '../record/store.ts'
import type { OutboxEntry, ReadyMessage } from './message.ts'

/** How long the relay has for a message before a reconciler looks after it, in ms. */
const RELAY_MS = 300_000

/** A message on its way into the outbox of the operation that commits under `token`. */
export async function outboxItem(
  settings: Settings,
  { id, token }: { readonly id: string; readonly token: string },
  message: Omit<ReadyMessage, 'delaySeconds'> & { readonly notBeforeMs?: number; readonly position: number },
  lifetime: Lifetime,
): Promise<BesideItem> {
  const nowMs = settings.clock.now()
  const { messageId, to, text, attributes, groupId, notBeforeMs, position } = message
  const entry: OutboxEntry = {
    messageId,
    to,
    body: await storeValue(settings, { operationId: id, purpose: 'message', name: messageId }, text, lifetime),
    ...(Object.keys(attributes).length > 0 && { attributes }),
    ...(groupId !== undefined && { groupId }),
    ...(notBeforeMs !== undefined && { notBeforeMs }),
    position,
    createdAtMs: nowMs,
    state: 'pending',
  }
  const sk = `${OUTBOX_PREFIX}${token}#${String(position).padStart(3, '0')}`
  return { sk, attributes: { ...entry, ...dueFrom(settings, id, Math.max(nowMs, notBeforeMs ?? 0) + RELAY_MS) } }
}
