import { randomUUID } from 'node:crypto'

/** What a charge is asked with. */
export interface ChargeRequest {
  readonly orderId: string
  readonly amountCents: number
  readonly currency: string
}

/** A charge that was made. */
export interface Charge extends ChargeRequest {
  readonly chargeId: string
}

/** What the ledger did with a request. */
export type ChargeOutcome =
  | { readonly kind: 'charged'; readonly charge: Charge }
  | { readonly kind: 'repeated'; readonly charge: Charge }
  /** The key was used with another body. */
  | { readonly kind: 'mismatch' }

/** Counts of a provider's life so far. */
export interface ProviderStats {
  /** Requests for a charge, repetitions and refused ones included. */
  readonly calls: number
  /** Charges really made. */
  readonly effects: number
  readonly effectsByOrder: { readonly [orderId: string]: number }
}

/** The provider's books, in memory. */
export interface Ledger {
  charge(idempotencyKey: string, request: ChargeRequest): ChargeOutcome
  countCall(): void
  stats(): ProviderStats
}

/** Makes an empty ledger. */
export function createLedger(): Ledger {
  const byKey = new Map<string, { fingerprint: string; charge: Charge }>()
  const effectsByOrder = new Map<string, number>()
  let calls = 0
  return Object.freeze({
    charge: (idempotencyKey: string, { orderId, amountCents, currency }: ChargeRequest): ChargeOutcome => {
      const fingerprint = JSON.stringify([orderId, amountCents, currency])
      const known = byKey.get(idempotencyKey)
      if (known)
        return known.fingerprint === fingerprint ? { kind: 'repeated', charge: known.charge } : { kind: 'mismatch' }
      const charge = { chargeId: `ch_${randomUUID()}`, orderId, amountCents, currency }
      byKey.set(idempotencyKey, { fingerprint, charge })
      effectsByOrder.set(orderId, (effectsByOrder.get(orderId) ?? 0) + 1)
      return { kind: 'charged', charge }
    },
    countCall: () => {
      calls += 1
    },
    stats: () => ({
      calls,
      effects: [...effectsByOrder.values()].reduce((sum, count) => sum + count, 0),
      effectsByOrder: Object.fromEntries(effectsByOrder),
    }),
  })
}
