import { countsAsAbsent, decide, type ModelDecision, type ModelRecord } from './protocol.ts'

export const LEASE_MS = 10_000
export const RETENTION_MS = 60_000
export const UNFINISHED_MS = 120_000
const TOMBSTONE_MS = 86_400_000

/** What the model knows of a claim that was won. */
export interface ModelHold {
  readonly token: string
  readonly fingerprint: string
  readonly attempt: number
  /** Signals that had come when it was won. */
  readonly signals: number
  readonly used: Set<string>
  /** A step was found begun and not ended. */
  isUnknown: boolean
  /** The end of its lease, as it knows it. */
  leaseUntil: number
  /** A step was tried in this attempt. */
  hasTried: boolean
}

/** How an end is answered. */
export type ModelEnding =
  | 'completed'
  | 'failed'
  | 'resumable'
  | 'released'
  | 'unknown'
  | 'suspended'
  | 'outdone'
  | 'lost'

/** The model of one operation: the record, and the time. Its methods answer what the engine must answer. */
export interface Mirror {
  nowMs: number
  record: ModelRecord | undefined
  claim(fingerprint: string): { decision: ModelDecision | 'new'; hold?: ModelHold }
  isHeld(hold: ModelHold): boolean
  renew(hold: ModelHold, untilMs?: number): void
  end(
    hold: ModelHold,
    as: 'complete' | 'fail' | 'resume' | 'release' | 'unknown' | 'delay' | 'wait',
    delayMs?: number,
  ): ModelEnding
  step(hold: ModelHold, name: string, isStop: boolean, isLeftOpen: boolean): string
  signal(): string
  settle(as: 'value' | 'rerun'): string
}

