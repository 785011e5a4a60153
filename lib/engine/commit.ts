import { isDeepStrictEqual } from 'node:util'
import {
  CommitConflictError,
  CommittedOtherwiseError,
  InvalidOptionError,
  isLambdaOnceError,
  LeaseLostError,
  OutcomeUnstorableError,
  StepNotAwaitedError,
  UnknownOutcomeError,
} from '../base/errors.ts'
import { refuseUnknown, show } from '../base/guards.ts'
import type { HeldRecord, Lease } from '../lease/lease.ts'
import type { CommitPlan } from '../operation/commit-plan.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { outboxItem } from '../outbox/item.ts'
import { readyMessages } from '../outbox/message.ts'
import { copyOfValue } from '../outcome/codec.ts'
import { encodeOutcome, type Outcome, storeValue } from '../outcome/outcome.ts'
import { untilAnswered } from '../outcome/persist.ts'
import { receiptItem } from '../outcome/receipts.ts'
import { dueFrom } from '../record/due.ts'
import { expiryAfter } from '../record/expiry.ts'
import type { OperationRecord } from '../record/record.ts'
import type { BesideItem, CommitAnswer, RecordChange } from '../record/store.ts'
import type { Steps } from '../steps/steps.ts'
import type { Exit } from './ending.ts'

/** The committing of one attempt. */
export interface Committing {
  commit<T>(value: T, plan?: CommitPlan): Promise<T>
  /** The committed outcome; `undefined` while nothing is committed. */
  readonly outcome: Outcome | undefined
  /** Whether a commit may have been written, and nobody knows. */
  readonly isUncertain: boolean
  /**
   * The work has returned. Its value has to be the committed one, or none; with `formOf` it is the final form of an
   * answer, and stored beside the committed value where that has another one.
   * @throws CommittedOtherwiseError
   */
  finish(value: unknown, formOf: ((committed: unknown) => unknown) | undefined): Promise<void>
}

