import * as v from 'valibot'

/** The currencies in which an order can be paid. */
export const CurrencySchema = v.picklist(['EUR', 'USD'])

const text = v.pipe(v.string(), v.nonEmpty())
const cents = v.pipe(v.number(), v.integer(), v.minValue(1))

/** What the orders API asks the payments worker to do: the body of a message. */
export const PaymentSchema = v.object({
  orderId: text,
  customerId: text,
  amountCents: cents,
  currency: CurrencySchema,
})

/** One order to be charged. */
export type Payment = v.InferOutput<typeof PaymentSchema>

/** What the payments worker tells of a paid order: the body of a message. */
export const OrderPaidSchema = v.object({
  orderId: text,
  account: text,
  /** The place of the payment in its account's ledger, from 1. It is the version of the balance. */
  sequence: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** What the account has paid with this payment and all before it. */
  balanceCents: cents,
})

/** One order that is paid. */
export type OrderPaid = v.InferOutput<typeof OrderPaidSchema>