export function createMirror(startMs: number): Mirror {
  let tokens = 0
  const never = Number.POSITIVE_INFINITY

  const change = (fields: Partial<ModelRecord>) => {
    if (mirror.record !== undefined) mirror.record = { ...mirror.record, ...fields, rev: mirror.record.rev + 1 }
  }

  const mirror: Mirror = {
    nowMs: startMs,
    record: undefined,

    claim(fingerprint) {
      const { nowMs, record } = mirror
      const token = `model-${++tokens}`
      const lease = {
        leaseUntil: nowMs + LEASE_MS,
        expiresAt: Math.max(nowMs + UNFINISHED_MS, nowMs + LEASE_MS + 1_000),
      }
      const isAbsent = record === undefined || countsAsAbsent(record, nowMs)
      const decision = isAbsent ? 'new' : decide(record, { token, fingerprint }, nowMs)
      if (decision === 'new') {
        mirror.record = {
          ...lease,
          status: 'IN_PROGRESS',
          token,
          rev: 1,
          attempt: 1,
          fingerprint,
          resumeAt: never,
          takeover: 'auto',
          steps: {},
          signals: 0,
        }
      } else if (decision === 'takeover') {
        change({ ...lease, status: 'IN_PROGRESS', token, attempt: (record?.attempt ?? 0) + 1, resumeAt: never })
      } else {
        return { decision }
      }
      const { attempt = 0, signals = 0, fingerprint: own = '' } = mirror.record ?? {}
      return {
        decision,
        hold: {
          token,
          fingerprint: own,
          attempt,
          signals,
          leaseUntil: mirror.record?.leaseUntil ?? 0,
          used: new Set(),
          isUnknown: false,
          hasTried: false,
        },
      }
    },

    isHeld: ({ token }) => mirror.record?.token === token && mirror.record.status === 'IN_PROGRESS',

    renew(hold, untilMs = 0) {
      const { nowMs, record } = mirror
      const leaseUntil = Math.max(record?.leaseUntil ?? 0, nowMs + LEASE_MS, untilMs)
      hold.leaseUntil = leaseUntil
      change({ leaseUntil, expiresAt: Math.max(nowMs + UNFINISHED_MS, leaseUntil + 1_000) })
    },

    end(hold, as, delayMs = 0) {
      const { nowMs, record } = mirror
      const hasSteps = hold.hasTried || Object.keys(record?.steps ?? {}).length > 0
      const isKept = hold.attempt > 1 || hasSteps || (record?.signals ?? 0) > 0
      const asked = as === 'release' && isKept ? 'resume' : as
      const wished = hold.isUnknown ? 'unknown' : asked
      if (!mirror.isHeld(hold)) {
        if (record === undefined && wished === 'release') return 'released'
        return record?.outcome !== undefined && record.fingerprint === hold.fingerprint ? 'outdone' : 'lost'
      }
      const unfinished = nowMs + UNFINISHED_MS
      switch (wished) {
        case 'complete':
          change({ status: 'COMPLETED', outcome: hold.token, expiresAt: nowMs + RETENTION_MS })
          return 'completed'
        case 'fail':
          change({ status: 'FAILED', outcome: hold.token, expiresAt: nowMs + RETENTION_MS })
          return 'failed'
        case 'resume':
          change({ status: 'RETRYABLE', expiresAt: unfinished })
          return 'resumable'
        case 'release':
          change({ status: 'RELEASED', expiresAt: nowMs + TOMBSTONE_MS })
          return 'released'
        case 'unknown':
          change({ status: 'UNKNOWN', expiresAt: never })
          return 'unknown'
        case 'delay':
        case 'wait': {
          const hasNews = (record?.signals ?? 0) > hold.signals
          const resumeAt = hasNews ? nowMs : wished === 'delay' ? nowMs + delayMs : never
          change({ status: 'WAITING', resumeAt, expiresAt: resumeAt === never ? never : resumeAt + UNFINISHED_MS })
          return 'suspended'
        }
      }
    },

    step(hold, name, isStop, isLeftOpen) {
      const before = mirror.record?.token === hold.token ? mirror.record.steps[name] : undefined
      hold.used.add(name)
      if (before === 'done') return 'value'
      if (before === 'started' && isStop) {
        hold.isUnknown = true
        return 'UNKNOWN_OUTCOME'
      }
      if (isStop && before === undefined) {
        if (!mirror.isHeld(hold)) return 'LEASE_LOST'
        change({ steps: { ...mirror.record?.steps, [name]: 'started' } })
        mirror.renew(hold)
      }
      if (mirror.nowMs >= hold.leaseUntil) {
        if (!mirror.isHeld(hold)) return 'LEASE_LOST'
        mirror.renew(hold)
      }
      hold.hasTried = true
      if (isLeftOpen) return 'thrown'
      if (!mirror.isHeld(hold)) return 'LEASE_LOST'
      change({ steps: { ...mirror.record?.steps, [name]: 'done' } })
      mirror.renew(hold)
      return 'value'
    },

    signal() {
      const { record, nowMs } = mirror
      if (record === undefined || countsAsAbsent(record, nowMs)) return 'not-found'
      if (record.status === 'COMPLETED' || record.status === 'FAILED') return 'finished'
      change({ signals: record.signals + 1, ...(record.status === 'WAITING' && { resumeAt: nowMs }) })
      return 'delivered'
    },

    settle(as) {
      const { record, nowMs } = mirror
      if (record === undefined || countsAsAbsent(record, nowMs)) return 'not-found'
      if (record.status === 'COMPLETED' || record.status === 'FAILED') return 'finished'
      if (record.status === 'IN_PROGRESS' && record.leaseUntil >= nowMs) return 'in-progress'
      const token = `settled-${++tokens}`
      const done = Object.entries(record.steps).filter(([, step]) => step === 'done')
      if (as === 'value') change({ status: 'COMPLETED', token, outcome: token, expiresAt: nowMs + RETENTION_MS })
      else
        change({
          status: 'RETRYABLE',
          token,
          steps: Object.fromEntries(done),
          // Never earlier than it was; an unknown or a waiting one had no end.
          expiresAt: Math.max(nowMs + UNFINISHED_MS, record.expiresAt === never ? 0 : record.expiresAt),
          resumeAt: never,
        })
      return 'settled'
    },
  }
  return mirror
}
