import { LeaseLostError } from '../base/errors.ts'
import { YEAR_SECONDS } from '../base/guards.ts'
import type { Settings } from '../operation/options.ts'
import { ANSWER_RESERVE_MS, untilAnswered } from '../outcome/persist.ts'
import type { Lifetime } from '../outcome/stored.ts'
import { decideHeld, type HeldAnswer, type Intent } from '../record/decide.ts'
import { dueFrom, recordDueAtMs } from '../record/due.ts'
import { unfinishedExpiry } from '../record/expiry.ts'
import type { OperationRecord } from '../record/record.ts'
import type { BesideItem, Preparation, RecordChange, StandingCondition, WriteAnswer } from '../record/store.ts'
import { type LeaseWatch, watchLease } from './lease-watch.ts'

/** A record whose lease has an end: what a claim has won. */
export type HeldRecord = OperationRecord & { readonly leaseUntil: number }

/** How long a write is retried where no deadline is known, in ms. */
const PATIENCE_WITHOUT_DEADLINE_MS = 30_000

/**
 * The end of a lease taken or renewed at `nowMs`, and the expiry that goes with it. Counted from before the write is
 * sent: by the time it lies in the store it must not be longer than promised.
 */
export function leaseFrom(
  settings: Settings,
  takeover: OperationRecord['takeover'],
  nowMs: number,
  deadlineMs: number | undefined,
): { readonly leaseUntil: number; readonly expiresAt?: number } {
  // Zero or negative remaining time is a number too: the lease then is the margin.
  const remainingMs = deadlineMs === undefined ? undefined : Math.max(0, deadlineMs - nowMs)
  const lengthMs =
    settings.leaseMs ??
    (remainingMs === undefined ? settings.leaseWithoutDeadlineMs : remainingMs + settings.leaseMarginMs)
  const leaseUntil = Math.ceil(nowMs + lengthMs)
  const expiresAt = unfinishedExpiry(settings.unfinishedRetentionSeconds, { takeover, nowMs, leaseUntil })
  return { leaseUntil, ...(expiresAt !== undefined && { expiresAt }) }
}

/**
 * The lifetime of what an unfinished record points at. Every write of the record moves its own expiry, and a suspended
 * one waits for up to a year, so that this one's is far behind it.
 */
export function unfinishedLifetime(
  { clock, unfinishedRetentionSeconds }: Settings,
  takeover: OperationRecord['takeover'],
  deadlineMs: number | undefined,
): Lifetime {
  const nowMs = clock.now()
  const leaseUntil = nowMs + 2 * YEAR_SECONDS * 1000
  return {
    giveUpAtMs: deadlineMs === undefined ? nowMs + PATIENCE_WITHOUT_DEADLINE_MS : deadlineMs - ANSWER_RESERVE_MS,
    expiresAt: unfinishedExpiry(unfinishedRetentionSeconds, { takeover, nowMs, leaseUntil }),
  }
}

/** A lease that is held, and the writes that only its holder may do. */
export interface Lease {
  readonly watch: LeaseWatch
  /** Until when a write that has to succeed is retried, in ms. */
  giveUpAtMs(): number
  /** Whether the lease is over by this machine's clock: somebody may have taken over. */
  isOver(): boolean
  /** When the record expires if it is left unfinished now, in seconds. */
  expiry(): number | undefined
  /** That of what the record points at while it is unfinished. */
  lifetime(): Lifetime
  /**
   * A write conditional on this claim still holding the lease. Lost answers make a write come twice,
   * so a failed condition is read as "was that me?" first.
   */
  write(intent: Intent, change: HeldWrite): Promise<HeldAnswer>
  /**
   * A write in the middle of the work, which renews the lease with it, to at least `untilMs`.
   * @throws LeaseLostError when the lease is not held any more
   */
  renew(change?: Renewal, untilMs?: number): Promise<void>
}

/** A change that the holder of the lease writes, and what is written beside the record in the same transaction. */
export type HeldWrite = Omit<RecordChange, 'updatedAtMs' | 'leaseUntil' | 'signals' | 'dueShard' | 'dueAtMs'> & {
  readonly leaseUntil?: number
  readonly beside?: readonly BesideItem[]
  /** How many signals the change knows of: one more, and it is not written. */
  readonly knownSignals?: number
}

type Renewal = Pick<HeldWrite, 'step' | 'beside' | 'redrive'>

