import { decideHeld, type Intent } from './decide.ts'
import { type Contract, type Disposition, meaningOfError, permittedDisposition } from './disposition.ts'
import { isLambdaOnceError, LeaseLostError, PermanentError } from './errors.ts'
import { expiryAfter, unfinishedExpiry } from './expiry.ts'
import { isSameRequest } from './fingerprint.ts'
import { type Operation, operationView, watchLease } from './operation.ts'
import { type Settings, secondsOption } from './options.ts'
import { decodeOutcome, encodeFailure, encodeOutcome, type Outcome } from './outcome.ts'
import { untilAnswered } from './persist.ts'
import type { RecordChange } from './ports.ts'
import type { OperationRecord, StoredOutcome } from './record.ts'
import type { Report } from './report.ts'

/** How the end of an execution was written. */
export type Ending =
  /** The record says so. */
  | { readonly kind: 'recorded'; readonly as: 'completed' | 'failed' | 'resumable' | 'released' }
  /** On purpose nothing was written: the lease is the backstop. */
  | { readonly kind: 'kept' }
  /** The store could not be reached until the deadline: the record stays in progress until its lease ends. */
  | { readonly kind: 'unrecorded'; readonly error: unknown }
  /** Another outcome stands: this claim's own earlier one, or that of the execution that took over. */
  | { readonly kind: 'outdone'; readonly outcome: Outcome; readonly attempt: number }
  /** The lease was lost and there is no outcome yet that this caller may have. */
  | { readonly kind: 'lost' }

/** What a claim is for. Computed once at the claim and kept: handlers may mutate the event. */
export interface OperationRequest {
  readonly id: string
  readonly key: string
  readonly fingerprint: string
  readonly contract: Contract
  /** The end of the invocation, ms. Absent: not known. */
  readonly deadlineMs?: number
}

/** The right to run, won by a claim, and the duty to end it with exactly one of the methods that answer an {@link Ending}. */
export interface Execution {
  readonly operation: Operation
  readonly attempt: number
  /** The work is about to be called: from now on an error may follow an effect. */
  entered(): void
  /** Stores the value. One that cannot be stored ends the operation as failed, never as run-again. */
  complete(value: unknown): Promise<Ending>
  /** Ends the operation after an error. `answer` is the final wire response that a stored failure replays. */
  reject(error: unknown, answer?: () => unknown): Promise<Ending>
  /** Ends the operation without an outcome. Where `release` is not sure, `otherwise` says what becomes of it. */
  giveUp(disposition: Disposition, otherwise?: 'fail' | 'resume'): Promise<Ending>
}

/** Left between the last retry of a completing write and the deadline, so that an answer still gets out, in ms. */
const ANSWER_RESERVE_MS = 300
/** How long a completing write is retried where no deadline is known, in ms. */
const PATIENCE_WITHOUT_DEADLINE_MS = 30_000
const RELEASED_RETENTION_SECONDS = 86_400

