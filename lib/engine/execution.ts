import { isLambdaOnceError, LeaseLostError, PermanentError, StepNotAwaitedError } from '../base/errors.ts'
import { refusePromise, secondsOption } from '../base/guards.ts'
import { noteBeside } from '../base/suppressed.ts'
import { type HeldRecord, type HeldWrite, holdLease } from '../lease/lease.ts'
import type { Operation } from '../operation/operation.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { type DelayUntil, delayUntil, isSuspension, type Suspension, waitForSignal } from '../operation/suspension.ts'
import { lazily } from '../outcome/lazily.ts'
import { type EncodedOutcome, encodeFailure, encodeOutcome } from '../outcome/outcome.ts'
import { decodeStored } from '../outcome/stored.ts'
import type { Intent } from '../record/decide.ts'
import { type Disposition, meaningOfError, permittedDisposition } from '../record/disposition.ts'
import { expiryAfter, TOMBSTONE_SECONDS } from '../record/expiry.ts'
import { createSteps } from '../steps/steps.ts'
import { createCommitting } from './commit.ts'
import { createExit, type Ending, type RecordedEnding } from './ending.ts'
import { operationView } from './operation-view.ts'
import { checkContinued, type Redrive, storeRedrive } from './redrive.ts'
import type { OperationRequest } from './request.ts'

const suspending = /* @__PURE__ */ lazily(() => import('./suspend.ts'))

/** The right to run, won by a claim, and the duty to end it with exactly one of the methods that answer an {@link Ending}. */
export interface Execution {
  readonly operation: Operation
  readonly attempt: number
  /** Writes the request into the record, so that it can be delivered again. Without it the operation runs all the same. */
  keepRequest(redrive: Redrive): Promise<void>
  /** The work is about to be called: from now on an error may follow an effect. */
  entered(): void
  /** Calls the work, where whoever follows the operation wants it to run. */
  within<T>(work: () => T | PromiseLike<T>): Promise<T>
  /**
   * Stores the value. One that cannot be stored ends the operation as failed, never as run-again.
   * After a commit the value has to be the committed one, or none; with `formOf` it is the final form of an answer, and
   * stored beside the committed value where that has another one.
   * @throws StepNotAwaitedError when a step still runs: nothing has ended, and the error is to be rejected with
   * @throws CommittedOtherwiseError when another value was committed
   */
  complete(value: unknown, formOf?: (committed: unknown) => unknown): Promise<Ending>
  /** The value that the work has committed; `undefined` when it has not. */
  readonly committed: { readonly value: unknown } | undefined
  /** Ends the operation after an error. `answer` is the final wire response that a stored failure replays. */
  reject(error: unknown, answer?: () => unknown): Promise<Ending>
  /** Ends the operation without an outcome. Where `release` is not sure, `otherwise` says what becomes of it. */
  giveUp(disposition: Disposition, otherwise?: 'fail' | 'resume'): Promise<Ending>
}

