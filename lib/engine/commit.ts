import { isDeepStrictEqual } from 'node:util'
import {
  CommitConflictError,
  CommittedOtherwiseError,
  InvalidOptionError,
  isLambdaOnceError,
  LeaseLostError,
  StepNotAwaitedError,
  UnknownOutcomeError,
} from '../base/errors.ts'
import { refuseUnknown, show } from '../base/guards.ts'
import type { HeldRecord, Lease } from '../lease/lease.ts'
import type { CommitPlan } from '../operation/commit-plan.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { copyOfValue } from '../outcome/codec.ts'
import { lazily } from '../outcome/lazily.ts'
import type { Outcome } from '../outcome/outcome.ts'
import { untilAnswered } from '../outcome/persist.ts'
import type { OperationRecord } from '../record/record.ts'
import type { CommitAnswer, RecordChange } from '../record/store.ts'
import type { Steps } from '../steps/steps.ts'
import type { Exit } from './ending.ts'

/** Most operations do not commit. */
const committing = /* @__PURE__ */ lazily(() => import('./commit-preparation.ts'))

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
  const { clock, random, newId } = settings
  const { id, token, attempt } = held
  let isUncertain = false
  let outcome: Outcome | undefined

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
      // The caller's own object may be changed by anybody from now on.
      const [kept, { prepareCommit }] = await Promise.all([copyOfValue(value), committing()])
      const { prepared, change } = await prepareCommit(settings, held, lease, kept, plan)
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
        if (!(await isSameValue(value, committed))) throw new CommittedOtherwiseError()
      } else if (!isDeepStrictEqual(value, formOf(committed))) {
        const { addWire } = await committing()
        await addWire(settings, report, held, lease, value)
      }
    },
  }
}

function skippedIn(answer: CommitAnswer): { readonly skippedWrites?: readonly number[] } {
  return answer.kind === 'applied' && answer.skipped.length > 0 ? { skippedWrites: answer.skipped } : {}
}

/** Whether a returned value is none, or would be stored as the committed one was. */
async function isSameValue(returned: unknown, committed: unknown): Promise<boolean> {
  if (returned === undefined || isDeepStrictEqual(returned, committed)) return true
  try {
    return isDeepStrictEqual(await copyOfValue(returned), committed)
  } catch {
    return false
  }
}
