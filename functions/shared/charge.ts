import * as v from 'valibot'

/** A charge as the payment provider tells of it, in its answers and in its callbacks. */
export const ChargeSchema = v.object({
  chargeId: v.pipe(v.string(), v.nonEmpty()),
  /** A provider that always answers with the last word need not say so. */
  status: v.optional(v.picklist(['pending', 'succeeded', 'failed']), 'succeeded'),
  /** Counts the charge's changes, from 1: a callback with a lower one is old news, whenever it comes. */
  version: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
})

/** A charge at one point of its life. */
export type Charge = v.InferOutput<typeof ChargeSchema>
