import { dueFrom } from '../../record/due.ts'
import { expiryAfter, TOMBSTONE_SECONDS } from '../../record/expiry.ts'
import type { OperationRecord } from '../../record/record.ts'
import type { Store } from '../../record/store.ts'
import { asShown, changed } from './fence.ts'
import { settingsFor } from './settings.ts'

/** Makes the operation count as absent, if it is still as it was shown. @throws CliFailure when it is not */
export async function releaseShown(store: Store, shown: OperationRecord): Promise<void> {
  const settings = settingsFor(store, shown.id, {})
  const nowMs = settings.clock.now()
  const answer = await store.update(
    shown.id,
    {
      status: 'RELEASED',
      // A new token, so that a holder which comes back late finds itself fenced off.
      token: settings.newId(),
      leaseUntil: undefined,
      expiresAt: expiryAfter(nowMs, TOMBSTONE_SECONDS),
      updatedAtMs: nowMs,
      unknownStep: undefined,
      canProbe: undefined,
      resumeAtMs: undefined,
      waitingFor: undefined,
      continuation: undefined,
      ...dueFrom(settings, shown.id, undefined),
    },
    asShown(shown),
  )
  if (!answer.applied) throw changed()
}
