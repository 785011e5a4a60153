import { decideClaim } from './decide.ts'
import { isLambdaOnceError, StoreUnavailableError } from './errors.ts'
import { createExecution, type Execution, type OperationRequest } from './execution.ts'
import { NO_FINGERPRINT } from './fingerprint.ts'
import { type HeldRecord, leaseFrom } from './lease.ts'
import type { Settings } from './options.ts'
import { decodeOutcome, type Outcome } from './outcome.ts'
import type { RecordChange, StandingCondition, WriteAnswer } from './ports.ts'
import type { Moment, OperationRecord } from './record.ts'
import type { Report } from './report.ts'

/** Why an operation was not run. */
export type Refusal =
  | { readonly kind: 'replay'; readonly outcome: Outcome; readonly attempt: number }
  /** The outcome is there, but cannot be read whole: neither replayed nor run. */
  | { readonly kind: 'outcome-lost'; readonly error: unknown }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'waiting'; readonly retryAfterMs?: number }
  | { readonly kind: 'in-progress'; readonly retryAfterMs?: number }
  | {
      readonly kind: 'store-unavailable'
      readonly error: StoreUnavailableError
      /** The operation was seen to be finished, and only its outcome could not be read: it must not run, protected or not. */
      readonly isFinished?: true
    }

/** What a claim comes to. */
export type Claim = { readonly kind: 'claimed'; readonly execution: Execution } | Refusal

/** How often a claim that keeps losing races decides again before it answers "in progress". */
const MAX_ROUNDS = 5

/**
 * Claims the operation: one conditional write, and whatever the record that stands against it makes necessary.
 * The token is one for all writes of this claim, so that a write whose answer was lost is recognised as its own.
 */
export async function claim(settings: Settings, report: Report, request: OperationRequest): Promise<Claim> {
  try {
    return await claimWith(settings, report, request)
  } catch (error) {
    if (!isLambdaOnceError(error, 'STORE')) throw error
    report({ type: 'store-error', during: 'claim', error }, request.id)
    return { kind: 'store-unavailable', error: new StoreUnavailableError(error) }
  }
}

async function claimWith(settings: Settings, report: Report, request: OperationRequest): Promise<Claim> {
  const { store, clock } = settings
  const token = settings.newId()
  const moment = (): Moment => ({ nowMs: clock.now(), clockSkewMs: settings.clockSkewMs })
  let wanted = freshRecord(settings, request, token)
  let attempt = () => store.put(wanted, { kind: 'absent', moment: moment() })
  let giveUpOn: OperationRecord | undefined

  for (let round = 0; round < MAX_ROUNDS; round++) {
    let answer = await answered(settings, request.id, attempt)
    // An answer that comes after the end of its own lease proves nothing any more: somebody may have taken over since.
    if (answer.applied && clock.now() > wanted.leaseUntil + settings.clockSkewMs) {
      answer = { applied: false, existing: await store.get(request.id) }
    }
    if (answer.applied && giveUpOn !== undefined) return unknownNow(report, request, giveUpOn)
    giveUpOn = undefined
    if (answer.applied) return claimed(settings, report, request, wanted)
    const seen = answer.existing
    // The record was deleted between our write and the look at it. Nobody may run without a claim: claim again.
    if (seen === undefined) {
      wanted = freshRecord(settings, request, token)
      attempt = () => store.put(wanted, { kind: 'absent', moment: moment() })
      continue
    }
    const decision = decideClaim(seen, { token, fingerprint: request.fingerprint }, moment())
    const seenExactly: StandingCondition = { kind: 'seen', token: seen.token, rev: seen.rev }
    switch (decision.kind) {
      case 'claimed':
        return claimed(settings, report, request, { ...seen, leaseUntil: seen.leaseUntil ?? wanted.leaseUntil })
      case 'replace':
        wanted = freshRecord(settings, request, token, seen.createdAtMs + 1)
        attempt = () => store.put(wanted, seenExactly)
        continue
      case 'takeover': {
        const crashes = crashesOf(seen)
        if (crashes > settings.maxCrashes) {
          attempt = () => store.update(request.id, crashedTooOften(crashes, clock.now()), seenExactly)
          giveUpOn = seen
          continue
        }
        const next = takenOver(settings, request, token, seen)
        wanted = next
        attempt = () =>
          store.update(
            request.id,
            {
              status: 'IN_PROGRESS',
              attempt: next.attempt,
              token,
              leaseUntil: next.leaseUntil,
              expiresAt: next.expiresAt,
              updatedAtMs: next.updatedAtMs,
              fingerprint: next.fingerprint,
              resumeAtMs: undefined,
              ...(crashes > 0 && { crashes }),
            },
            seenExactly,
          )
        continue
      }
      default:
        return refuse(settings, report, request, seen, decision)
    }
  }
  report({ type: 'conflicted', attempt: wanted.attempt }, request.id)
  return { kind: 'in-progress', retryAfterMs: 1_000 }
}

/**
 * The answer to a write. When it is lost for good, one consistent read tells whether the write was applied;
 * when that read fails too, nobody knows, and the claim fails closed.
 */
async function answered({ store }: Settings, id: string, write: () => Promise<WriteAnswer>): Promise<WriteAnswer> {
  try {
    return await write()
  } catch (error) {
    if (!isLambdaOnceError(error, 'STORE') || !error.retryable) throw error
    return { applied: false, existing: await store.get(id) }
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
    // A caller without a fingerprint must not take the record's away.
    fingerprint: seen.fingerprint === NO_FINGERPRINT ? request.fingerprint : seen.fingerprint,
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

async function refuse(
  settings: Settings,
  report: Report,
  request: OperationRequest,
  seen: OperationRecord,
  decision: Exclude<ReturnType<typeof decideClaim>, { kind: 'claimed' | 'replace' | 'takeover' }>,
): Promise<Refusal> {
  const { attempt } = seen
  const inMs = (atMs: number) => ({ retryAfterMs: Math.max(0, atMs - settings.clock.now()) })
  switch (decision.kind) {
    case 'replay':
      return replay(settings, report, request, seen)
    case 'mismatch':
      report({ type: 'mismatched', attempt }, request.id)
      return decision
    case 'unknown':
      report({ type: 'unknown', attempt }, request.id)
      return decision
    case 'waiting':
      report({ type: 'waiting', attempt }, request.id)
      return { kind: 'waiting', ...(decision.resumeAtMs !== undefined && inMs(decision.resumeAtMs)) }
    case 'in-progress': {
      const { leaseUntil } = decision
      report({ type: 'conflicted', attempt, ...(leaseUntil !== undefined && { leaseUntil }) }, request.id)
      return { kind: 'in-progress', ...(leaseUntil !== undefined && inMs(leaseUntil + settings.clockSkewMs)) }
    }
  }
}

async function replay(
  settings: Settings,
  report: Report,
  request: OperationRequest,
  { attempt, outcome, status }: OperationRecord,
): Promise<Refusal> {
  try {
    if (outcome === undefined) throw new TypeError('A finished record has no outcome.')
    const decoded = await decodeOutcome(settings.store, outcome)
    report({ type: 'replayed', attempt, status: status === 'FAILED' ? 'FAILED' : 'COMPLETED' }, request.id)
    return { kind: 'replay', outcome: decoded, attempt }
  } catch (error) {
    report({ type: 'store-error', during: 'replay', error }, request.id)
    if (isLambdaOnceError(error, 'STORE')) {
      return { kind: 'store-unavailable', error: new StoreUnavailableError(error), isFinished: true }
    }
    return { kind: 'outcome-lost', error }
  }
}
