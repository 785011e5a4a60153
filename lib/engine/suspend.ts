import { InvalidOptionError } from '../base/errors.ts'
import type { HeldRecord, HeldWrite, Lease } from '../lease/lease.ts'
import type { Settings } from '../operation/options.ts'
import type { Suspension } from '../operation/suspension.ts'
import { unfinishedExpiry } from '../record/expiry.ts'
import type { Ending, Exit } from './ending.ts'
import type { OperationRequest } from './execution.ts'
import { canDelay, continuationOf, isReconciled, type Redrive, storeRedrive } from './redrive.ts'

/** Longer than SQS holds a message back, in ms. A reconciler waits for free; without one it takes several hops. */
const LONGEST_MESSAGE_DELAY_MS = 900_000

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
    const stored = held.redrive ?? (redrive && (await storeRedrive(settings, redrive, lifetime)))
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
      return change()
    },
  })
}
