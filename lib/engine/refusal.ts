import { isLambdaOnceError, StoreUnavailableError } from '../base/errors.ts'
import type { Traced } from '../base/ports.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { decodeOutcome, type Outcome } from '../outcome/outcome.ts'
import type { Decision } from '../record/decide.ts'
import type { OperationRecord } from '../record/record.ts'
import { isLive, isReconciled } from './redrive.ts'
import type { OperationRequest } from './request.ts'

/** Why an operation was not run. */
export type Refusal =
  | { readonly kind: 'replay'; readonly outcome: Outcome; readonly attempt: number }
  /** The outcome is there, but cannot be read whole: neither replayed nor run. */
  | { readonly kind: 'outcome-lost'; readonly error: unknown }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'unknown' }
  /** `isContinued`: somebody will wake it, so that this delivery may be let go. */
  | { readonly kind: 'waiting'; readonly retryAfterMs?: number; readonly isContinued: boolean }
  | { readonly kind: 'in-progress'; readonly retryAfterMs?: number }
  | {
      readonly kind: 'store-unavailable'
      readonly error: StoreUnavailableError
      /** The operation was seen to have begun: somebody may be working, or has been. It must not run without a claim. */
      readonly hasBegun: boolean
    }

/** The answer to a claim that the record seen forbids. */
export async function refuse(
  settings: Settings,
  report: Report,
  request: OperationRequest,
  seen: OperationRecord,
  decision: Exclude<Decision, { kind: 'claimed' | 'replace' | 'takeover' }>,
): Promise<Refusal> {
  const { attempt } = seen
  const origin = originOf(seen)
  switch (decision.kind) {
    case 'replay':
      return replay(settings, report, request, seen)
    case 'mismatch':
      report({ type: 'mismatched', attempt, ...origin }, request.id)
      return decision
    case 'unknown':
      report({ type: 'unknown', attempt, ...origin }, request.id)
      return decision
    case 'waiting': {
      const { resumeAtMs } = decision
      report({ type: 'waiting', attempt, ...origin }, request.id)
      return {
        kind: 'waiting',
        isContinued: isContinued(settings, seen),
        ...(resumeAtMs !== undefined && untilMs(settings, resumeAtMs)),
      }
    }
    case 'in-progress': {
      const { leaseUntil } = decision
      report({ type: 'conflicted', attempt, ...(leaseUntil !== undefined && { leaseUntil }), ...origin }, request.id)
      return inProgress(settings, decision)
    }
  }
}

/** Where the execution that a record is of can be found among the traces. */
export function originOf({ trace }: OperationRecord): Traced {
  return trace === undefined ? {} : { origin: trace }
}

/** Whether the reconciler will find it, a signal will send its message, or that is on its way. */
function isContinued(settings: Settings, { continuation, redrive, resumeAtMs }: OperationRecord): boolean {
  if (isReconciled(settings, redrive)) return true
  if (resumeAtMs !== undefined) return isLive(continuation, settings.clock.now())
  return settings.relay && redrive !== undefined
}

/** "In progress", with the time left until a repetition could help, counted from now. */
export function inProgress(
  settings: Settings,
  { leaseUntil }: { readonly leaseUntil?: number },
): Extract<Refusal, { kind: 'in-progress' }> {
  return {
    kind: 'in-progress',
    ...(leaseUntil !== undefined && untilMs(settings, leaseUntil + settings.clockSkewMs)),
  }
}

function untilMs({ clock }: Settings, atMs: number): { readonly retryAfterMs: number } {
  return { retryAfterMs: Math.max(0, atMs - clock.now()) }
}

/** A claim that failed with the store. Fails closed. */
export function storeUnavailable(error: unknown, hasBegun: boolean): Refusal {
  return { kind: 'store-unavailable', error: new StoreUnavailableError(error), hasBegun }
}

async function replay(
  settings: Settings,
  report: Report,
  request: OperationRequest,
  record: OperationRecord,
): Promise<Refusal> {
  try {
    const { attempt, outcome, status } = record
    if (outcome === undefined) throw new TypeError('A finished record has no outcome.')
    const decoded = await decodeOutcome(settings, outcome, record)
    report(
      { type: 'replayed', attempt, status: status === 'FAILED' ? 'FAILED' : 'COMPLETED', ...originOf(record) },
      request.id,
    )
    return { kind: 'replay', outcome: decoded, attempt }
  } catch (error) {
    report({ type: 'store-error', during: 'replay', error }, request.id)
    return isLambdaOnceError(error, 'STORE') ? storeUnavailable(error, true) : { kind: 'outcome-lost', error }
  }
}
