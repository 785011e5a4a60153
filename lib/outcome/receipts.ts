import type { Settings } from '../operation/options.ts'
import { expiryAfter } from '../record/expiry.ts'
import { RECEIPT_PREFIX, type StoredValue } from '../record/record.ts'
import type { BesideItem } from '../record/store.ts'
import type { ValueName } from '../record/value-codec.ts'
import { decodeStored, storeValue } from './stored.ts'

/** What a receipt is evidence of. */
export type ReceiptKind =
  /** The destination of a step has answered. That the operation ended well is not said by it. */
  | 'destination'
  /** The outcome is confirmed: written in one transaction with it. */
  | 'confirmed'
  /** Confirmed after the admission's time was over: the key may have been somebody else's by then. */
  | 'late'

/** Evidence of an effect, kept longer than the record of the operation. */
export interface Receipt {
  readonly kind: ReceiptKind
  readonly value: unknown
  readonly atMs: number
  readonly attempt: number
  /** The step that the destination's receipt came from. */
  readonly step?: string
}

interface StoredReceipt extends Omit<Receipt, 'value'> {
  readonly value: StoredValue
}

/** A receipt as it is written beside the record. Its sort key holds the token and an id of its own, so that none overwrites another. */
export async function receiptItem(
  settings: Settings,
  { id, token, attempt }: { readonly id: string; readonly token: string; readonly attempt: number },
  receipt: { readonly kind: ReceiptKind; readonly value: unknown; readonly step?: string },
  giveUpAtMs: number,
): Promise<BesideItem> {
  const { clock, receiptRetentionSeconds } = settings
  const atMs = clock.now()
  const expiresAt = receiptRetentionSeconds === undefined ? undefined : expiryAfter(atMs, receiptRetentionSeconds)
  const { kind, step } = receipt
  const sk = `${RECEIPT_PREFIX}${String(atMs).padStart(15, '0')}#${token}#${step ?? kind}#${settings.newId()}`
  const value = await storeValue(settings, nameOf(id, sk), receipt.value, { giveUpAtMs, expiresAt })
  const stored: StoredReceipt = { kind, value, atMs, attempt, ...(step !== undefined && { step }) }
  return { sk, attributes: { ...stored, expiresAt } }
}

function nameOf(operationId: string, sk: string): ValueName {
  return { operationId, purpose: 'receipt', name: sk }
}

/** Every receipt of an operation that has not expired, oldest first. */
export async function readReceipts(settings: Settings, id: string): Promise<readonly Receipt[]> {
  const { store, clock } = settings
  const items = await store.listBeside(id, RECEIPT_PREFIX)
  const nowSeconds = Math.floor(clock.now() / 1000)
  const kept = items.filter(({ attributes: { expiresAt } }) => typeof expiresAt !== 'number' || expiresAt > nowSeconds)
  return Promise.all(
    kept.map(async ({ sk, attributes }) => {
      const { kind, value, atMs, attempt, step } = attributes as unknown as StoredReceipt
      return {
        kind,
        value: await decodeStored(settings, value, nameOf(id, sk)),
        atMs,
        attempt,
        ...(step !== undefined && { step }),
      }
    }),
  )
}
