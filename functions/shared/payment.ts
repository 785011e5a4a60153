import * as v from 'valibot'

/** The currencies in which an order can be paid. */
export const CurrencySchema = v.picklist(['EUR', 'USD'])

/** What the orders API asks the payments worker to do: the body of a message. */
export const PaymentSchema = v.object({
  orderId: v.pipe(v.string(), v.nonEmpty()),
  amountCents: v.pipe(v.number(), v.integer(), v.minValue(1)),
  currency: CurrencySchema,
})

/** One order to be charged. */
export type Payment = v.InferOutput<typeof PaymentSchema>
