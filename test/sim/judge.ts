import type { BesideItem, Operation, OperationRecord, StoredFailure, StoredValue } from '../../lib/index.ts'
import type { Plan } from './plan.ts'
import type { Process } from './process.ts'
import type { Actor, TableWatcher } from './table.ts'
import { createTruth, type Invariant, type Truth, type Violation } from './truth.ts'
import type { Unprotected } from './unprotected.ts'
import { checkWrite, isOver } from './write-rules.ts'

/** Watches a schedule, and says which invariant did not hold first. */
export interface Judge extends TableWatcher {
  readonly violation: Violation | undefined
  truthOf(id: string): Truth
  readonly truths: readonly Truth[]
  /** The work of an operation begins. */
  entered(process: Process, operation: Pick<Operation, 'id'>, tag: string): Stay
  /** Something has happened outside. */
  effect(id: string, step: string, kind: 'keyed' | 'once' | 'bare', stay: Stay): void
  /** The work of a step begins; the answer says that it is over. It may outlast the work around it. */
  beganStep(id: string, step: string, stay: Stay): () => void
  /** How often skewed clocks let two executions run at once: beyond the margin that is no violation. */
  readonly overlaps: number
}

/** One execution of a work. */
export interface Stay {
  /** Rises with every execution. */
  readonly number: number
  readonly era: number
  readonly by: string
  readonly process: Process
  /** What was asked for. */
  readonly tag: string
  leave(): void
}

