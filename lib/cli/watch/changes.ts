import type { OperationRecord, Status, StepRecord } from '../../record/record.ts'
import type { Happening, HappeningKind } from './happening.ts'

const ENDS: Readonly<Record<Exclude<Status, 'IN_PROGRESS'>, HappeningKind>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  RETRYABLE: 'resumable',
  WAITING: 'suspended',
  UNKNOWN: 'unknown',
  RELEASED: 'released',
}

const STEPS: Readonly<Record<StepRecord['kind'], HappeningKind>> = {
  started: 'step-begun',
  done: 'step-done',
  'result-lost': 'step-lost',
}

/**
 * What must have happened to a record between two readings of it. The table keeps the present: what was undone or
 * overtaken in between is not in it, and only the last write has a time.
 *
 * @param before - absent: it is seen for the first time
 */
export function changesBetween(before: OperationRecord | undefined, after: OperationRecord): readonly Happening[] {
  const { attempt, status, createdAtMs, updatedAtMs, steps, signals = [] } = after
  // A claim over a record that counted as absent has another time of creation: nothing of before is its past.
  const past = before?.createdAtMs === createdAtMs ? before : undefined
  const changes: Happening[] = []
  const add = (kind: HappeningKind, atMs: number, more: Partial<Happening> = {}) =>
    changes.push({ kind, atMs, attempt, ...more })

  if (past === undefined) add('claimed', createdAtMs, { attempt: 1 })
  if (attempt > (past?.attempt ?? 1)) {
    const hadSaidSo = past !== undefined && past.status !== 'IN_PROGRESS'
    add(hadSaidSo ? 'resumed' : 'taken-over', updatedAtMs, { isBy: true })
  }
  for (const [name, step] of Object.entries(steps)) {
    if (past?.steps[name]?.kind === step.kind) continue
    if (step.kind === 'started') add('step-begun', step.startedAtMs, { detail: name })
    else add(STEPS[step.kind], updatedAtMs, { detail: name, isBy: true })
  }
  for (const { atMs } of signals.slice(past?.signals?.length ?? 0)) add('signalled', atMs)
  const isNewEnd = status !== past?.status || attempt !== past.attempt
  if (status !== 'IN_PROGRESS' && isNewEnd) {
    const detail = status === 'UNKNOWN' ? after.unknownStep : status === 'WAITING' ? after.waitingFor : undefined
    add(ENDS[status], updatedAtMs, detail === undefined ? {} : { detail })
  }
  return changes.toSorted((a, b) => a.atMs - b.atMs)
}

/** Whether this is only in the table: the engine has no event for it. */
export function isOnlyInTable({ kind }: Happening): boolean {
  return kind === 'step-begun' || kind === 'step-done' || kind === 'step-lost'
}