export function holdLease(settings: Settings, record: HeldRecord, deadlineMs: number | undefined): Lease {
  const { store, clock, random, newId } = settings
  const { token, takeover } = record
  /** The lease outlasts the invocation a little, and the work cannot: whichever ends first. */
  const lastMoment = (until: number) => Math.min(until, deadlineMs ?? until)
  const watch = watchLease(clock, lastMoment(record.leaseUntil))
  let leaseUntil = record.leaseUntil
  /** The record as this claim knows it: its own last write, or the signals it has met. */
  let known: Pick<OperationRecord, 'rev' | 'signals'> = record

  const giveUpAtMs = () =>
    deadlineMs === undefined
      ? Math.min(leaseUntil, clock.now() + PATIENCE_WITHOUT_DEADLINE_MS)
      : deadlineMs - ANSWER_RESERVE_MS

  const expiry = (until = clock.now()) =>
    unfinishedExpiry(settings.unfinishedRetentionSeconds, { takeover, nowMs: clock.now(), leaseUntil: until })

  /**
   * On exactly the record that this claim knows: a try that its client gave up may arrive after later writes, and must
   * neither shorten the lease again nor undo a step. Signals are the one thing that others write meanwhile.
   */
  async function write(intent: Intent, { beside = [], knownSignals, ...fields }: HeldWrite): Promise<HeldAnswer> {
    const { id } = record
    const change = (): RecordChange => {
      const nowMs = clock.now()
      // A renewal leaves the index alone, which would cost two more writes; a reconciler that looks sees the lease.
      const due =
        intent === 'extend'
          ? {}
          : dueFrom(settings, id, recordDueAtMs({ ...fields, takeover, attempt: record.attempt }, nowMs))
      return { ...fields, leaseUntil: fields.leaseUntil, updatedAtMs: nowMs, ...due }
    }
    for (;;) {
      if ((known.signals?.length ?? 0) > (knownSignals ?? Number.POSITIVE_INFINITY)) {
        return { kind: 'lost', record: { ...record, ...known } }
      }
      const condition: StandingCondition = { kind: 'seen', token, rev: known.rev }
      const send =
        beside.length === 0 ? () => store.update(id, change(), condition) : sendWith(id, beside, change(), condition)
      const answer = await untilAnswered(send, { clock, random, giveUpAtMs: giveUpAtMs() })
      if (answer.applied) {
        known = { ...known, rev: known.rev + 1 }
        return { kind: 'done' }
      }
      const { existing } = answer
      const isHeld = existing?.token === token && existing.status === 'IN_PROGRESS' && existing.rev > known.rev
      if (!isHeld) return decideHeld(existing, token, intent)
      known = existing
    }
  }

  function sendWith(id: string, beside: readonly BesideItem[], change: RecordChange, condition: StandingCondition) {
    const requestToken = newId()
    let prepared: Preparation | undefined
    return async (): Promise<WriteAnswer> => {
      // Every try sends the same; one that could not be prepared has sent nothing.
      prepared ??= await store.prepare(id, [], beside)
      const answer = await prepared.commit(change, condition, requestToken)
      return answer.kind === 'refused' ? { applied: false, existing: answer.existing } : { applied: true }
    }
  }

  /** Renewals wait for one another: of two at once, the one sent first could arrive last and shorten the lease again. */
  let renewals: Promise<void> = Promise.resolve()
  function renew(change: Renewal = {}, untilMs = 0): Promise<void> {
    const renewed = renewals.then(() => renewNow(change, untilMs))
    renewals = renewed.catch(() => undefined)
    return renewed
  }

  async function renewNow(change: Renewal, untilMs: number): Promise<void> {
    const until = Math.max(leaseUntil, untilMs, leaseFrom(settings, takeover, clock.now(), deadlineMs).leaseUntil)
    const answer = await write('extend', {
      ...change,
      status: 'IN_PROGRESS',
      leaseUntil: until,
      expiresAt: expiry(until),
    })
    if (answer.kind !== 'done') {
      watch.lost()
      throw new LeaseLostError()
    }
    leaseUntil = until
    watch.moved(lastMoment(leaseUntil))
  }

  return Object.freeze({
    watch,
    giveUpAtMs,
    isOver: () => clock.now() >= leaseUntil,
    expiry: () => expiry(),
    lifetime: () => ({ ...unfinishedLifetime(settings, takeover, deadlineMs), giveUpAtMs: giveUpAtMs() }),
    write,
    renew,
  })
}
