import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { isLeaseRunning } from '../record/record.ts'
import { type Claim, claim } from './claim.ts'
import { inProgress } from './refusal.ts'
import type { OperationRequest } from './request.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000
/** Kept of the invocation's time, so that a refusal still gets out, in ms. */
const ANSWER_RESERVE_MS = 500

/**
 * Claims; and where another execution is running, waits for its outcome as long as the options allow.
 * Looks with reads, which cost less than a failed claim, and claims again only when the lease is given back or over.
 */
export async function claimPatiently(settings: Settings, report: Report, request: OperationRequest): Promise<Claim> {
  const { clock, store, inFlightWaitMs, clockSkewMs } = settings
  const first = await claim(settings, report, request)
  if (inFlightWaitMs === 0 || first.kind !== 'in-progress' || request.isReconciled) return first
  const deadlineMs = (request.deadlineMs ?? Number.POSITIVE_INFINITY) - ANSWER_RESERVE_MS
  const untilMs = Math.min(clock.now() + inFlightWaitMs, deadlineMs)
  let refusal = first
  for (
    let pauseMs = FIRST_PAUSE_MS;
    clock.now() + pauseMs <= untilMs;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  ) {
    await clock.wait(pauseMs)
    const record = await store.get(request.id).catch(() => undefined)
    if (record !== undefined && isLeaseRunning(record, { nowMs: clock.now(), clockSkewMs })) {
      refusal = inProgress(settings, record)
      continue
    }
    const answer = await claim(settings, report, request)
    if (answer.kind === 'store-unavailable') return { ...answer, hasBegun: true }
    if (answer.kind !== 'in-progress') return answer
    refusal = answer
  }
  return refusal
}
