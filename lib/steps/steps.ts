import {
  type ErrorCode,
  InvalidOptionError,
  isLambdaOnceError,
  LeaseLostError,
  OutcomeNotRecordedError,
  OutcomeUnstorableError,
  UnknownOutcomeError,
} from '../base/errors.ts'
import { noteBeside } from '../base/suppressed.ts'
import type { HeldRecord, Lease } from '../lease/lease.ts'
import type { Operation } from '../operation/operation.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { checkStep, type StepContext, type StepOptions } from '../operation/step-options.ts'
import { decodeStored, encodeOutcome } from '../outcome/outcome.ts'
import { receiptItem } from '../outcome/receipts.ts'
import { hashOfParts } from '../record/identity.ts'
import type { StepRecord } from '../record/record.ts'
import type { BesideItem } from '../record/store.ts'
import { attemptStep } from './step-attempt.ts'

/** The steps of one attempt. */
export interface Steps {
  readonly step: Operation['step']
  /** The names of the steps that are running now. */
  readonly open: readonly string[]
  /** The step whose outcome was found to be unknown, in this attempt. */
  readonly unknownStep: string | undefined
  /** Whether the unknown step has a probe: a reconciler may ask again. */
  readonly canProbe: boolean
  /** Whether there is a step that may have left something behind: recorded, or tried in this attempt. */
  readonly haveBegun: boolean
  /** Whether a step had its effect in this attempt, and its result could not be recorded. */
  readonly isUnrecorded: boolean
  /** Whether the error came out of a step whose result is not recorded: running again is safe by the step's own means. */
  isFromStep(error: unknown): boolean
  /**
   * Runs the commit as a step that is open: whatever ends the operation waits for it. No step begins meanwhile, and none
   * afterwards unless it failed and the lease is still held.
   */
  whileCommitting<T>(commit: () => Promise<T>): Promise<T>
  /** Lets no step begin any more, and waits for those that run: `false` when the deadline came first. */
  close(): Promise<boolean>
}

/** DynamoDB bills a write by the size of the item, and 400 KB is its limit; this many steps leave a record below 60 KB. */
const MAX_STEPS = 40

/** Errors of a step that say what became of it, or of its operation: running it again is not what they ask for. */
const FINAL_CODES: readonly ErrorCode[] = [
  'UNKNOWN_OUTCOME',
  'OUTCOME_UNSTORABLE',
  'OUTCOME_NOT_RECORDED',
  'OUTCOME_LOST',
  'INVALID_OPTION',
]

