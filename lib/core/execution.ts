import type { Intent } from './decide.ts'
import { type Contract, type Disposition, meaningOfError, permittedDisposition } from './disposition.ts'
import { isLambdaOnceError, LeaseLostError, PermanentError, StepNotAwaitedError } from './errors.ts'
import { expiryAfter } from './expiry.ts'
import { isSameRequest } from './fingerprint.ts'
import { secondsOption } from './guards.ts'
import { type HeldRecord, holdLease } from './lease.ts'
import { type Operation, operationView } from './operation.ts'
import type { Settings } from './options.ts'
import { decodeOutcome, type EncodedOutcome, encodeFailure, encodeOutcome, type Outcome } from './outcome.ts'
import type { RecordChange } from './ports.ts'
import type { OperationRecord, Status } from './record.ts'
import type { Report } from './report.ts'
import { createSteps } from './steps.ts'
import { noteBeside } from './suppressed.ts'

/** What the record says after an end that was written. */
export type RecordedEnding = 'completed' | 'failed' | 'resumable' | 'released' | 'unknown'

/** How the end of an execution was written. */
export type Ending =
  /** The record says so. */
  | { readonly kind: 'recorded'; readonly as: RecordedEnding }
  /** On purpose nothing was written: the lease is the backstop. */
  | { readonly kind: 'kept' }
  /** There was no claim and there is no record: the options, or the request, ask for no protection. */
  | { readonly kind: 'unprotected' }
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
  /**
   * Stores the value. One that cannot be stored ends the operation as failed, never as run-again.
   * @throws StepNotAwaitedError when a step still runs: nothing has ended, and the error is to be rejected with
   */
  complete(value: unknown): Promise<Ending>
  /** Ends the operation after an error. `answer` is the final wire response that a stored failure replays. */
  reject(error: unknown, answer?: () => unknown): Promise<Ending>
  /** Ends the operation without an outcome. Where `release` is not sure, `otherwise` says what becomes of it. */
  giveUp(disposition: Disposition, otherwise?: 'fail' | 'resume'): Promise<Ending>
}

const RELEASED_RETENTION_SECONDS = 86_400

export function createExecution(
  settings: Settings,
  report: Report,
  request: OperationRequest,
  record: HeldRecord,
): Execution {
  const { store, clock } = settings
  const lease = holdLease(settings, record, request.deadlineMs)
  const steps = createSteps(settings, lease, record)
  const firstLeaseMs = record.leaseUntil - record.updatedAtMs
  let entered = false
  let ended = false
  let releaseAsked = false

  async function extend(seconds?: number): Promise<void> {
    const asked = secondsOption('extend(seconds)', seconds, 0.001)
    if (ended) throw new LeaseLostError('The operation has ended; its lease cannot be extended.')
    await lease.renew({}, asked === undefined ? clock.now() + firstLeaseMs : Math.ceil(clock.now() + asked * 1000))
  }

  /** The one way out: whatever is thrown on it is an answer of the store, never the caller's problem to sort out. */
  async function end(
    as: RecordedEnding,
    intent: Intent,
    change: () => Promise<Omit<RecordChange, 'updatedAtMs' | 'leaseUntil'>>,
  ): Promise<Ending> {
    if (ended) throw new LeaseLostError('The operation has ended already.')
    ended = true
    lease.watch.stop()
    // A step that runs on would write into a record that somebody else may hold by then.
    if (!(await steps.close())) return { kind: 'kept' }
    try {
      const answer = await lease.write(intent, { ...(await change()), leaseUntil: undefined })
      if (answer.kind === 'done') {
        report({ type: as, attempt: record.attempt }, record.id)
        return { kind: 'recorded', as }
      }
      if (answer.kind === 'lost') {
        lease.watch.lost()
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

  async function finished(encoded: EncodedOutcome) {
    const expiry = () => expiryAfter(clock.now(), settings.retentionSeconds)
    const outcome = await encoded.persist(lease.giveUpAtMs(), expiry())
    const status: Status = outcome.kind === 'value' ? 'COMPLETED' : 'FAILED'
    return { status, outcome, expiresAt: expiry() }
  }

  const permitted = (wished: Disposition, otherwise?: 'fail' | 'resume') =>
    permittedDisposition(
      wished,
      { attempt: record.attempt, hasSteps: steps.haveBegun, isUnrecorded: steps.isUnrecorded },
      otherwise,
    )

  async function complete(value: unknown): Promise<Ending> {
    if (steps.unknownStep !== undefined) return giveUp('unknown')
    if (steps.open.length > 0) throw new StepNotAwaitedError(steps.open)
    // Where a release is not sure, the value is the answer all the same: it is stored, and nothing runs again.
    if (releaseAsked && permitted('release') !== 'fail') return giveUp('release')
    const encoded = await encodeOutcome(settings, { kind: 'value', value })
    const as = encoded.kind === 'value' ? 'completed' : 'failed'
    return end(as, as === 'completed' ? 'complete' : 'fail', () => finished(encoded))
  }

  async function fail(error: unknown, answer?: () => unknown): Promise<Ending> {
    const encoded = await encodeFailure(settings, error, answer)
    return end('failed', 'fail', () => finished(encoded))
  }

  function keep(): Ending {
    ended = true
    lease.watch.stop()
    return { kind: 'kept' }
  }

  async function giveUp(disposition: Disposition, otherwise: 'fail' | 'resume' = 'fail'): Promise<Ending> {
    // First, so that what the open steps come to counts: one that is done forbids a release.
    if (disposition === 'keep' || !(await steps.close())) return keep()
    switch (permitted(steps.unknownStep === undefined ? disposition : 'unknown', otherwise)) {
      case 'keep':
        return keep()
      case 'unknown':
        return end('unknown', 'unknown', async () => ({
          status: 'UNKNOWN',
          expiresAt: undefined,
          ...(steps.unknownStep !== undefined && { unknownStep: steps.unknownStep }),
        }))
      case 'release':
        return end('released', 'release', async () => ({
          status: 'RELEASED',
          expiresAt: expiryAfter(clock.now(), RELEASED_RETENTION_SECONDS),
        }))
      case 'resume':
        return end('resumable', 'resume', async () => ({ status: 'RETRYABLE', expiresAt: lease.expiry() }))
      case 'fail':
        return fail(new PermanentError('A release was asked for after an earlier attempt that may have had effects.'))
    }
  }

  function wishFor(error: unknown): Disposition {
    const { effects, onError } = settings
    // The work has returned an answer that cannot be kept: no wish may have it run again.
    const isAsked = !isLambdaOnceError(error, 'OUTCOME_UNSTORABLE')
    try {
      const asked = isAsked ? onError?.(error, operation) : undefined
      if (asked !== undefined && DISPOSITIONS.includes(asked)) return asked
    } catch (thrown) {
      report({ type: 'hook-failed', hook: 'onError', error: thrown }, record.id)
    }
    return meaningOfError(error, { contract: request.contract, entered, effects, fromStep: steps.isFromStep(error) })
  }

  const operation = operationView({
    record,
    key: request.key,
    lease: lease.watch,
    step: steps.step,
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
      if (!(await steps.close())) return keep()
      const wish = steps.unknownStep === undefined ? wishFor(error) : 'unknown'
      const disposition = permitted(wish)
      const ending = disposition === 'fail' ? await fail(error, answer) : await giveUp(disposition)
      if (ending.kind === 'unrecorded') noteBeside(error, ending.error)
      return ending
    },
    giveUp,
  })
}

const DISPOSITIONS: readonly string[] = ['release', 'resume', 'fail', 'unknown', 'keep'] satisfies Disposition[]