export function createJudge(
  plan: Plan,
  {
    nowMs,
    processOf,
    onOutbox,
    textOf,
    unprotected,
  }: {
    readonly nowMs: () => number
    /** The process that made a token. */
    readonly processOf: (token: string) => Process | undefined
    readonly onOutbox: (id: string, item: BesideItem) => void
    /** A stored value as the text that it was. */
    readonly textOf: (stored: StoredValue) => string
    readonly unprotected: Unprotected
  },
): Judge {
  const truths = new Map<string, Truth>()
  let violation: Violation | undefined
  let overlaps = 0
  let stays = 0

  function truthOf(id: string): Truth {
    const known = truths.get(id) ?? createTruth(id)
    truths.set(id, known)
    return known
  }

  function broken(invariant: Invariant, detail: string): void {
    violation ??= { invariant, detail }
  }

  function beginEra(truth: Truth): void {
    truth.era++
    truth.recorded = new Set()
    truth.silentEnds = 0
    truth.wasSuspended = false
  }

  function countSilentEnd(truth: Truth, before: OperationRecord, after: OperationRecord): void {
    const isSilent = before.status === 'IN_PROGRESS' && before.isReconciled !== true && after.token !== before.token
    if (!isSilent) return
    truth.silentEnds++
    if (plan.maxCrashes !== undefined && truth.silentEnds > plan.maxCrashes && after.status === 'IN_PROGRESS') {
      broken('no more crashes than allowed', `taken over after ${truth.silentEnds}, at most ${plan.maxCrashes}`)
    }
  }

  function noteCompletion(truth: Truth, after: OperationRecord): void {
    const { outcome } = after
    const text = outcome?.kind === 'value' ? textOf(outcome.value) : after.status
    if (outcome?.kind === 'failure') judgeFailure(outcome.coded ? textOf(outcome.coded) : failureText(outcome.failure))
    if (truth.completions.some(({ era }) => era === truth.era)) {
      broken('no two completions of one operation', `${text} after ${truth.completions.at(-1)?.text}`)
    }
    truth.completions.push({ era: truth.era, text })
  }

  /** What is away for a while is no reason for an operation to fail for good. */
  function judgeFailure(text: string): void {
    if (/StoreError|OutcomeUnreadable|OutcomeUnstorable/.test(text)) {
      broken('no operation fails because a service was away', text)
    }
  }

  function comeIn(truth: Truth, process: Process, as: string): () => void {
    truth.inside.set(as, process.name)
    const leave = () => void truth.inside.delete(as)
    process.onGone(leave)
    return leave
  }

  return {
    get violation() {
      return violation
    },
    get overlaps() {
      return overlaps
    },
    get truths() {
      return [...truths.values()]
    },
    truthOf,
    broken,
    outboxed: onOutbox,

    wrote(id: string, before, after, actor: Actor) {
      if (after === undefined || (before?.rev === after.rev && before.token === after.token)) return
      const truth = truthOf(id)
      const holder = processOf((before ?? truth.last)?.token ?? '')
      const holderNowMs = nowMs() + (holder?.skewMs ?? 0)
      checkWrite(plan, truth, { before, after, actor, nowMs: nowMs(), holderNowMs }, broken)
      const isClaim = after.status === 'IN_PROGRESS' && after.token !== before?.token
      const isAnew = before === undefined ? truth.isDeleted : isOver(before, nowMs() + actor.process.skewMs)
      if (isClaim && isAnew) beginEra(truth)
      if (isClaim) {
        truth.fence = [after.createdAtMs, after.attempt]
        truth.leaseUntil = 0
      }
      truth.leaseUntil = Math.max(truth.leaseUntil, after.leaseUntil ?? 0)
      if (before !== undefined && !isAnew) countSilentEnd(truth, before, after)
      if (after.status === 'WAITING') truth.wasSuspended = true
      for (const [name, step] of Object.entries(after.steps)) if (step.kind === 'done') truth.recorded.add(name)
      const isFinished = after.status === 'COMPLETED' || after.status === 'FAILED'
      const wasFinished = before?.status === 'COMPLETED' || before?.status === 'FAILED'
      if (isFinished && (!wasFinished || before?.token !== after.token)) noteCompletion(truth, after)
      truth.last = after
      truth.isDeleted = false
    },

    committing(id, { process }) {
      const truth = truthOf(id)
      if (truth.commits.some(({ era }) => era === truth.era)) {
        broken('committed writes are there exactly once', `again by ${process.name}`)
      }
      truth.commits.push({ era: truth.era, by: process.name })
      truth.effects.push({ era: truth.era, by: process.name, step: 'commit', isUnprotected: false })
    },

    deleted(record) {
      truthOf(record.id).isDeleted = true
    },

    entered(process, operation, tag) {
      const truth = truthOf(operation.id)
      if (unprotected.has(process, operation.id)) {
        if (unprotected.knowsBegun(process, operation.id)) {
          broken('what has begun is not run without a claim', process.name)
        }
        return { number: ++stays, era: truth.era, by: process.name, process, tag, leave: () => undefined }
      }
      const record = truth.isDeleted ? undefined : truth.last
      const isMine = record?.status === 'IN_PROGRESS' && processOf(record.token) === process
      if (!isMine) {
        if (plan.skew === 'beyond') overlaps++
        else
          broken(
            'nobody runs without a claim',
            `${process.name} enters; the record is ${record?.status} of ${record?.token}`,
          )
      }
      const others = [...truth.inside.values()]
      if (others.length > 0) {
        if (plan.skew === 'beyond') overlaps++
        else if (plan.lease === 'deadline') {
          broken('no two executions at once', `${process.name} enters beside ${others[0]}`)
        }
      }
      const number = ++stays
      return { number, era: truth.era, by: process.name, process, tag, leave: comeIn(truth, process, String(number)) }
    },

    beganStep(id, step, { by, era, number, process }) {
      const truth = truthOf(id)
      if (unprotected.has(process, id)) return () => undefined
      const holder = truth.last === undefined ? undefined : processOf(truth.last.token)
      // One that has lost its lease cannot know what was recorded since.
      if (holder?.name === by && truth.era === era && truth.recorded.has(step)) {
        broken('a recorded step never runs again', `${step} by ${by}`)
      }
      return comeIn(truth, process, `${number} ${step}`)
    },

    effect(id, step, kind, { era, by, tag, process }) {
      const truth = truthOf(id)
      const isUnprotected = unprotected.has(process, id)
      // Another request under the key is refused, unless nobody could be asked: then it is another operation.
      const isSame = (one: (typeof truth.effects)[number]) =>
        one.step === step && one.era === era && (one.tag === tag || !(isUnprotected || one.isUnprotected))
      if (kind !== 'bare' && truth.effects.some(isSame)) {
        const invariant =
          kind === 'keyed' ? 'a keyed step has one effect at the provider' : 'an at-most-once step never runs twice'
        broken(invariant, `${step} again by ${by}`)
      }
      truth.effects.push({ step, era, by, tag, isUnprotected })
    },
  }
}

function failureText({ name, code, message }: StoredFailure): string {
  return `${name} ${code ?? ''} ${message}`
}