export function createCommitting(
  settings: Settings,
  report: Report,
  held: HeldRecord,
  { lease, steps, exit }: { readonly lease: Lease; readonly steps: Steps; readonly exit: Exit },
): Committing {
  const { store, clock, random, newId, retentionSeconds } = settings
  const { id, token, attempt } = held
  let isUncertain = false
  let outcome: Outcome | undefined

  /** Everything is checked before anything is sent, and built once: every try sends the same. */
  async function prepare(given: unknown, plan: CommitPlan) {
    // The caller's own object may be changed by anybody from now on.
    const value = copyOfValue(given)
    const { writes = [], messages = [] } = plan
    if (!Array.isArray(messages)) {
      throw new InvalidOptionError(`commit(value, { messages }): messages must be an array; got ${show(messages)}.`)
    }
    const ready = readyMessages({ id, token }, messages)
    if (ready.length > 0 && !settings.relay) {
      throw new InvalidOptionError(
        'commit(value, { messages }) needs an outbox relay, or the messages would lie there for ever. Deploy one, and say relay: true to createIdempotency.',
      )
    }
    const encoded = await encodeOutcome(settings, { kind: 'value', value })
    if (encoded.kind === 'failure') throw new OutcomeUnstorableError(encoded.failure.message)
    const lifetime = lease.lifetime()
    const beside: BesideItem[] = []
    if (plan.receipt !== undefined) {
      const receipt = { kind: 'confirmed', value: plan.receipt } as const
      beside.push(await receiptItem(settings, held, receipt, lifetime.giveUpAtMs))
    }
    for (const [position, { delaySeconds, ...message }] of ready.entries()) {
      const notBeforeMs = delaySeconds > 0 ? clock.now() + delaySeconds * 1000 : undefined
      const timed = { ...message, position, ...(notBeforeMs !== undefined && { notBeforeMs }) }
      beside.push(await outboxItem(settings, held, timed, lifetime))
    }
    const prepared = store.prepare(id, writes, beside)
    const expiresAt = expiryAfter(clock.now(), retentionSeconds)
    const change: RecordChange = {
      status: 'COMPLETED',
      leaseUntil: undefined,
      expiresAt,
      updatedAtMs: clock.now(),
      outcome: await encoded.persist({ giveUpAtMs: lifetime.giveUpAtMs, expiresAt }),
      commitId: newId(),
      ...dueFrom(settings, id, undefined),
    }
    return { value, prepared, change }
  }

  async function commit<T>(value: T, plan: CommitPlan = {}): Promise<T> {
    if (typeof plan !== 'object' || plan === null) {
      throw new InvalidOptionError(`commit(value, plan): plan must be an object; got ${show(plan)}.`)
    }
    refuseUnknown('commit(value, plan)', plan, ['writes', 'messages', 'receipt'])
    if (exit.isOver || outcome !== undefined)
      throw new LeaseLostError('The operation has ended; it cannot be committed.')
    if (steps.unknownStep !== undefined) throw new UnknownOutcomeError()
    if (steps.open.length > 0) throw new StepNotAwaitedError(steps.open)
    return steps.whileCommitting(async () => {
      const { value: kept, prepared, change } = await prepare(value, plan)
      const requestToken = newId()
      const answer = await untilAnswered(
        () => prepared.commit(change, { kind: 'held', token }, requestToken).catch(noteUncertainty),
        { clock, random, giveUpAtMs: lease.giveUpAtMs() },
      )
      // After a conflict an earlier try that was never answered may still arrive, and be written.
      if (answer.kind !== 'conflict') isUncertain = false
      if (!isCommitted(answer, change)) throw refusalOf(answer)
      outcome = { kind: 'value', value: kept, isCommitted: true }
      exit.committed()
      report({ type: 'completed', attempt, durationMs: clock.now() - held.updatedAtMs, ...skippedIn(answer) }, id)
      return value
    })
  }

  function noteUncertainty(error: unknown): never {
    isUncertain ||= !isLambdaOnceError(error) || error.retryable
    throw error
  }

  function isCommitted(answer: CommitAnswer, { commitId }: RecordChange): boolean {
    if (answer.kind !== 'refused') return answer.kind === 'applied'
    const existing: OperationRecord | undefined = answer.existing
    return existing?.token === token && existing.status === 'COMPLETED' && existing.commitId === commitId
  }

  function refusalOf(answer: CommitAnswer): Error {
    if (answer.kind === 'conflict') {
      const [first] = answer.conflicts
      if (first !== undefined) return new CommitConflictError(first)
    }
    lease.watch.lost()
    return new LeaseLostError()
  }

  return {
    commit,
    get outcome() {
      return outcome
    },
    get isUncertain() {
      return isUncertain
    },
    async finish(value, formOf) {
      const committed = outcome?.value
      if (formOf === undefined) {
        if (!isSameValue(value, committed)) throw new CommittedOtherwiseError()
      } else if (!isDeepStrictEqual(value, formOf(committed))) {
        await addWire(value)
      }
    },
  }

  async function addWire(value: unknown): Promise<void> {
    const expiresAt = expiryAfter(clock.now(), retentionSeconds)
    const lifetime = { giveUpAtMs: lease.giveUpAtMs(), expiresAt }
    try {
      const wire = await storeValue(settings, value, lifetime)
      const change = { status: 'COMPLETED', leaseUntil: undefined, expiresAt, updatedAtMs: clock.now(), wire } as const
      await untilAnswered(() => store.update(id, change, { kind: 'committed', token }), { clock, random, ...lifetime })
    } catch (error) {
      // The committed value is there all the same, and a replay makes its response of that.
      report({ type: 'store-error', during: 'complete', error }, id)
    }
  }
}

function skippedIn(answer: CommitAnswer): { readonly skippedWrites?: readonly number[] } {
  return answer.kind === 'applied' && answer.skipped.length > 0 ? { skippedWrites: answer.skipped } : {}
}

/** Whether a returned value is none, or would be stored as the committed one was. */
function isSameValue(returned: unknown, committed: unknown): boolean {
  if (returned === undefined || isDeepStrictEqual(returned, committed)) return true
  try {
    return isDeepStrictEqual(copyOfValue(returned), committed)
  } catch {
    return false
  }
}
