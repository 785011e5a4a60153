import { isDeepStrictEqual } from 'node:util'
import type { OperationRecord } from '../../lib/index.ts'
import type { Plan } from './plan.ts'
import type { Actor } from './table.ts'
import type { Invariant, Truth } from './truth.ts'

/** One write that was applied, as the table saw it. */
export interface SeenWrite {
  readonly before: OperationRecord | undefined
  readonly after: OperationRecord
  readonly actor: Actor
  /** The true time, and the clocks of whoever wrote and of whoever held the lease. */
  readonly nowMs: number
  readonly holderNowMs: number
}

type Broken = (invariant: Invariant, detail: string) => void

export const isFinished = (record: OperationRecord | undefined): boolean =>
  record?.status === 'COMPLETED' || record?.status === 'FAILED'

/** Whether the record protects nothing any more, by the clock of whoever looks. Written down again, not taken from lib. */
export function isOver(record: OperationRecord, nowMs: number): boolean {
  if (record.status === 'RELEASED') return true
  const isExpired = record.expiresAt !== undefined && record.expiresAt <= Math.floor(nowMs / 1000)
  if (record.status === 'UNKNOWN' || !isExpired) return false
  return isFinished(record) || Object.keys(record.steps).length === 0
}

/** What every single write must keep to, whoever wrote it and whatever it was meant to do. */
export function checkWrite(plan: Plan, truth: Truth, write: SeenWrite, broken: Broken): void {
  const { before, after, actor } = write
  const writerNowMs = write.nowMs + actor.process.skewMs
  const isClaim = after.status === 'IN_PROGRESS' && after.token !== before?.token
  const isNew = before === undefined || isOver(before, writerNowMs)
  if (before !== undefined && !isNew) checkChange(write, broken)
  // Of a record that was deleted the last state counts as well: nobody may begin under a running lease.
  const held = before ?? truth.last
  if (isClaim && held?.status === 'IN_PROGRESS') checkLease(plan, truth.leaseUntil, write, broken)
  if (isClaim && before !== undefined && !isNew) checkTakeover(before, write, writerNowMs, broken)
  if (isClaim) {
    const fence = [after.createdAtMs, after.attempt] as const
    const isHigher = fence[0] > truth.fence[0] || (fence[0] === truth.fence[0] && fence[1] > truth.fence[1])
    // Of a record that TTL has deleted nothing is left that a later claim could be measured by.
    if (!isHigher && plan.skew === 'within' && !truth.isDeleted) {
      broken('fences rise with every claim', `${fence} after ${truth.fence}`)
    }
  }
  if (after.status === 'RELEASED' && before?.status !== 'RELEASED') {
    const done = truth.effects.find(({ era, step }) => era === truth.era && step !== 'bare')
    if (done !== undefined) {
      broken('an operation that had an effect is never released', `${done.step} by ${done.by}`)
    }
  }
}

function checkChange({ before, after, actor }: SeenWrite, broken: Broken): void {
  if (before === undefined) return
  if (after.fingerprint !== before.fingerprint) {
    broken('another request never takes a record', `${before.fingerprint} to ${after.fingerprint}`)
  }
  if (isFinished(before)) {
    const kept = ['status', 'outcome', 'commitId', 'token', 'attempt'] as const
    const changed = kept.find((name) => !isDeepStrictEqual(before[name], after[name]))
    if (changed !== undefined) {
      broken('a stored outcome never changes', `${changed} of ${before.status} by ${actor.process.name}`)
    }
  }
  const { role } = actor
  if (before.status === 'UNKNOWN' && after.status !== 'UNKNOWN') {
    const isAllowed = role === 'operator' || (role === 'reconciler' && before.canProbe === true)
    if (!isAllowed)
      broken('an unknown operation is left only by a probe or an operator', `to ${after.status} by ${role}`)
  }
  if (
    before.takeover === 'never' &&
    before.status === 'IN_PROGRESS' &&
    after.token !== before.token &&
    role !== 'operator'
  ) {
    broken("takeover: 'never' is ended only by its holder or an operator", `by ${actor.process.name}`)
  }
  for (const [name, step] of Object.entries(before.steps)) {
    const now = after.steps[name]
    const isLost = step.kind !== 'started' && !isDeepStrictEqual(now, step)
    const isMoved = step.kind === 'started' && now?.kind === 'started' && now.startedAtMs !== step.startedAtMs
    const isUndone = step.kind === 'started' && now === undefined && after.token !== before.token && role !== 'operator'
    if (isLost || isMoved || isUndone) {
      broken('recorded steps survive, and start marks never move', `${name}: ${step.kind} by ${actor.process.name}`)
    }
  }
  if (after.rev !== before.rev + 1) broken('rev rises by one with every write', `${before.rev} to ${after.rev}`)
}

/** A lease is over for others only when it is over by the clock of whoever holds it. */
function checkLease(plan: Plan, leaseUntil: number, { actor, holderNowMs }: SeenWrite, broken: Broken): void {
  if (plan.skew === 'beyond' || holderNowMs >= leaseUntil) return
  broken('a running lease is left alone', `${actor.process.name} took it with ${leaseUntil - holderNowMs} ms left`)
}

function checkTakeover(before: OperationRecord, { after }: SeenWrite, writerNowMs: number, broken: Broken): void {
  if (after.attempt !== before.attempt + 1) {
    broken('fences rise with every claim', `attempt ${before.attempt} to ${after.attempt}`)
  }
  const isDue = before.resumeAtMs !== undefined && before.resumeAtMs <= writerNowMs
  if (before.status === 'WAITING' && !isDue) {
    broken('a waiting operation is resumed only when it is due', `due at ${before.resumeAtMs}`)
  }
}
