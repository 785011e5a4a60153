import { crashesOf } from '../../engine/claim.ts'
import { redriveMessage } from '../../engine/redrive.ts'
import type { Sender } from '../../outbox/sender.ts'
import { dueFrom, patienceMs } from '../../record/due.ts'
import { unfinishedExpiry } from '../../record/expiry.ts'
import { hashOfParts } from '../../record/identity.ts'
import type { OperationRecord } from '../../record/record.ts'
import type { RecordChange, StandingCondition, Store } from '../../record/store.ts'
import { CliFailure, EXIT } from '../exit.ts'
import { asShown, changed } from './fence.ts'
import { settingsFor } from './settings.ts'

/** How long a reconciler leaves it alone while it is sent, and then until it has arrived, in ms. */
const RESERVATION_MS = 120_000
const ARRIVAL_MS = 900_000

/**
 * Delivers the stored request again, as a reconciler does: reserve what was shown, send, and only then write RETRYABLE,
 * so that after a crash in between it is found again.
 *
 * @throws CliFailure when it was not sent, or the operation is not as it was shown
 */
export async function redriveShown(store: Store, sender: Sender, shown: OperationRecord): Promise<void> {
  const { id, token, rev, redrive, takeover, status, leaseUntil, expiresAt } = shown
  if (redrive === undefined) throw changed()
  const settings = settingsFor(store, id, {})
  const { clock } = settings
  const dueIn = (ms: number) => dueFrom(settings, id, clock.now() + ms)
  const reserved = await store.update(
    id,
    { status, leaseUntil, expiresAt, updatedAtMs: clock.now(), ...dueIn(RESERVATION_MS) },
    asShown(shown),
  )
  if (!reserved.applied) throw changed()
  const { groupId, ...message } = await redriveMessage(settings, { id, redrive }, hashOfParts([id, token, String(rev)]))
  const [result] = await sender.send([{ ...message, operationId: id, ...(groupId !== undefined && { groupId }) }])
  if (result?.kind === 'refused') {
    throw new CliFailure(EXIT.notSent, `Its target refuses the request: ${result.reason}. The operation is as it was.`)
  }
  if (result?.kind !== 'sent') {
    const error: unknown = result?.error
    const why = error instanceof Error ? `${error.name}: ${error.message}` : 'no answer'
    throw new CliFailure(
      EXIT.notSent,
      `Nobody knows whether the request was sent (${why}). Sending it again is safe: repeat the command.`,
    )
  }
  const nowMs = clock.now()
  const crashes = crashesOf(shown)
  const change: RecordChange = {
    status: 'RETRYABLE',
    leaseUntil: undefined,
    expiresAt: unfinishedExpiry(settings.unfinishedRetentionSeconds, { takeover, nowMs, leaseUntil: nowMs }),
    updatedAtMs: nowMs,
    ...(crashes > 0 && { crashes }),
    resumeAtMs: undefined,
    continuation: undefined,
    ...dueIn(Math.max(ARRIVAL_MS, patienceMs(shown))),
  }
  const mine: StandingCondition = { kind: 'seen', token, rev: rev + 1 }
  // Not applied: the request has arrived already, and the operation runs.
  await store.update(id, change, mine)
}
