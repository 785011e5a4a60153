import { LeaseLostError } from '../base/errors.ts'
import type { HeldRecord, HeldWrite, Lease } from '../lease/lease.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { decodeOutcome, type Outcome } from '../outcome/outcome.ts'
import type { Intent } from '../record/decide.ts'
import { isSameRequest } from '../record/fingerprint.ts'
import type { OperationRecord } from '../record/record.ts'
import type { Steps } from '../steps/steps.ts'
import type { OperationRequest } from './request.ts'

/** What the record says after an end that was written. */
export type RecordedEnding = 'completed' | 'failed' | 'resumable' | 'released' | 'unknown'

/** How the end of an execution was written. */
export type Ending =
  /** The record says so. */
  | { readonly kind: 'recorded'; readonly as: RecordedEnding }
  /** It waits, and will be continued: after that time, or when a signal comes. */
  | { readonly kind: 'suspended'; readonly retryAfterMs?: number }
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

/** What a last word comes to. */
export interface WriteResult {
  /** The ending when it was written. */
  done(): Ending
  /** What to write instead, when it was refused and the record that stands allows another try. */
  revise?(standing: OperationRecord): { readonly intent: Intent; readonly change: Promise<HeldWrite> } | undefined
}

/** The one way out of an execution. */
export interface Exit {
  readonly isOver: boolean
  /** Nothing is written. */
  keep(): Ending
  /**
   * Lets the open steps end, and writes what is to be the last word. Whatever is thrown while that is made or sent is
   * an answer of the store, never the caller's problem to sort out.
   */
  write(intent: Intent, change: () => Promise<HeldWrite>, result: WriteResult): Promise<Ending>
  /** The last word was written by a commit. */
  committed(): void
}

export function createExit(
  {
    settings,
    report,
    request,
  }: { readonly settings: Settings; readonly report: Report; readonly request: OperationRequest },
  record: HeldRecord,
  lease: Lease,
  steps: Steps,
): Exit {
  let isOver = false
  const { attempt, id } = record
  const durationMs = () => settings.clock.now() - record.updatedAtMs

  function leave(): void {
    isOver = true
    lease.watch.stop()
  }

  function keep(): Ending {
    leave()
    return { kind: 'kept' }
  }

  /** The outcome that stands against ours, if this caller may have it. */
  async function standing(other: OperationRecord | undefined): Promise<Ending> {
    if (other?.outcome === undefined || !isSameRequest(other.fingerprint, request.fingerprint)) return { kind: 'lost' }
    try {
      return {
        kind: 'outdone',
        outcome: await decodeOutcome(settings, other.outcome, other),
        attempt: other.attempt,
      }
    } catch (error) {
      report({ type: 'store-error', during: 'replay', error }, id)
      return { kind: 'lost' }
    }
  }

  return {
    get isOver() {
      return isOver
    },
    keep,
    committed: leave,
    async write(intent, change, { done, revise }) {
      if (isOver) throw new LeaseLostError('The operation has ended already.')
      leave()
      // A step that runs on would write into a record that somebody else may hold by then.
      if (!(await steps.close())) return { kind: 'kept' }
      try {
        let answer = await lease.write(intent, await change())
        while (answer.kind === 'lost' && answer.record !== undefined) {
          const revised = revise?.(answer.record)
          if (revised === undefined) break
          answer = await lease.write(revised.intent, await revised.change)
        }
        if (answer.kind === 'done') {
          const ending = done()
          report({ type: ending.kind === 'recorded' ? ending.as : 'suspended', attempt, durationMs: durationMs() }, id)
          return ending
        }
        if (answer.kind === 'lost') {
          lease.watch.lost()
          report({ type: 'lease-lost', attempt, durationMs: durationMs() }, id)
        }
        return await standing(answer.record)
      } catch (error) {
        report({ type: 'store-error', during: intent, error }, id)
        return { kind: 'unrecorded', error }
      }
    },
  }
}
