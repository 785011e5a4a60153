import { isLambdaOnceError } from '../base/errors.ts'
import { type HeldRecord, leaseFrom } from '../lease/lease.ts'
import type { Settings } from '../operation/options.ts'
import type { Report, Reported } from '../operation/report.ts'
import { ANSWER_RESERVE_MS, backOff } from '../outcome/persist.ts'
import { type Claimant, type Decision, decideClaim } from '../record/decide.ts'
import { dueFrom, recordDueAtMs } from '../record/due.ts'
import { expiryAfter } from '../record/expiry.ts'
import type { Moment, OperationRecord } from '../record/record.ts'
import type { RecordChange, StandingCondition, WriteAnswer } from '../record/store.ts'
import { createExecution, type Execution } from './execution.ts'
import { inlineRedrive, nextHop } from './redrive.ts'
import { originOf, type Refusal, refuse, storeUnavailable } from './refusal.ts'
import type { OperationRequest } from './request.ts'

/** What a claim comes to. */
export type Claim = { readonly kind: 'claimed'; readonly execution: Execution } | Refusal

/** What a claim of the record itself comes to. */
export type RecordClaim =
  /** `from`: the record that was taken over, where there was one. */
  | { readonly kind: 'held'; readonly record: HeldRecord; readonly from: OperationRecord | undefined }
  /** A record stands against it, and allows no claim. */
  | { readonly kind: 'standing'; readonly seen: OperationRecord; readonly decision: Standing }
  | Refusal

type Standing = Exclude<Decision, { kind: 'claimed' | 'replace' | 'takeover' }>

/** How often a claim that keeps losing races decides again before it answers "in progress". */
const MAX_ROUNDS = 5

/** Claims the operation for one execution. */
export async function claim(settings: Settings, report: Report, request: OperationRequest): Promise<Claim> {
  const claimed = await claimRecord(settings, report, request)
  switch (claimed.kind) {
    case 'held': {
      const { record } = claimed
      report(beginning(claimed), record.id)
      const execution = createExecution(settings, report, request, record)
      if (request.redrive?.atClaim && record.redrive === undefined) await execution.keepRequest(request.redrive)
      return { kind: 'claimed', execution }
    }
    case 'standing':
      return refuse(settings, report, request, claimed.seen, claimed.decision)
    default:
      return claimed
  }
}

/** How an attempt begins: anew, after one that ended without a word, or after one that left it to be continued. */
function beginning({ record: { attempt }, from }: Extract<RecordClaim, { kind: 'held' }>): Reported {
  if (from === undefined) return { type: 'claimed', attempt }
  return { type: from.status === 'IN_PROGRESS' ? 'taken-over' : 'resumed', attempt, ...originOf(from) }
}

/**
 * Claims the record: one conditional write, and whatever the record that stands against it makes necessary.
 * The token is one for all writes of this claim, so that a write whose answer was lost is recognised as its own.
 */
