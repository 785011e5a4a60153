import type { Clock } from '../../base/ports.ts'
import type { Idempotency } from '../../idempotency/api.ts'
import type { IdempotencyOptions } from '../../operation/options.ts'
import type { Store } from '../../record/store.ts'

/** What an effect is told. */
export interface EffectOptions<T = undefined> {
  /** The key that is given to the third party. One that honours it does nothing for a key that it knows. */
  readonly idempotencyKey?: string | undefined
  /**
   * What it is an effect on, such as an order's id, where one event has the same effect on several: they are then
   * counted one by one.
   */
  readonly of?: string
  /** What it answers; a key that is known is answered as it was the first time. */
  readonly result?: T
}

/** Options of `world.idempotency`: those of `createIdempotency`, without what the world gives. */
export type WorldIdempotencyOptions = Omit<IdempotencyOptions, 'store' | 'clock' | 'newId' | 'random' | 'namespace'> & {
  /** @defaultValue 'verified' */
  readonly namespace?: string
}

/** What a handler under test is built with: a store that fails on purpose, and effects that are counted. */
export interface World {
  /**
   * Makes an `Idempotency` in this world. Give it the options that the deployed one has.
   * @throws InvalidOptionError as `createIdempotency` does
   */
  idempotency(options?: WorldIdempotencyOptions): Idempotency
  /**
   * Stands for an effect of the handler: a charge, a mail, a row. Call it where the real one would be made.
   *
   * @example
   * const charge = (order: Order, idempotencyKey: string) => effect('charge', { idempotencyKey, result: { id: 'ch_1' } })
   */
  effect<T = undefined>(name: string, options?: EffectOptions<T>): Promise<T>
  /** For a handler that calls `createIdempotency` itself; it needs the clock, too. */
  readonly store: Store
  readonly clock: Clock
}
