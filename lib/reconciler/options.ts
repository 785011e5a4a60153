import { InvalidOptionError } from '../base/errors.ts'
import { functionOption, integerOption, refuseUnknown, secondsOption, show } from '../base/guards.ts'
import type { Engine } from '../engine/engine.ts'
import type { Idempotency } from '../idempotency/api.ts'
import { engineOf } from '../idempotency/idempotency.ts'
import type { Operation } from '../operation/operation.ts'
import type { Sender } from '../outbox/sender.ts'
import type { OperationRecord } from '../record/record.ts'

/** What `recover` is told of an operation besides its running attempt. */
export interface Recovery {
  /** The record as it was found. */
  readonly record: OperationRecord
  /** The stored request: the event, or a message's `{ body, attributes }`. `undefined`: none was stored. */
  readonly request: unknown
}

/** Options of {@link reconciler}. */
export interface ReconcilerOptions {
  /** Made by `createIdempotency`, with the same namespace and `reconcilerShards` as where the operations run. */
  readonly idempotency: Idempotency
  /**
   * Finishes an operation here: called with the operation taken over, as its handler would be. What it returns is the
   * outcome; what it throws leaves the operation to be resumed.
   * @defaultValue none: operations are finished by delivering their request again
   */
  readonly recover?: (operation: Operation, recovery: Recovery) => unknown
  /**
   * Sends stored requests to where they came from, and messages that the relay has not managed to send. Made by
   * `createSender`.
   * @defaultValue none: nothing is sent
   */
  readonly sender?: Sender
  /**
   * How many items one run takes from the index at the most. Earlier messages of their operations go with them.
   * @defaultValue 200
   */
  readonly maxItems?: number
  /**
   * How many of them at the same time.
   * @defaultValue 10
   */
  readonly concurrency?: number
  /**
   * Nothing is started when less of the invocation's time is left, in seconds.
   * @defaultValue 5
   */
  readonly deadlineMarginSeconds?: number
}

/** The defaults of {@link ReconcilerOptions}. */
export const RECONCILER_DEFAULTS: Readonly<{ maxItems: number; concurrency: number; deadlineMarginSeconds: number }> =
  /* @__PURE__ */ Object.freeze({ maxItems: 200, concurrency: 10, deadlineMarginSeconds: 5 })

/** Options after validation, with every default filled in. */
export interface ReconcilerSettings {
  readonly engine: Engine
  readonly recover: ((operation: Operation, recovery: Recovery) => unknown) | undefined
  readonly sender: Sender | undefined
  readonly maxItems: number
  readonly concurrency: number
  readonly deadlineMarginMs: number
}

/** @throws InvalidOptionError naming the option, what was expected and what came */
export function resolveReconcilerOptions(options: ReconcilerOptions): ReconcilerSettings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(`reconciler expects an options object; got ${show(options)}.`)
  }
  refuseUnknown('reconciler', options, [
    'idempotency',
    'recover',
    'sender',
    'maxItems',
    'concurrency',
    'deadlineMarginSeconds',
  ])
  const engine = engineOf(options.idempotency)
  if (engine.settings.reconcilerShards === 0) {
    throw new InvalidOptionError(
      'reconciler: idempotency has reconcilerShards: 0, so that no operation is in the index. Say reconcilerShards: 4, say, here and where the operations run.',
    )
  }
  const { sender } = options
  if (sender !== undefined && typeof sender.send !== 'function') {
    throw new InvalidOptionError(`sender must be made by createSender(…); got ${show(sender)}.`)
  }
  const recover = functionOption('recover', options.recover)
  if (recover === undefined && sender === undefined) {
    throw new InvalidOptionError('reconciler needs recover, sender or both: with neither it can finish nothing.')
  }
  const marginSeconds = secondsOption('deadlineMarginSeconds', options.deadlineMarginSeconds, 0)
  return Object.freeze({
    engine,
    recover,
    sender,
    maxItems: integerOption('maxItems', options.maxItems, 1, 10_000) ?? RECONCILER_DEFAULTS.maxItems,
    concurrency: integerOption('concurrency', options.concurrency, 1, 1_000) ?? RECONCILER_DEFAULTS.concurrency,
    deadlineMarginMs: (marginSeconds ?? RECONCILER_DEFAULTS.deadlineMarginSeconds) * 1000,
  })
}
