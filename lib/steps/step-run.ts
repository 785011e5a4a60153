import {
  InvalidOptionError,
  isLambdaOnceError,
  OutcomeNotRecordedError,
  OutcomeUnstorableError,
  UnknownOutcomeError,
} from '../base/errors.ts'
import { noteBeside } from '../base/suppressed.ts'
import type { HeldRecord, Lease } from '../lease/lease.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { checkStep, type StepContext, type StepOptions } from '../operation/step-options.ts'
import { encodeOutcome } from '../outcome/outcome.ts'
import { receiptItem } from '../outcome/receipts.ts'
import { decodeStored } from '../outcome/stored.ts'
import { hashOfParts } from '../record/identity.ts'
import type { StepRecord } from '../record/record.ts'
import type { BesideItem } from '../record/store.ts'
import type { ValueName } from '../record/value-codec.ts'
import { attemptStep } from './step-attempt.ts'

/** What is known of the steps of one attempt. Each step that runs adds to it. */
export interface KnownSteps {
  readonly recorded: Record<string, StepRecord>
  /** Used, and not known to have done nothing. */
  readonly tried: Set<string>
  unknownStep: string | undefined
  canProbe: boolean
  isUnrecorded: boolean
}

/** The attempt that a step belongs to. */
export interface Attempt {
  readonly settings: Settings
  readonly report: Report
  readonly lease: Lease
  readonly held: HeldRecord
  readonly known: KnownSteps
}

/** DynamoDB bills a write by the size of the item, and 400 KB is its limit; this many steps leave a record below 60 KB. */
const MAX_STEPS = 40

function contextOf({ held, lease }: Attempt, name: string): StepContext {
  return {
    idempotencyKey: hashOfParts([held.id, held.fingerprint, name]),
    attempt: held.attempt,
    get signal() {
      return lease.watch.signal
    },
  }
}

function valueName({ held }: Attempt, name: string): ValueName {
  return { operationId: held.id, purpose: 'step', name }
}

async function write(
  { lease, known: { recorded } }: Attempt,
  name: string,
  record: StepRecord | undefined,
  beside: readonly BesideItem[] = [],
): Promise<void> {
  await lease.renew({ step: { name, record }, beside })
  if (record === undefined) delete recorded[name]
  else recorded[name] = record
}

/** The end of a step that has had its effect: whatever goes wrong from here, it must not be run again. */
async function record<T>(attempt: Attempt, name: string, value: T, { receipt }: StepOptions<T>): Promise<T> {
  const { settings, lease, known } = attempt
  const encoded = await encodeOutcome(settings, valueName(attempt, name), { kind: 'value', value })
  let lost: OutcomeUnstorableError | undefined
  try {
    const stored = await encoded.persist(lease.lifetime())
    if (stored.kind === 'value') {
      const beside = await receiptOf(attempt, name, value, receipt)
      await write(attempt, name, { kind: 'done', value: stored.value }, beside)
    } else {
      await write(attempt, name, { kind: 'result-lost', failure: stored.failure })
      lost = resultLost(name, stored.failure.message)
    }
  } catch (error) {
    if (isLambdaOnceError(error, 'LEASE_LOST')) throw error
    known.isUnrecorded = true
    throw new OutcomeNotRecordedError(value, error)
  }
  if (lost !== undefined) throw lost
  return value
}

/** The effect has happened: a receipt that cannot be made or stored must not keep the step from being recorded. */
async function receiptOf<T>(
  { settings, report, held, lease }: Attempt,
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
  attempt: Attempt,
  name: string,
  startedAtMs: number,
  options: StepOptions<T>,
): Promise<{ readonly kind: 'done'; readonly value: T } | { readonly kind: 'run' }> {
  const { onUnknown, keyValidSeconds, probe } = options
  const { known } = attempt
  const { clock, clockSkewMs } = attempt.settings
  const keyIsValid = keyValidSeconds === undefined || clock.now() + clockSkewMs < startedAtMs + keyValidSeconds * 1000
  const found = await probe?.(contextOf(attempt, name))
  if (found?.kind === 'done') return { kind: 'done', value: await record(attempt, name, found.value, options) }
  const mayRun = found === undefined ? onUnknown !== 'stop' : found.kind === 'not-done'
  if (mayRun && keyIsValid) return { kind: 'run' }
  known.canProbe ||= probe !== undefined
  known.unknownStep ??= name
  throw new UnknownOutcomeError()
}

/** Runs a step, or answers what an earlier attempt has recorded of it. @throws InvalidOptionError as `checkStep` */
export async function runStep<T>(
  attempt: Attempt,
  name: string,
  work: (step: StepContext) => T | PromiseLike<T>,
  options: StepOptions<T>,
): Promise<T> {
  checkStep(name, work, options)
  const { settings, lease, known } = attempt
  const { clock } = settings
  const before = known.recorded[name]
  if (before?.kind === 'done') return (await decodeStored(settings, before.value, valueName(attempt, name))) as T
  if (before?.kind === 'result-lost') throw resultLost(name, before.failure.message)
  if (before?.kind === 'started') {
    const resolved = await resolve(attempt, name, before.startedAtMs, options)
    if (resolved.kind === 'done') return resolved.value
  } else if (Object.keys(known.recorded).length >= MAX_STEPS) {
    throw new InvalidOptionError(`step("${name}"): an operation has at most ${MAX_STEPS} steps.`)
  }
  const marked = options.onUnknown === 'stop' || options.keyValidSeconds !== undefined
  if (marked && before === undefined) await write(attempt, name, { kind: 'started', startedAtMs: clock.now() })
  // A process that was paused may wake up as one of two: the write asks whether it still is the holder.
  if (lease.isOver()) await lease.renew()
  known.tried.add(name)
  let value: T
  try {
    value = await attemptStep(settings, contextOf(attempt, name), work, options)
  } catch (error) {
    // Only the certainty that nothing happened closes a start mark; a time-out leaves it open. One of an earlier
    // attempt stays: this attempt knows nothing of what that one did, and its time must not move.
    if (before === undefined && isLambdaOnceError(error, 'NO_EFFECT')) await undo(attempt, name, error)
    throw error
  }
  return record(attempt, name, value, options)
}

async function undo(attempt: Attempt, name: string, error: unknown): Promise<void> {
  const { tried, recorded } = attempt.known
  tried.delete(name)
  if (recorded[name] === undefined) return
  try {
    await write(attempt, name, undefined)
  } catch (storeError) {
    noteBeside(error, storeError)
  }
}

function resultLost(name: string, why: string): OutcomeUnstorableError {
  return new OutcomeUnstorableError(
    `The result of step "${name}" could not be stored, so it cannot be used again: ${why}`,
  )
}
