import { InvalidOptionError, OutcomeUnstorableError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import type { HeldRecord, Lease } from '../lease/lease.ts'
import type { CommitPlan } from '../operation/commit-plan.ts'
import type { Settings } from '../operation/options.ts'
import type { Report } from '../operation/report.ts'
import { outboxItem } from '../outbox/item.ts'
import { readyMessages } from '../outbox/ready-messages.ts'
import { encodeOutcome } from '../outcome/outcome.ts'
import { untilAnswered } from '../outcome/persist.ts'
import { receiptItem } from '../outcome/receipts.ts'
import { storeValue } from '../outcome/stored.ts'
import { dueFrom } from '../record/due.ts'
import { expiryAfter } from '../record/expiry.ts'
import type { BesideItem, Preparation, RecordChange } from '../record/store.ts'

/** Everything is checked before anything is sent, and built once: every try sends the same. */
export async function prepareCommit(
  settings: Settings,
  held: HeldRecord,
  lease: Lease,
  value: unknown,
  plan: CommitPlan,
): Promise<{ readonly prepared: Preparation; readonly change: RecordChange }> {
  const { store, clock, newId, retentionSeconds } = settings
  const { id, token } = held
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
  const encoded = await encodeOutcome(settings, { operationId: id, purpose: 'outcome' }, { kind: 'value', value })
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
  const prepared = await store.prepare(id, writes, beside)
  const expiresAt = expiryAfter(clock.now(), retentionSeconds)
  const stored = await encoded.persist({ giveUpAtMs: lifetime.giveUpAtMs, expiresAt })
  if (stored.kind === 'failure') throw new OutcomeUnstorableError(stored.failure.message)
  const change: RecordChange = {
    status: 'COMPLETED',
    leaseUntil: undefined,
    expiresAt,
    updatedAtMs: clock.now(),
    outcome: stored,
    commitId: newId(),
    ...dueFrom(settings, id, undefined),
  }
  return { prepared, change }
}

/** Stores the final form of an answer beside the committed value, of which it was made. */
export async function addWire(
  settings: Settings,
  report: Report,
  { id, token }: HeldRecord,
  lease: Lease,
  value: unknown,
): Promise<void> {
  const { store, clock, random, retentionSeconds } = settings
  const expiresAt = expiryAfter(clock.now(), retentionSeconds)
  const lifetime = { giveUpAtMs: lease.giveUpAtMs(), expiresAt }
  try {
    const wire = await storeValue(settings, { operationId: id, purpose: 'response' }, value, lifetime)
    const change = { status: 'COMPLETED', leaseUntil: undefined, expiresAt, updatedAtMs: clock.now(), wire } as const
    await untilAnswered(() => store.update(id, change, { kind: 'committed', token }), { clock, random, ...lifetime })
  } catch (error) {
    // The committed value is there all the same, and a replay makes its response of that.
    report({ type: 'store-error', during: 'complete', error }, id)
  }
}