export function createSteps(settings: Settings, report: Report, lease: Lease, held: HeldRecord): Steps {
  const { store, clock } = settings
  const recorded: Record<string, StepRecord> = Object.assign(Object.create(null), held.steps)
  const used = new Set<string>()
  /** Used, and not known to have done nothing. */
  const tried = new Set<string>()
  const open = new Map<string, Promise<unknown>>()
  const fromStep = new WeakSet<object>()
  let primitiveFromStep = false
  let closed = false
  let heldBack = false
  let unknownStep: string | undefined
  let canProbe = false
  let isUnrecorded = false

  const contextOf = (name: string): StepContext => ({
    idempotencyKey: hashOfParts([held.id, held.fingerprint, name]),
    attempt: held.attempt,
    get signal() {
      return lease.watch.signal
    },
  })

  async function write(
    name: string,
    record: StepRecord | undefined,
    beside: readonly BesideItem[] = [],
  ): Promise<void> {
    await lease.renew({ step: { name, record }, beside })
    if (record === undefined) delete recorded[name]
    else recorded[name] = record
  }

  function becomesUnknown(name: string): UnknownOutcomeError {
    unknownStep ??= name
    return new UnknownOutcomeError()
  }

  /** The end of a step that has had its effect: whatever goes wrong from here, it must not be run again. */
  async function record<T>(name: string, value: T, { receipt }: StepOptions<T>): Promise<T> {
    const encoded = await encodeOutcome(settings, { kind: 'value', value })
    let lost: OutcomeUnstorableError | undefined
    try {
      const stored = await encoded.persist(lease.lifetime())
      if (stored.kind === 'value') {
        await write(name, { kind: 'done', value: stored.value }, await receiptOf(name, value, receipt))
      } else {
        await write(name, { kind: 'result-lost', failure: stored.failure })
        lost = resultLost(name, stored.failure.message)
      }
    } catch (error) {
      if (isLambdaOnceError(error, 'LEASE_LOST')) throw error
      isUnrecorded = true
      throw new OutcomeNotRecordedError(value, error)
    }
    if (lost !== undefined) throw lost
    return value
  }

  /** The effect has happened: a receipt that cannot be made or stored must not keep the step from being recorded. */
  async function receiptOf<T>(
    step: string,
    result: T,
    receipt: StepOptions<T>['receipt'],
  ): Promise<readonly BesideItem[]> {
    try {
      const value = receipt?.(result)
      if (value === undefined) return []
      return [await receiptItem(settings, held, { kind: 'destination', value, step }, lease.giveUpAtMs())]
    } catch (error) {
      if (isLambdaOnceError(error, 'STORE')) throw error
      report({ type: 'hook-failed', hook: 'receipt', error }, held.id)
      return []
    }
  }

  /** An earlier attempt began the step. Whether this one may run it again is never guessed. */
  async function resolve<T>(
    name: string,
    startedAtMs: number,
    options: StepOptions<T>,
  ): Promise<{ readonly kind: 'done'; readonly value: T } | { readonly kind: 'run' }> {
    const { onUnknown, keyValidSeconds, probe } = options
    const { clockSkewMs } = settings
    const keyIsValid = keyValidSeconds === undefined || clock.now() + clockSkewMs < startedAtMs + keyValidSeconds * 1000
    const found = await probe?.(contextOf(name))
    if (found?.kind === 'done') return { kind: 'done', value: await record(name, found.value, options) }
    const mayRun = found === undefined ? onUnknown !== 'stop' : found.kind === 'not-done'
    if (mayRun && keyIsValid) return { kind: 'run' }
    canProbe ||= probe !== undefined
    throw becomesUnknown(name)
  }

  async function runStep<T>(
    name: string,
    work: (step: StepContext) => T | PromiseLike<T>,
    options: StepOptions<T>,
  ): Promise<T> {
    const before = recorded[name]
    if (before?.kind === 'done') return (await decodeStored(store, before.value)) as T
    if (before?.kind === 'result-lost') throw resultLost(name, before.failure.message)
    if (before?.kind === 'started') {
      const resolved = await resolve(name, before.startedAtMs, options)
      if (resolved.kind === 'done') return resolved.value
    } else if (Object.keys(recorded).length >= MAX_STEPS) {
      throw new InvalidOptionError(`step("${name}"): an operation has at most ${MAX_STEPS} steps.`)
    }
    const marked = options.onUnknown === 'stop' || options.keyValidSeconds !== undefined
    if (marked && before === undefined) await write(name, { kind: 'started', startedAtMs: clock.now() })
    // A process that was paused may wake up as one of two: the write asks whether it still is the holder.
    if (lease.isOver()) await lease.renew()
    tried.add(name)
    let value: T
    try {
      value = await attemptStep(settings, contextOf(name), work, options)
    } catch (error) {
      // Only the certainty that nothing happened closes a start mark; a time-out leaves it open. One of an earlier
      // attempt stays: this attempt knows nothing of what that one did, and its time must not move.
      if (before === undefined && isLambdaOnceError(error, 'NO_EFFECT')) await undo(name, error)
      throw error
    }
    return record(name, value, options)
  }

  async function undo(name: string, error: unknown): Promise<void> {
    tried.delete(name)
    if (recorded[name] === undefined) return
    try {
      await write(name, undefined)
    } catch (storeError) {
      noteBeside(error, storeError)
    }
  }

  /** Remembers what came out of a step, its own machinery included: nothing was recorded, and a repetition is safe. */
  async function guarded<T>(running: Promise<T>): Promise<T> {
    try {
      return await running
    } catch (error) {
      if (typeof error !== 'object' || error === null) primitiveFromStep = true
      else if (!FINAL_CODES.some((code) => isLambdaOnceError(error, code))) fromStep.add(error)
      throw error
    }
  }

  function step<T>(
    name: string,
    work: (step: StepContext) => T | PromiseLike<T>,
    options: StepOptions<T> = {},
  ): Promise<T> {
    checkStep(name, work, options)
    if (closed || heldBack)
      throw new LeaseLostError(`step("${name}"): the operation has ended; no step can begin any more.`)
    if (used.has(name)) {
      throw new InvalidOptionError(`step("${name}"): the name was used before in this attempt. Give each step its own.`)
    }
    used.add(name)
    const running = guarded(runStep(name, work, options))
    open.set(name, running)
    const settled = () => open.delete(name)
    running.then(settled, settled)
    return running
  }

  return Object.freeze({
    step: async <T>(name: string, work: (step: StepContext) => T | PromiseLike<T>, options?: StepOptions<T>) =>
      step(name, work, options),
    get open() {
      return [...open.keys()]
    },
    get unknownStep() {
      return unknownStep
    },
    get canProbe() {
      return canProbe
    },
    get haveBegun() {
      return tried.size > 0 || Object.keys(recorded).length > 0
    },
    get isUnrecorded() {
      return isUnrecorded
    },
    isFromStep: (error: unknown) =>
      typeof error === 'object' && error !== null ? fromStep.has(error) : primitiveFromStep,
    async whileCommitting<T>(commit: () => Promise<T>): Promise<T> {
      heldBack = true
      const running = commit()
      open.set('commit', running)
      try {
        return await running
      } catch (error) {
        heldBack = isLambdaOnceError(error, 'LEASE_LOST')
        throw error
      } finally {
        open.delete('commit')
      }
    },
    async close() {
      closed = true
      if (open.size === 0) return true
      const settled = new AbortController()
      const all = Promise.allSettled(open.values()).then(() => settled.abort())
      await Promise.race([all, clock.wait(Math.max(0, lease.giveUpAtMs() - clock.now()), settled.signal)])
      return settled.signal.aborted
    },
  })
}

function resultLost(name: string, why: string): OutcomeUnstorableError {
  return new OutcomeUnstorableError(
    `The result of step "${name}" could not be stored, so it cannot be used again: ${why}`,
  )
}