export async function claimRecord(settings: Settings, report: Report, request: OperationRequest): Promise<RecordClaim> {
  const { store, clock } = settings
  let token = settings.newId()
  const tokens = new Set([token])
  const claimant = (seen: OperationRecord): Claimant => {
    return { token: tokens.has(seen.token) ? seen.token : token, fingerprint: request.fingerprint }
  }
  const moment = (): Moment => ({ nowMs: clock.now(), clockSkewMs: settings.clockSkewMs })
  const decide = (seen: OperationRecord) => permitted(request, seen, decideClaim(seen, claimant(seen), moment()))
  let giveUpOn: OperationRecord | undefined
  let from: OperationRecord | undefined
  // Those who continue an operation know that it was begun.
  let hasBegun = request.isReconciled === true || request.continuationId !== undefined
  let failure: unknown

  try {
    const fresh = await freshRecords(settings, request, token)
    let wanted = fresh()
    const isLikelyTaken = hasBegun || request.isRedelivered === true
    // At the time that the record says it was made: what it replaces must be older, or fences would not rise.
    const absent = () => ({ kind: 'absent', moment: { ...moment(), nowMs: wanted.updatedAtMs } }) as const
    let attempt = (): Promise<WriteAnswer> =>
      store.put(wanted, { ...absent(), ...(isLikelyTaken && { isLikelyTaken }) })
    // A reconciler continues what is there, and never begins anything.
    if (request.isReconciled) attempt = async () => ({ applied: false, existing: await store.get(request.id) })

    for (let round = 0; round < MAX_ROUNDS; round++) {
      let answer = await answered(settings, request.id, attempt)
      failure = answer.failure
      // An answer that comes after the end of its own lease proves nothing any more: somebody may have taken over since.
      if (answer.applied && clock.now() >= wanted.leaseUntil) {
        answer = { applied: false, existing: await store.get(request.id) }
      }
      if (answer.applied && giveUpOn !== undefined) return unknownNow(report, request, giveUpOn)
      giveUpOn = undefined
      if (answer.applied) return { kind: 'held', record: wanted, from }
      const seen = answer.existing
      if (seen !== undefined) hasBegun = decide(seen).kind !== 'replace'
      if (failure !== undefined) {
        if (request.deadlineMs !== undefined && clock.now() >= request.deadlineMs - ANSWER_RESERVE_MS) throw failure
        await backOff(settings, round)
      }
      // The record was deleted between our write and the look at it. Nobody may run without a claim: claim again.
      if (seen === undefined) {
        if (request.isReconciled) break
        hasBegun = false
        from = undefined
        // The record that is gone may have been this claim's own: whoever has seen that must not take this for it.
        token = settings.newId()
        tokens.add(token)
        wanted = { ...fresh(), token }
        attempt = () => store.put(wanted, absent())
        continue
      }
      const seenExactly: StandingCondition = { kind: 'seen', token: seen.token, rev: seen.rev }
      const decision = decide(seen)
      switch (decision.kind) {
        case 'claimed':
          return { kind: 'held', record: { ...seen, leaseUntil: seen.leaseUntil ?? wanted.leaseUntil }, from }
        case 'replace':
          from = undefined
          wanted = { ...fresh(seen.createdAtMs + 1), token, rev: seen.rev + 1 }
          attempt = () => store.put(wanted, seenExactly)
          continue
        case 'takeover': {
          const crashes = crashesOf(seen)
          if (crashes > settings.maxCrashes) {
            attempt = () => store.update(request.id, crashedTooOften(settings, request.id, crashes), seenExactly)
            giveUpOn = seen
            continue
          }
          const next = takenOver(settings, request, token, seen)
          from = seen
          wanted = next
          attempt = () => store.update(request.id, takeoverChange(next), seenExactly)
          continue
        }
        case 'waiting': {
          const hop = await nextHop(settings, request, seen)
          if (hop === undefined) return { kind: 'standing', seen, decision }
          attempt = hop
          continue
        }
        default:
          return { kind: 'standing', seen, decision }
      }
    }
    if (failure !== undefined) throw failure
  } catch (error) {
    if (!isLambdaOnceError(error, 'STORE')) throw error
    report({ type: 'store-error', during: 'claim', error }, request.id)
    return storeUnavailable(error, hasBegun)
  }
  report({ type: 'conflicted', attempt: 0 }, request.id)
  return { kind: 'in-progress', retryAfterMs: 1_000 }
}

