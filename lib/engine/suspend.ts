import type { HeldRecord, HeldWrite, Lease } from '../lease/lease.ts'
import type { Settings } from '../operation/options.ts'
import type { Suspension } from '../operation/suspension.ts'
import { unfinishedExpiry } from '../record/expiry.ts'
import { continuationOf } from './continuation.ts'
import type { Ending, Exit } from './ending.ts'
import { canDelay, type Redrive, storeRedrive } from './redrive.ts'

/** Longer than SQS holds a message back, in ms. A reconciler waits for free; without one it takes several hops. */
const LONGEST_MESSAGE_DELAY_MS = 900_000

/**
 * Suspends the operation and, in the same transaction, puts the message on its way that will continue it. A signal
 * that came meanwhile makes it due at once: nobody else would wake it.
 */
export async function suspend(
  settings: Settings,
  held: HeldRecord,
  { lease, exit }: { readonly lease: Lease; readonly exit: Exit },
  suspension: Suspension,
  redrive: Redrive | undefined,
): Promise<Ending> {
  const { clock, relay, reconcilerShards } = settings
  const { why } = suspension
  let seenSignals = held.signals?.length ?? 0
  let { resumeAtMs } = suspension

  async function change(): Promise<HeldWrite> {
    const nowMs = clock.now()
    const lifetime = lease.lifetime()
    const stored = held.redrive ?? (redrive && (await storeRedrive(settings, held.id, redrive, lifetime)))
    const isSent =
      relay &&
      stored !== undefined &&
      resumeAtMs !== undefined &&
      (canDelay(stored.target) || resumeAtMs <= nowMs) &&
      (reconcilerShards === 0 || resumeAtMs - nowMs <= LONGEST_MESSAGE_DELAY_MS)
    const sent = isSent
      ? await continuationOf(settings, { id: held.id, redrive: stored }, resumeAtMs ?? nowMs, lifetime)
      : undefined
    return {
      status: 'WAITING',
      resumeAtMs,
      waitingFor: why,
      expiresAt: expiryOf(resumeAtMs),
      knownSignals: seenSignals,
      ...(stored !== undefined && { redrive: stored }),
      continuation: sent?.continuation,
      ...(sent !== undefined && { beside: [sent.item] }),
    }
  }

  function expiryOf(untilMs: number | undefined): number | undefined {
    if (untilMs === undefined) return undefined
    const nowMs = Math.max(untilMs, clock.now())
    const { takeover } = held
    return unfinishedExpiry(settings.unfinishedRetentionSeconds, { takeover, nowMs, leaseUntil: nowMs })
  }

  return exit.write('suspend', change, {
    done: () => ({
      kind: 'suspended',
      ...(resumeAtMs !== undefined && { retryAfterMs: Math.max(0, resumeAtMs - clock.now()) }),
    }),
    revise(standing) {
      const signals = standing.signals?.length ?? 0
      if (standing.token !== held.token || standing.status !== 'IN_PROGRESS' || signals === seenSignals)
        return undefined
      seenSignals = signals
      resumeAtMs = clock.now()
      return { intent: 'suspend', change: change() }
    },
  })
}