export function createExecution(
  settings: Settings,
  report: Report,
  request: OperationRequest,
  record: OperationRecord & { readonly leaseUntil: number },
): Execution {
  const { store, clock, random } = settings
  const { token } = record
  const giveUpAtMs = () =>
    request.deadlineMs === undefined
      ? Math.min(leaseUntil, clock.now() + PATIENCE_WITHOUT_DEADLINE_MS)
      : request.deadlineMs - ANSWER_RESERVE_MS
  const firstLeaseMs = record.leaseUntil - record.updatedAtMs
  const lease = watchLease(clock, record.leaseUntil)
  let leaseUntil = record.leaseUntil
  let entered = false
  let ended = false
  let releaseAsked = false

  /** Lost answers make a write come twice, so each failed condition is read as "was that me?" first. */
  async function write(intent: Intent, change: Omit<RecordChange, 'updatedAtMs'>) {
    const answer = await untilAnswered(
      () => store.update(record.id, { ...change, updatedAtMs: clock.now() }, { kind: 'held', token }),
      { clock, random, giveUpAtMs: giveUpAtMs() },
    )
    return answer.applied ? ({ kind: 'done' } as const) : decideHeld(answer.existing, token, intent)
  }

  async function extend(seconds?: number): Promise<void> {
    const lengthMs = (secondsOption('extend(seconds)', seconds, 0.001) ?? firstLeaseMs / 1000) * 1000
    if (ended) throw new LeaseLostError('The operation has ended; its lease cannot be extended.')
    const until = Math.max(leaseUntil, Math.ceil(clock.now() + lengthMs))
    const answer = await write('extend', { status: 'IN_PROGRESS', leaseUntil: until, expiresAt: expiry(until) })
    if (answer.kind !== 'done') {
      lease.lost()
      throw new LeaseLostError()
    }
    leaseUntil = until
    lease.moved(until)
  }

  const expiry = (until = clock.now()) =>
    unfinishedExpiry(settings.unfinishedRetentionSeconds, {
      takeover: record.takeover,
      nowMs: clock.now(),
      leaseUntil: until,
    })

  /** The one way out: whatever is thrown on it is an answer of the store, never the caller's problem to sort out. */
  async function end(
    as: 'completed' | 'failed' | 'resumable' | 'released',
    intent: Intent,
    change: () => Promise<Omit<RecordChange, 'updatedAtMs' | 'leaseUntil'>>,
  ): Promise<Ending> {
    if (ended) throw new LeaseLostError('The operation has ended already.')
    ended = true
    lease.stop()
    try {
      const answer = await write(intent, { ...(await change()), leaseUntil: undefined })
      if (answer.kind === 'done') {
        report({ type: as, attempt: record.attempt }, record.id)
        return { kind: 'recorded', as }
      }
      if (answer.kind === 'lost') {
        lease.lost()
        report({ type: 'lease-lost', attempt: record.attempt }, record.id)
      }
      return await standing(answer.record)
    } catch (error) {
      report({ type: 'store-error', during: intent, error }, record.id)
      return { kind: 'unrecorded', error }
    }
  }

  /** The outcome that stands against ours, if this caller may have it. */
  async function standing(other: OperationRecord | undefined): Promise<Ending> {
    if (other?.outcome === undefined || !isSameRequest(other.fingerprint, request.fingerprint)) return { kind: 'lost' }
    try {
      return { kind: 'outdone', outcome: await decodeOutcome(store, other.outcome), attempt: other.attempt }
    } catch (error) {
      report({ type: 'store-error', during: 'replay', error }, record.id)
      return { kind: 'lost' }
    }
  }

  const finished = (outcome: StoredOutcome, nowMs: number) => ({
    status: outcome.kind === 'value' ? ('COMPLETED' as const) : ('FAILED' as const),
    outcome,
    expiresAt: expiryAfter(nowMs, settings.retentionSeconds),
  })

  async function complete(value: unknown): Promise<Ending> {
    if (releaseAsked) return giveUp('release')
    const encoded = await encodeOutcome(settings, { kind: 'value', value })
    const as = encoded.kind === 'value' ? 'completed' : 'failed'
    return end(as, as === 'completed' ? 'complete' : 'fail', async () =>
      finished(await encoded.persist(giveUpAtMs()), clock.now()),
    )
  }

  async function fail(error: unknown, answer?: () => unknown): Promise<Ending> {
    const encoded = await encodeFailure(settings, error, answer)
    return end('failed', 'fail', async () => finished(await encoded.persist(giveUpAtMs()), clock.now()))
  }

  async function giveUp(disposition: Disposition, otherwise: 'fail' | 'resume' = 'fail'): Promise<Ending> {
    switch (permittedDisposition(disposition, record, otherwise)) {
      case 'keep':
        ended = true
        lease.stop()
        return { kind: 'kept' }
      case 'release':
        return end('released', 'release', async () => ({
          status: 'RELEASED',
          expiresAt: expiryAfter(clock.now(), RELEASED_RETENTION_SECONDS),
        }))
      case 'resume':
        return end('resumable', 'resume', async () => ({ status: 'RETRYABLE', expiresAt: expiry() }))
      case 'fail':
        return fail(new PermanentError('A release was asked for after an earlier attempt that may have had effects.'))
    }
  }

  function wishFor(error: unknown): Disposition {
    const { effects, onError } = settings
    try {
      const asked = onError?.(error, operation)
      if (asked !== undefined && DISPOSITIONS.includes(asked)) return asked
    } catch (thrown) {
      report({ type: 'hook-failed', hook: 'onError', error: thrown }, record.id)
    }
    return meaningOfError(error, { contract: request.contract, entered, effects })
  }

  const operation = operationView({
    record,
    key: request.key,
    lease,
    extend,
    release: () => {
      releaseAsked = true
    },
  })

  return Object.freeze({
    operation,
    attempt: record.attempt,
    entered() {
      entered = true
    },
    complete,
    async reject(error: unknown, answer?: () => unknown) {
      const permitted = permittedDisposition(wishFor(error), record)
      const ending = permitted === 'fail' ? await fail(error, answer) : await giveUp(permitted)
      if (ending.kind === 'unrecorded') noteBeside(error, ending.error)
      return ending
    },
    giveUp,
  })
}

const DISPOSITIONS: readonly string[] = ['release', 'resume', 'fail', 'keep'] satisfies Disposition[]

/** A failed store call on the error path must not hide the business error: it goes along as `suppressed`. */
function noteBeside(error: unknown, storeError: unknown): void {
  if (error instanceof Error && Object.isExtensible(error) && !isLambdaOnceError(error, 'STORE')) {
    Object.defineProperty(error, 'suppressed', { value: storeError, configurable: true, writable: true })
  }
}