/** What a decision comes to for whoever asks. */
function permitted(
  { isReconciled, admissionMs }: OperationRequest,
  { canProbe, isAdmission }: OperationRecord,
  decision: Decision,
): Decision {
  // A reconciler begins nothing, and may ask again about a step that can be asked about.
  if (isReconciled && decision.kind === 'replace') return { kind: 'in-progress' }
  if (isReconciled && decision.kind === 'unknown' && canProbe) return { kind: 'takeover' }
  // An admission has no work to go on with, so an unfinished operation of that name is none of its business.
  if (admissionMs !== undefined && decision.kind === 'takeover') return { kind: 'in-progress' }
  // What was confirmed of an admission key is a receipt, and nobody's outcome.
  if (admissionMs === undefined && isAdmission && decision.kind === 'replay') return { kind: 'mismatch' }
  return decision
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

/** Makes first records. What has to be stored beside them is stored once. */
async function freshRecords(
  settings: Settings,
  request: OperationRequest,
  token: string,
): Promise<(notBeforeMs?: number) => HeldRecord> {
  const { clock } = settings
  const { id, fingerprint, metadata, redrive, deadlineMs, admissionMs, trace } = request
  // A large one is written once the claim is won: a repetition must not pay for what it does not store.
  const stored = redrive?.atClaim === true ? await inlineRedrive(settings, id, redrive) : undefined
  return (notBeforeMs = 0) => {
    const nowMs = clock.now()
    const record = {
      id,
      status: 'IN_PROGRESS' as const,
      attempt: 1,
      token,
      rev: 1,
      ...(admissionMs === undefined
        ? { ...leaseFrom(settings, settings.takeover, nowMs, deadlineMs), takeover: settings.takeover }
        : admissionLease(nowMs, admissionMs)),
      createdAtMs: Math.max(nowMs, notBeforeMs),
      updatedAtMs: nowMs,
      fingerprint,
      steps: {},
      ...(metadata !== undefined && { metadata }),
      ...(stored !== undefined && { redrive: stored }),
      ...(trace !== undefined && { trace }),
      schema: 1 as const,
    }
    return { ...record, ...presentDue(settings, record, nowMs) }
  }
}

/** An admission is held for its time to live, and is free at once when that is over. */
function admissionLease(nowMs: number, admissionMs: number) {
  const leaseUntil = Math.ceil(nowMs + admissionMs)
  return { leaseUntil, expiresAt: expiryAfter(leaseUntil, 0), takeover: 'never', isAdmission: true } as const
}

/** The index fields of a record that is written as a whole: what is not there is left out. */
function presentDue(
  settings: Settings,
  record: HeldRecord,
  nowMs: number,
): Pick<OperationRecord, 'dueShard' | 'dueAtMs'> {
  const { dueShard, dueAtMs } = dueFrom(settings, record.id, recordDueAtMs(record, nowMs))
  return dueShard === undefined || dueAtMs === undefined ? {} : { dueShard, dueAtMs }
}

/** The fingerprint stays the record's own, whatever this caller has: the downstream keys of the steps hang on it. */
function takenOver(settings: Settings, request: OperationRequest, token: string, seen: OperationRecord): HeldRecord {
  const nowMs = settings.clock.now()
  const { resumeAtMs: _at, waitingFor: _why, continuation: _next, unknownStep: _step, canProbe: _can, ...rest } = seen
  const { expiresAt: _expiry, dueShard: _shard, dueAtMs: _due, isReconciled: _by, ...kept } = rest
  const record = {
    ...kept,
    ...(request.isReconciled && { isReconciled: true as const }),
    ...(crashesOf(seen) > 0 && { crashes: crashesOf(seen) }),
    ...(request.trace !== undefined && { trace: request.trace }),
    status: 'IN_PROGRESS' as const,
    attempt: seen.attempt + 1,
    token,
    rev: seen.rev + 1,
    ...leaseFrom(settings, seen.takeover, nowMs, request.deadlineMs),
    updatedAtMs: nowMs,
  }
  return { ...record, ...presentDue(settings, record, nowMs) }
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
    waitingFor: undefined,
    continuation: undefined,
    unknownStep: undefined,
    canProbe: undefined,
    isReconciled: next.isReconciled,
    ...(next.crashes !== undefined && { crashes: next.crashes }),
    ...(next.trace !== undefined && { trace: next.trace }),
    ...(next.dueShard !== undefined && { dueShard: next.dueShard, dueAtMs: next.dueAtMs }),
  }
}

/**
 * Attempts that ended without a word, this takeover's predecessor included. One that threw wrote how it ended, and
 * that a reconciler's ended so says nothing of the work.
 */
export function crashesOf({ crashes = 0, status, isReconciled }: OperationRecord): number {
  return crashes + (status === 'IN_PROGRESS' && !isReconciled ? 1 : 0)
}

function crashedTooOften(settings: Settings, id: string, crashes: number): RecordChange {
  const updatedAtMs = settings.clock.now()
  const due = dueFrom(settings, id, undefined)
  return { status: 'UNKNOWN', leaseUntil: undefined, expiresAt: undefined, updatedAtMs, crashes, ...due }
}

function unknownNow(report: Report, request: OperationRequest, seen: OperationRecord): Refusal {
  report({ type: 'unknown', attempt: seen.attempt, ...originOf(seen) }, request.id)
  return { kind: 'unknown' }
}
