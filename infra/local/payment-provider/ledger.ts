import { createHash, randomUUID } from 'node:crypto'

/** What a charge is asked with. */
export interface ChargeRequest {
  readonly orderId: string
  readonly amountCents: number
  readonly currency: string
}

/** A charge that was made, as it is at one point of its life. */
export interface Charge extends ChargeRequest {
  readonly chargeId: string
  readonly status: 'pending' | 'succeeded'
  /** Counts its changes. */
  readonly version: number
}

/** What the ledger did with a request. */
export type ChargeOutcome =
  | { readonly kind: 'charged'; readonly charge: Charge }
  /** The first answer again, whatever has become of the charge since. */
  | { readonly kind: 'repeated'; readonly charge: Charge }
  /** The key was used with another body. */
  | { readonly kind: 'mismatch' }

/** Counts of charges. */
export interface LedgerStats {
  /** Charges really made. */
  readonly effects: number
  readonly effectsByOrder: { readonly [orderId: string]: number }
  /** How many of them had to be confirmed later. */
  readonly pending: number
}

/** The provider's books, in memory. */
export interface Ledger {
  charge(idempotencyKey: string, request: ChargeRequest): ChargeOutcome
  /** What has become of the charges of an order. */
  find(orderId: string): readonly Charge[]
  /** A pending charge has succeeded. */
  confirm(chargeId: string): Charge | undefined
  stats(): LedgerStats
}

/** Makes an empty ledger. @param isPending - whether the charge of an order has to be confirmed later. */
export function createLedger(isPending: (orderId: string) => boolean): Ledger {
  const byKey = new Map<string, { fingerprint: string; charge: Charge }>()
  const charges = new Map<string, Charge>()
  let pending = 0
  return Object.freeze({
    charge: (idempotencyKey: string, { orderId, amountCents, currency }: ChargeRequest): ChargeOutcome => {
      const fingerprint = JSON.stringify([orderId, amountCents, currency])
      const known = byKey.get(idempotencyKey)
      if (known)
        return known.fingerprint === fingerprint ? { kind: 'repeated', charge: known.charge } : { kind: 'mismatch' }
      const waits = isPending(orderId)
      const charge: Charge = {
        chargeId: `ch_${randomUUID()}`,
        orderId,
        amountCents,
        currency,
        status: waits ? 'pending' : 'succeeded',
        version: 1,
      }
      if (waits) pending += 1
      byKey.set(idempotencyKey, { fingerprint, charge })
      charges.set(charge.chargeId, charge)
      return { kind: 'charged', charge }
    },
    find: (orderId: string) => [...charges.values()].filter((charge) => charge.orderId === orderId),
    confirm: (chargeId: string) => {
      const charge = charges.get(chargeId)
      if (charge === undefined) return undefined
      const confirmed: Charge = { ...charge, status: 'succeeded', version: charge.version + 1 }
      charges.set(chargeId, confirmed)
      return confirmed
    },
    stats: () => {
      const byOrder = Map.groupBy(charges.values(), ({ orderId }) => orderId)
      return {
        effects: charges.size,
        effectsByOrder: Object.fromEntries([...byOrder].map(([orderId, made]) => [orderId, made.length])),
        pending,
      }
    },
  })
}

/** Picks a share of the orders; the same ones for the same seed, in whatever order they come. */
export function shareOfOrders(chance: number, seed: number): (orderId: string) => boolean {
  return (orderId) => createHash('sha256').update(`${seed}:${orderId}`).digest().readUInt32BE(0) < chance * 2 ** 32
}
