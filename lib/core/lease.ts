import { decideHeld, type HeldAnswer, type Intent } from './decide.ts'
import { LeaseLostError } from './errors.ts'
import { unfinishedExpiry } from './expiry.ts'
import { YEAR_SECONDS } from './guards.ts'
import { type LeaseWatch, watchLease } from './lease-watch.ts'
import type { Settings } from './options.ts'
import { ANSWER_RESERVE_MS, untilAnswered } from './persist.ts'
import type { RecordChange } from './ports.ts'
import type { OperationRecord } from './record.ts'

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

/** A lease that is held, and the writes that only its holder may do. */
export interface Lease {
  readonly watch: LeaseWatch
  /** Until when a write that has to succeed is retried, in ms. */
  giveUpAtMs(): number
  /** When the record expires if it is left unfinished now, in seconds. */
  expiry(): number | undefined
  /**
   * When what an unfinished record points at may expire, in seconds. Every write of the record moves its own expiry,
   * and a suspended one waits for up to a year, so that this is far behind it.
   */
  longestExpiry(): number | undefined
  /**
   * A write conditional on this claim still holding the lease. Lost answers make a write come twice,
   * so a failed condition is read as "was that me?" first.
   */
  write(intent: Intent, change: Omit<RecordChange, 'updatedAtMs'>): Promise<HeldAnswer>
  /**
   * A write in the middle of the work, which renews the lease with it, to at least `untilMs`.
   * @throws LeaseLostError when the lease is not held any more
   */
  renew(change?: Pick<RecordChange, 'step'>, untilMs?: number): Promise<void>
}

export function holdLease(settings: Settings, record: HeldRecord, deadlineMs: number | undefined): Lease {
  const { store, clock, random } = settings
  const { token, takeover } = record
  /** The lease outlasts the invocation a little, and the work cannot: whichever ends first. */
  const lastMoment = (until: number) => Math.min(until, deadlineMs ?? until)
  const watch = watchLease(clock, lastMoment(record.leaseUntil))
  let leaseUntil = record.leaseUntil

  const giveUpAtMs = () =>
    deadlineMs === undefined
      ? Math.min(leaseUntil, clock.now() + PATIENCE_WITHOUT_DEADLINE_MS)
      : deadlineMs - ANSWER_RESERVE_MS

  const expiry = (until = clock.now()) =>
    unfinishedExpiry(settings.unfinishedRetentionSeconds, { takeover, nowMs: clock.now(), leaseUntil: until })

  async function write(intent: Intent, change: Omit<RecordChange, 'updatedAtMs'>): Promise<HeldAnswer> {
    const answer = await untilAnswered(
      () => store.update(record.id, { ...change, updatedAtMs: clock.now() }, { kind: 'held', token }),
      { clock, random, giveUpAtMs: giveUpAtMs() },
    )
    return answer.applied ? { kind: 'done' } : decideHeld(answer.existing, token, intent)
  }

  /** Renewals wait for one another: of two at once, the one sent first could arrive last and shorten the lease again. */
  let renewals: Promise<void> = Promise.resolve()
  function renew(change: Pick<RecordChange, 'step'> = {}, untilMs = 0): Promise<void> {
    const renewed = renewals.then(() => renewNow(change, untilMs))
    renewals = renewed.catch(() => undefined)
    return renewed
  }

  async function renewNow(change: Pick<RecordChange, 'step'>, untilMs: number): Promise<void> {
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
    expiry: () => expiry(),
    longestExpiry: () => expiry(clock.now() + 2 * YEAR_SECONDS * 1000),
    write,
    renew,
  })
}
