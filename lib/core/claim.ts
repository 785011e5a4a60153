import { type Claimant, decideClaim } from './decide.ts'
import { isLambdaOnceError } from './errors.ts'
import { createExecution, type Execution, type OperationRequest } from './execution.ts'
import { type HeldRecord, leaseFrom } from './lease.ts'
import type { Settings } from './options.ts'
import { ANSWER_RESERVE_MS, backOff } from './persist.ts'
import type { RecordChange, StandingCondition, WriteAnswer } from './ports.ts'
import type { Moment, OperationRecord } from './record.ts'
import { type Refusal, refuse, storeUnavailable } from './refusal.ts'
import type { Report } from './report.ts'

/** What a claim comes to. */
export type Claim = { readonly kind: 'claimed'; readonly execution: Execution } | Refusal

/** How often a claim that keeps losing races decides again before it answers "in progress". */
const MAX_ROUNDS = 5

/**
 * Claims the operation: one conditional write, and whatever the record that stands against it makes necessary.
 * The token is one for all writes of this claim, so that a write whose answer was lost is recognised as its own.
 */
export async function claim(settings: Settings, report: Report, request: OperationRequest): Promise<Claim> {
  const { store, clock } = settings
  const token = settings.newId()
  const claimant: Claimant = { token, fingerprint: request.fingerprint }
  const moment = (): Moment => ({ nowMs: clock.now(), clockSkewMs: settings.clockSkewMs })
  let wanted = freshRecord(settings, request, token)
  let attempt = () => store.put(wanted, { kind: 'absent', moment: moment() })
  let giveUpOn: OperationRecord | undefined
  let hasBegun = false
  let failure: unknown

  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      let answer = await answered(settings, request.id, attempt)
      failure = answer.failure
      // An answer that comes after the end of its own lease proves nothing any more: somebody may have taken over since.
      if (answer.applied && clock.now() > wanted.leaseUntil + settings.clockSkewMs) {
        answer = { applied: false, existing: await store.get(request.id) }
      }
      if (answer.applied && giveUpOn !== undefined) return unknownNow(report, request, giveUpOn)
      giveUpOn = undefined
      if (answer.applied) return claimed(settings, report, request, wanted)
      if (failure !== undefined) {
        if (request.deadlineMs !== undefined && clock.now() >= request.deadlineMs - ANSWER_RESERVE_MS) throw failure
        await backOff(settings, round)
      }
      const seen = answer.existing
      // The record was deleted between our write and the look at it. Nobody may run without a claim: claim again.
      if (seen === undefined) {
        hasBegun = false
        wanted = freshRecord(settings, request, token)
        attempt = () => store.put(wanted, { kind: 'absent', moment: moment() })
        continue
      }
      const decision = decideClaim(seen, claimant, moment())
      const seenExactly: StandingCondition = { kind: 'seen', token: seen.token, rev: seen.rev }
      switch (decision.kind) {
        case 'claimed':
          return claimed(settings, report, request, { ...seen, leaseUntil: seen.leaseUntil ?? wanted.leaseUntil })
        case 'replace':
          hasBegun = false
          wanted = freshRecord(settings, request, token, seen.createdAtMs + 1)
          attempt = () => store.put(wanted, seenExactly)
          continue
        case 'takeover': {
          hasBegun = true
          const crashes = crashesOf(seen)
          if (crashes > settings.maxCrashes) {
            attempt = () => store.update(request.id, crashedTooOften(crashes, clock.now()), seenExactly)
            giveUpOn = seen
            continue
          }
          const next = takenOver(settings, request, token, seen)
          wanted = next
          attempt = () => store.update(request.id, takeoverChange(next), seenExactly)
          continue
        }
        default:
          return refuse(settings, report, request, seen, decision)
      }
    }
    if (failure !== undefined) throw failure
  } catch (error) {
    if (!isLambdaOnceError(error, 'STORE')) throw error
    report({ type: 'store-error', during: 'claim', error }, request.id)
    return storeUnavailable(error, hasBegun)
  }
  report({ type: 'conflicted', attempt: wanted.attempt }, request.id)
  return { kind: 'in-progress', retryAfterMs: 1_000 }
}

/**
 * The answer to a write. When it is lost for good, one consistent read tells whether the write was applied;
 * when that read fails too, nobody knows, and the claim fails closed.
 */
async function answered(
  { store }: Settings,
  id: string,
  write: () => Promise<WriteAnswer>,
): Promise<WriteAnswer & { readonly failure?: unknown }> {
  try {
    return await write()
  } catch (error) {
    if (!isLambdaOnceError(error, 'STORE') || !error.retryable) throw error
    return { applied: false, existing: await store.get(id), failure: error }
  }
}

function claimed(settings: Settings, report: Report, request: OperationRequest, record: HeldRecord): Claim {
  report({ type: record.attempt === 1 ? 'claimed' : 'taken-over', attempt: record.attempt }, record.id)
  return { kind: 'claimed', execution: createExecution(settings, report, request, record) }
}

function freshRecord(settings: Settings, request: OperationRequest, token: string, notBeforeMs = 0): HeldRecord {
  const nowMs = settings.clock.now()
  return {
    id: request.id,
    status: 'IN_PROGRESS',
    attempt: 1,
    token,
    rev: 1,
    ...leaseFrom(settings, settings.takeover, nowMs, request.deadlineMs),
    takeover: settings.takeover,
    createdAtMs: Math.max(nowMs, notBeforeMs),
    updatedAtMs: nowMs,
    fingerprint: request.fingerprint,
    steps: {},
    schema: 1,
  }
}

/** The fingerprint stays the record's own, whatever this caller has: the downstream keys of the steps hang on it. */
function takenOver(settings: Settings, request: OperationRequest, token: string, seen: OperationRecord): HeldRecord {
  const nowMs = settings.clock.now()
  const { resumeAtMs: _due, expiresAt: _expiry, ...kept } = seen
  return {
    ...kept,
    ...(crashesOf(seen) > 0 && { crashes: crashesOf(seen) }),
    status: 'IN_PROGRESS',
    attempt: seen.attempt + 1,
    token,
    rev: seen.rev + 1,
    ...leaseFrom(settings, seen.takeover, nowMs, request.deadlineMs),
    updatedAtMs: nowMs,
  }
}

function takeoverChange(next: HeldRecord): RecordChange {
  return {
    status: 'IN_PROGRESS',
    attempt: next.attempt,
    token: next.token,
    leaseUntil: next.leaseUntil,
    expiresAt: next.expiresAt,
    updatedAtMs: next.updatedAtMs,
    resumeAtMs: undefined,
    ...(next.crashes !== undefined && { crashes: next.crashes }),
  }
}

/** Attempts that ended without a word, this takeover's predecessor included. One that threw wrote how it ended. */
function crashesOf(seen: OperationRecord): number {
  return (seen.crashes ?? 0) + (seen.status === 'IN_PROGRESS' ? 1 : 0)
}

function crashedTooOften(crashes: number, nowMs: number): RecordChange {
  return { status: 'UNKNOWN', leaseUntil: undefined, expiresAt: undefined, updatedAtMs: nowMs, crashes }
}

function unknownNow(report: Report, request: OperationRequest, { attempt }: OperationRecord): Refusal {
  report({ type: 'unknown', attempt }, request.id)
  return { kind: 'unknown' }
}
