import { InvalidOptionError, StoreUnavailableError } from '../base/errors.ts'
import { refuseUnknown, secondsOption } from '../base/guards.ts'
import { claimRecord } from '../engine/claim.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { encodeOutcome } from '../outcome/outcome.ts'
import { untilAnswered } from '../outcome/persist.ts'
import { receiptItem } from '../outcome/receipts.ts'
import { decideHeld } from '../record/decide.ts'
import { dueFrom } from '../record/due.ts'
import { expiryAfter, TOMBSTONE_SECONDS } from '../record/expiry.ts'
import { NO_FINGERPRINT } from '../record/fingerprint.ts'
import { fenceOf } from '../record/identity.ts'
import type { OperationRecord } from '../record/record.ts'
import type { RecordChange } from '../record/store.ts'
import { checkMetadata } from './metadata.ts'

/** Options of `acquire`. */
export interface AcquireOptions {
  /** How long the key is taken, in seconds. It is a lease as well: nobody takes it over before. */
  readonly ttlSeconds: number
  /** Small notes for whoever finds the key taken; at most 1,000 bytes. Seen by every caller that asks for the key. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** What `acquire` answers: `admitted` exactly once while the key exists. */
export type Admission =
  | AdmittedKey
  | {
      readonly admitted: false
      /** Whether its holder has confirmed the outcome. */
      readonly isConfirmed: boolean
      readonly metadata: Readonly<Record<string, string>>
      readonly since: Date
      /** When the key is free again. Absent: not known, it belongs to an operation that is not an admission. */
      readonly until?: Date
    }

/** A key that is held. */
export interface AdmittedKey {
  readonly admitted: true
  /** Sorts later for every later holder: what to fence writes elsewhere with. */
  readonly fence: string
  readonly until: Date
  /**
   * Gives the key back. `false`: it was not ours any more, and nothing was removed.
   * @throws StoreError when nobody knows whether it was given back; it expires by itself
   */
  release(): Promise<boolean>
  /**
   * Says that the outcome is known, and keeps the receipt past the time to live. The key stays taken until then.
   * `'late'`: that time was over, so that somebody else may have had the key; the receipt is kept all the same.
   * @throws OutcomeUnstorableError naming the path of what cannot be stored; StoreError
   */
  confirm(receipt?: unknown): Promise<'confirmed' | 'late'>
}

/** How long the writes of a holder are retried, in ms. */
const PATIENCE_MS = 10_000

/** @throws InvalidOptionError naming what is wrong; StoreUnavailableError when the key could not be asked for */
export async function acquire(
  settings: Settings,
  report: Report,
  { id, key }: { readonly id: string; readonly key: string },
  options: AcquireOptions,
): Promise<Admission> {
  refuseUnknown('acquire', options, ['ttlSeconds', 'metadata'])
  const ttlSeconds = secondsOption('ttlSeconds', options.ttlSeconds, 1)
  if (ttlSeconds === undefined) {
    throw new InvalidOptionError('acquire(key, { ttlSeconds }): ttlSeconds is required: how long the key is taken.')
  }
  const metadata = checkMetadata(options.metadata)
  const request = {
    id,
    key,
    fingerprint: NO_FINGERPRINT,
    contract: 'answer' as const,
    admissionMs: ttlSeconds * 1000,
    ...(metadata !== undefined && { metadata }),
  }
  const claimed = await claimRecord(settings, report, request)
  switch (claimed.kind) {
    case 'held':
      report({ type: 'claimed', attempt: claimed.record.attempt }, id)
      return admitted(settings, report, claimed.record)
    case 'standing':
      report({ type: 'conflicted', attempt: claimed.seen.attempt }, id)
      return refused(settings, claimed.seen)
    case 'store-unavailable':
      throw claimed.error
    default:
      throw new StoreUnavailableError(new Error('The key kept changing hands.'))
  }
}

function refused(settings: Settings, seen: OperationRecord): Admission {
  const { status, metadata = {}, createdAtMs, isAdmission } = seen
  return {
    admitted: false,
    isConfirmed: status === 'COMPLETED',
    metadata,
    since: new Date(createdAtMs),
    ...(isAdmission && seen.expiresAt !== undefined && { until: freeFrom(settings, seen) }),
  }
}

/** When the key can be had again: what it was taken for is over by every clock. */
function freeFrom(
  { clockSkewMs }: Settings,
  { leaseUntil = 0, expiresAt = 0 }: Pick<OperationRecord, 'leaseUntil' | 'expiresAt'>,
): Date {
  return new Date(Math.max(leaseUntil + clockSkewMs, expiresAt * 1000))
}

function admitted(
  settings: Settings,
  report: Report,
  record: OperationRecord & { readonly leaseUntil: number },
): AdmittedKey {
  const { store, clock, random, newId } = settings
  const { id, token, attempt, leaseUntil, expiresAt } = record
  const held = { kind: 'held', token } as const
  const patience = () => ({ clock, random, giveUpAtMs: clock.now() + PATIENCE_MS })
  let isConfirmed = false
  const ended = () => ({ leaseUntil: undefined, updatedAtMs: clock.now(), ...dueFrom(settings, id, undefined) })

  return Object.freeze({
    admitted: true as const,
    fence: fenceOf(record),
    until: freeFrom(settings, record),

    async release() {
      const expiry = expiryAfter(clock.now(), TOMBSTONE_SECONDS)
      const change = (): RecordChange => ({ status: 'RELEASED', expiresAt: expiry, ...ended() })
      const answer = await untilAnswered(() => store.update(id, change(), held), patience())
      const isReleased = answer.applied || decideHeld(answer.existing, token, 'release').kind === 'done'
      if (isReleased) report({ type: 'released', attempt }, id)
      return isReleased && (answer.applied || answer.existing !== undefined)
    },

    async confirm(receipt?: unknown) {
      const { giveUpAtMs } = patience()
      if (isConfirmed) {
        const more = await receiptItem(settings, record, { kind: 'confirmed', value: receipt }, giveUpAtMs)
        await untilAnswered(() => store.putBeside(id, more), patience())
        return 'confirmed'
      }
      if (clock.now() < leaseUntil) {
        const encoded = await encodeOutcome(
          settings,
          { operationId: id, purpose: 'outcome' },
          { kind: 'value', value: receipt },
        )
        const outcome = await encoded.persist({ giveUpAtMs, expiresAt })
        const change: RecordChange = { status: 'COMPLETED', outcome, expiresAt, ...ended() }
        const item = await receiptItem(settings, record, { kind: 'confirmed', value: receipt }, giveUpAtMs)
        const prepared = await store.prepare(id, [], [item])
        const requestToken = newId()
        const answer = await untilAnswered(() => prepared.commit(change, held, requestToken), patience())
        isConfirmed =
          answer.kind === 'applied' ||
          (answer.kind === 'refused' && decideHeld(answer.existing, token, 'complete').kind === 'done')
        if (isConfirmed) {
          report({ type: 'completed', attempt }, id)
          return 'confirmed'
        }
      }
      const late = await receiptItem(settings, record, { kind: 'late', value: receipt }, giveUpAtMs)
      await untilAnswered(() => store.putBeside(id, late), patience())
      return 'late'
    },
  })
}