export function createExecution(
  settings: Settings,
  report: Report,
  request: OperationRequest,
  record: HeldRecord,
): Execution {
  const { clock } = settings
  const lease = holdLease(settings, record, request.deadlineMs)
  const steps = createSteps(settings, report, lease, record)
  const exit = createExit({ settings, report, request }, record, lease, steps)
  const committing = createCommitting(settings, report, record, { lease, steps, exit })
  const firstLeaseMs = record.leaseUntil - record.updatedAtMs
  /** Failures of the store in what the operation itself offers; others are the work's own business. */
  const ownStoreErrors = new WeakSet<object>()
  /** What the record says of how to deliver the request again. */
  let redriven = record.redrive
  let entered = false
  let releaseAsked = false

  async function noting<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      if (isLambdaOnceError(error, 'STORE') || isLambdaOnceError(error, 'OUTCOME_UNREADABLE')) ownStoreErrors.add(error)
      throw error
    }
  }

  async function extend(seconds?: number): Promise<void> {
    const asked = secondsOption('extend(seconds)', seconds, 0.001)
    if (exit.isOver) throw new LeaseLostError('The operation has ended; its lease cannot be extended.')
    await lease.renew({}, asked === undefined ? clock.now() + firstLeaseMs : Math.ceil(clock.now() + asked * 1000))
  }

  const end = (as: RecordedEnding, intent: Intent, change: () => Promise<HeldWrite>): Promise<Ending> =>
    exit.write(intent, change, { done: () => ({ kind: 'recorded', as }) })

  const outcomeName = { operationId: record.id, purpose: 'outcome' } as const

  function finish(encoded: EncodedOutcome): Promise<Ending> {
    const expiry = () => expiryAfter(clock.now(), settings.retentionSeconds)
    let as: RecordedEnding = 'failed'
    async function change(): Promise<HeldWrite> {
      const outcome = await encoded.persist({ giveUpAtMs: lease.giveUpAtMs(), expiresAt: expiry() })
      // A value may turn out to be too large only when it is written.
      if (outcome.kind === 'value') as = 'completed'
      return { status: as === 'completed' ? 'COMPLETED' : 'FAILED', outcome, expiresAt: expiry() }
    }
    const intent = encoded.kind === 'value' ? 'complete' : 'fail'
    return exit.write(intent, change, { done: () => ({ kind: 'recorded', as }) })
  }

  const permitted = (wished: Disposition, otherwise?: 'fail' | 'resume') =>
    permittedDisposition(
      wished,
      {
        attempt: record.attempt,
        hasSteps: steps.haveBegun || committing.isUncertain,
        isUnrecorded: steps.isUnrecorded,
      },
      otherwise,
    )

  /** After a commit its value is the answer, whatever comes. */
  function outdoneByCommit(): Ending | undefined {
    const { outcome } = committing
    return outcome && { kind: 'outdone', outcome, attempt: record.attempt }
  }

  async function complete(value: unknown, formOf?: (committed: unknown) => unknown): Promise<Ending> {
    if (committing.outcome !== undefined) {
      await committing.finish(value, formOf)
      return { kind: 'recorded', as: 'completed' }
    }
    if (steps.unknownStep !== undefined) return giveUp('unknown')
    if (steps.open.length > 0) throw new StepNotAwaitedError(steps.open)
    // From here on no step can begin that nobody waits for.
    if (!(await steps.close())) return exit.keep()
    if (isSuspension(value)) {
      const { suspend } = await noting(suspending())
      return suspend(
        settings,
        { ...record, ...(redriven && { redrive: redriven }) },
        { lease, exit },
        value,
        request.redrive,
      )
    }
    // Where a release is not sure, the value is the answer all the same: it is stored, and nothing runs again.
    if (releaseAsked && permitted('release') !== 'fail') return giveUp('release')
    return finish(await encodeOutcome(settings, outcomeName, { kind: 'value', value }))
  }

  async function fail(error: unknown, answer?: () => unknown): Promise<Ending> {
    return finish(await encodeFailure(settings, outcomeName, error, answer))
  }

  async function giveUp(disposition: Disposition, otherwise: 'fail' | 'resume' = 'fail'): Promise<Ending> {
    if (committing.outcome === undefined) {
      // First, so that what the open steps come to counts: one that is done forbids a release.
      if (disposition === 'keep' || !(await steps.close())) return exit.keep()
    }
    const committed = outdoneByCommit()
    if (committed !== undefined) return committed
    switch (permitted(steps.unknownStep === undefined ? disposition : 'unknown', otherwise)) {
      case 'keep':
        return exit.keep()
      case 'unknown': {
        const { unknownStep, canProbe } = steps
        return end('unknown', 'unknown', async () => ({
          status: 'UNKNOWN',
          expiresAt: undefined,
          ...(unknownStep !== undefined && { unknownStep }),
          canProbe: canProbe || undefined,
        }))
      }
      case 'release':
        return release()
      case 'resume':
        return end('resumable', 'resume', resumable)
      case 'fail':
        return fail(new PermanentError('A release was asked for after an earlier attempt that may have had effects.'))
    }
  }

  const resumable = async (): Promise<HeldWrite> => ({ status: 'RETRYABLE', expiresAt: lease.expiry() })

  /** Forgets the claim. Whoever has sent a signal was told that it is kept: then it is left to be resumed. */
  function release(): Promise<Ending> {
    let as: RecordedEnding = 'released'
    const change = async (): Promise<HeldWrite> => ({
      status: 'RELEASED',
      expiresAt: expiryAfter(clock.now(), TOMBSTONE_SECONDS),
      knownSignals: 0,
    })
    return exit.write('release', change, {
      done: () => ({ kind: 'recorded', as }),
      revise({ token, status, signals = [] }) {
        if (token !== record.token || status !== 'IN_PROGRESS' || signals.length === 0) return undefined
        as = 'resumable'
        return { intent: 'resume', change: resumable() }
      },
    })
  }

  function wishFor(error: unknown): Disposition {
    const { effects, onError } = settings
    // The work has returned an answer that cannot be kept: no wish may have it run again.
    const isAsked = !isLambdaOnceError(error, 'OUTCOME_UNSTORABLE')
    try {
      const asked = isAsked ? onError?.(error, operation) : undefined
      refusePromise('onError', [asked])
      if (asked !== undefined && DISPOSITIONS.includes(asked)) return asked
    } catch (thrown) {
      report({ type: 'hook-failed', hook: 'onError', error: thrown }, record.id)
    }
    // Where nobody knows whether a commit was written, giving the lease up finds out, and keeps one that is still on
    // its way from being applied. Elsewhere the store has failed before anything was written. Either way the next
    // attempt may go on.
    if (typeof error === 'object' && error !== null && ownStoreErrors.has(error)) return 'resume'
    return meaningOfError(error, { contract: request.contract, entered, effects, fromStep: steps.isFromStep(error) })
  }

  async function reject(error: unknown, answer?: () => unknown): Promise<Ending> {
    if (!(await steps.close())) return exit.keep()
    const committed = outdoneByCommit()
    if (committed !== undefined) {
      // The work broke its word; whoever wrote it has to be told.
      return isLambdaOnceError(error, 'COMMITTED_OTHERWISE') ? { kind: 'recorded', as: 'completed' } : committed
    }
    const wish = steps.unknownStep === undefined ? wishFor(error) : 'unknown'
    const disposition = permitted(wish)
    const ending = disposition === 'fail' ? await fail(error, answer) : await giveUp(disposition)
    if (ending.kind === 'unrecorded') noteBeside(error, ending.error)
    return ending
  }

  function suspension(made: Suspension): Suspension {
    checkContinued(settings, request, made.resumeAtMs !== undefined)
    return made
  }

  const operation = operationView({
    record,
    key: request.key,
    lease: lease.watch,
    step: steps.step,
    extend: (seconds) => noting(extend(seconds)),
    release: () => {
      releaseAsked = true
    },
    commit: (value, plan) => noting(committing.commit(value, plan)),
    delay: (when: DelayUntil, why?: string) => suspension(delayUntil(when, why, clock.now())),
    wait: (why?: string) => suspension(waitForSignal(why)),
    signals: () =>
      noting(
        Promise.all(
          (record.signals ?? []).map(({ id: name, payload }) =>
            decodeStored(settings, payload, { operationId: record.id, purpose: 'signal', name }),
          ),
        ),
      ),
  })

  return Object.freeze({
    operation,
    attempt: record.attempt,
    async keepRequest(redrive: Redrive) {
      try {
        const stored = await storeRedrive(settings, record.id, redrive, lease.lifetime())
        await lease.renew({ redrive: stored })
        redriven = stored
      } catch (error) {
        report({ type: 'store-error', during: 'claim', error }, record.id)
      }
    },
    entered() {
      entered = true
    },
    within: async <T>(work: () => T | PromiseLike<T>): Promise<T> => work(),
    complete,
    get committed() {
      const { outcome } = committing
      return outcome?.kind === 'value' ? { value: outcome.value } : undefined
    },
    reject,
    giveUp,
  })
}

const DISPOSITIONS: readonly string[] = ['release', 'resume', 'fail', 'unknown', 'keep'] satisfies Disposition[]
