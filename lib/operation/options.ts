import { systemClock } from '../base/clock.ts'
import { InvalidOptionError } from '../base/errors.ts'
import {
  booleanOption,
  functionOption,
  integerOption,
  oneOf,
  refuseUnknown,
  secondsOption,
  show,
} from '../base/guards.ts'
import type { Clock, NewId, Observer, Random } from '../base/ports.ts'
import type { Disposition } from '../record/disposition.ts'
import type { TakeoverPolicy } from '../record/record.ts'
import type { Store } from '../record/store.ts'
import { codecsOption, type ValueCodec } from '../record/value-codec.ts'
import type { Operation } from './operation.ts'
import type { Tracing } from './tracing.ts'

/** Options of `createIdempotency`. */
export interface IdempotencyOptions {
  /** Where records lie: `dynamoStore(…)`, or `memoryStore()` in unit tests. */
  readonly store: Store
  /** Names the family of operations ("payments"). Never derived from a function's name: a rename must not lose records. */
  readonly namespace: string
  /**
   * How long a finished operation protects, in seconds. It has to outlast the last possible redelivery.
   * @defaultValue 86 400 (a day)
   */
  readonly retentionSeconds?: number
  /**
   * How long an unfinished operation is kept, in seconds, counted from its last write.
   * @defaultValue 1 209 600 (14 days), or `retentionSeconds` when that is longer
   */
  readonly unfinishedRetentionSeconds?: number
  /**
   * How long a claim is exclusive, in seconds, whatever the function's timeout.
   * @defaultValue the invocation's remaining time plus `leaseMarginSeconds`; 900 where no invocation is known
   */
  readonly leaseSeconds?: number
  /**
   * Added to the remaining time: Lambda kills a little after the deadline it names.
   * @defaultValue 1
   */
  readonly leaseMarginSeconds?: number
  /**
   * By how much the clocks of two machines may differ. A lease is over only when it is over by this much.
   * @defaultValue 1
   */
  readonly clockSkewSeconds?: number
  /**
   * What may happen when a lease runs out: `auto` lets the next delivery take over; with `never` the operation
   * stays in progress until an operator settles it.
   * @defaultValue 'auto'
   */
  readonly takeover?: TakeoverPolicy
  /**
   * What a repetition gets while the first one runs: a refusal at once, or it waits this many seconds for the first
   * one's outcome, never past its own deadline. Waiting costs running time, and a read now and then.
   * @defaultValue 'reject'
   */
  readonly inFlight?: 'reject' | { readonly waitSeconds: number }
  /**
   * Where the handler's effects are. `steps-only` declares that it is safe to run again after any error.
   * @defaultValue 'anywhere'
   */
  readonly effects?: 'anywhere' | 'steps-only'
  /**
   * How many attempts may end without a word (a crash, a time-out) before the operation becomes UNKNOWN instead of
   * being taken over once more. Attempts that threw do not count.
   * @defaultValue no limit: the queue's own maximum of receives is the limit
   */
  readonly maxCrashes?: number
  /** What a thrown error means; `undefined` leaves it to the default table. */
  readonly onError?: (error: unknown, operation: Operation) => Disposition | undefined
  /**
   * What to do when the store cannot be reached: refuse (`closed`), or run the handler without protection (`open`).
   * @defaultValue 'closed'
   */
  readonly onStoreError?: 'closed' | 'open'
  /**
   * Whether an outbox relay is deployed for the table: without one nobody sends what `commit` puts in the outbox.
   * @defaultValue false
   */
  readonly relay?: boolean
  /**
   * Over how many shards unfinished operations are spread in the reconciler's index; a shard takes about 1,000 writes
   * a second. 0: no reconciler is deployed, and nothing is written to the index. Only ever raise it.
   * @defaultValue 0
   */
  readonly reconcilerShards?: number
  /**
   * Whether that reconciler has `recover`, and so finishes operations that have no stored request.
   * @defaultValue false
   */
  readonly reconcilerRecovers?: boolean
  /**
   * How long receipts are kept, in seconds.
   * @defaultValue for ever
   */
  readonly receiptRetentionSeconds?: number
  /**
   * Encodes every stored value, such as encryption does; a list decodes by all of them and encodes by the first.
   * @defaultValue none
   */
  readonly codec?: ValueCodec | readonly ValueCodec[]
  /** Sees every event. */
  readonly observer?: Observer
  /** Follows every delivery, such as `openTelemetry(tracer)`. */
  readonly tracing?: Tracing
  /** @defaultValue the system's clock */
  readonly clock?: Clock
  /** @defaultValue `crypto.randomUUID` */
  readonly newId?: NewId
  /** @defaultValue `Math.random` */
  readonly random?: Random
}

/** The defaults of `createIdempotency`, in their units. */
export const DEFAULTS: Readonly<{
  retentionSeconds: number
  unfinishedRetentionSeconds: number
  /** Used where no remaining time is known: the longest a Lambda invocation can last. */
  leaseWithoutDeadlineSeconds: number
  leaseMarginSeconds: number
  clockSkewSeconds: number
  takeover: TakeoverPolicy
  effects: 'anywhere' | 'steps-only'
  onStoreError: 'closed' | 'open'
  relay: boolean
  reconcilerShards: number
  reconcilerRecovers: boolean
}> = /* @__PURE__ */ Object.freeze({
  retentionSeconds: 86_400,
  unfinishedRetentionSeconds: 1_209_600,
  leaseWithoutDeadlineSeconds: 900,
  leaseMarginSeconds: 1,
  clockSkewSeconds: 1,
  takeover: 'auto',
  effects: 'anywhere',
  onStoreError: 'closed',
  relay: false,
  reconcilerShards: 0,
  reconcilerRecovers: false,
})

/** Options after validation, with every default filled in; times in ms where the engine computes in ms. */
export interface Settings {
  readonly store: Store
  readonly namespace: string
  readonly retentionSeconds: number
  readonly unfinishedRetentionSeconds: number
  readonly leaseMs: number | undefined
  readonly leaseWithoutDeadlineMs: number
  readonly leaseMarginMs: number
  readonly clockSkewMs: number
  readonly takeover: TakeoverPolicy
  /** How long a repetition waits for the first one, in ms; 0 refuses it at once. */
  readonly inFlightWaitMs: number
  readonly effects: 'anywhere' | 'steps-only'
  readonly maxCrashes: number
  readonly onError: ((error: unknown, operation: Operation) => Disposition | undefined) | undefined
  readonly onStoreError: 'closed' | 'open'
  readonly relay: boolean
  readonly reconcilerShards: number
  readonly reconcilerRecovers: boolean
  readonly receiptRetentionSeconds: number | undefined
  readonly codecs: readonly ValueCodec[]
  readonly observer: Observer | undefined
  readonly tracing: Tracing | undefined
  readonly clock: Clock
  readonly newId: NewId
  readonly random: Random
}

/** @throws InvalidOptionError naming the option, what was expected and what came. */
export function resolveOptions(options: IdempotencyOptions): Settings {
  refuseUnknown('createIdempotency', options, OPTION_NAMES)
  const { namespace } = options
  if (typeof namespace !== 'string' || !/^[\w./-]{1,64}$/.test(namespace)) {
    throw new InvalidOptionError(
      `namespace must be 1 to 64 letters, digits, "_", ".", "/" or "-", such as "payments"; got ${show(namespace)}.`,
    )
  }
  const seconds = (name: SecondsOption, low: number): number | undefined => secondsOption(name, options[name], low)
  const leaseSeconds = seconds('leaseSeconds', 1)
  const retentionSeconds = seconds('retentionSeconds', 1) ?? DEFAULTS.retentionSeconds
  return Object.freeze({
    store: storeOption(options.store),
    namespace,
    retentionSeconds,
    // What is finished is kept until its message can no longer come; what is half done must wait as long.
    unfinishedRetentionSeconds:
      seconds('unfinishedRetentionSeconds', 1) ?? Math.max(DEFAULTS.unfinishedRetentionSeconds, retentionSeconds),
    leaseMs: leaseSeconds === undefined ? undefined : leaseSeconds * 1000,
    leaseWithoutDeadlineMs: DEFAULTS.leaseWithoutDeadlineSeconds * 1000,
    leaseMarginMs: (seconds('leaseMarginSeconds', 0) ?? DEFAULTS.leaseMarginSeconds) * 1000,
    clockSkewMs: (seconds('clockSkewSeconds', 0) ?? DEFAULTS.clockSkewSeconds) * 1000,
    takeover: oneOf('takeover', options.takeover, ['auto', 'never']) ?? DEFAULTS.takeover,
    inFlightWaitMs: inFlightOption(options.inFlight) * 1000,
    effects: oneOf('effects', options.effects, ['anywhere', 'steps-only']) ?? DEFAULTS.effects,
    onStoreError: oneOf('onStoreError', options.onStoreError, ['closed', 'open']) ?? DEFAULTS.onStoreError,
    maxCrashes: integerOption('maxCrashes', options.maxCrashes, 0, 1_000) ?? Number.POSITIVE_INFINITY,
    onError: functionOption('onError', options.onError),
    relay: booleanOption('relay', options.relay) ?? DEFAULTS.relay,
    reconcilerShards:
      integerOption('reconcilerShards', options.reconcilerShards, 0, 1_000) ?? DEFAULTS.reconcilerShards,
    reconcilerRecovers: booleanOption('reconcilerRecovers', options.reconcilerRecovers) ?? DEFAULTS.reconcilerRecovers,
    receiptRetentionSeconds: seconds('receiptRetentionSeconds', 1),
    codecs: codecsOption(options.codec),
    observer: functionOption('observer', options.observer),
    tracing: tracingOption(options.tracing),
    clock: clockOption(options.clock) ?? systemClock,
    newId: functionOption('newId', options.newId) ?? (() => crypto.randomUUID()),
    random: functionOption('random', options.random) ?? Math.random,
  })
}

type SecondsOption =
  | 'retentionSeconds'
  | 'unfinishedRetentionSeconds'
  | 'leaseSeconds'
  | 'leaseMarginSeconds'
  | 'clockSkewSeconds'
  | 'receiptRetentionSeconds'

const OPTION_NAMES: readonly string[] = [
  'store',
  'namespace',
  'retentionSeconds',
  'unfinishedRetentionSeconds',
  'leaseSeconds',
  'leaseMarginSeconds',
  'clockSkewSeconds',
  'takeover',
  'inFlight',
  'effects',
  'maxCrashes',
  'onError',
  'onStoreError',
  'relay',
  'reconcilerShards',
  'reconcilerRecovers',
  'receiptRetentionSeconds',
  'codec',
  'observer',
  'tracing',
  'clock',
  'newId',
  'random',
]

/** Every method that a store must have, by the type: one that lacks it would fail in the middle of somebody's operation. */
const STORE_METHODS: Readonly<Record<Exclude<keyof Store, 'grouped'>, true>> = {
  put: true,
  update: true,
  get: true,
  prepare: true,
  putBeside: true,
  updateBeside: true,
  listBeside: true,
  listDue: true,
  putParts: true,
  getParts: true,
}

function storeOption(store: Store): Store {
  const missing =
    typeof store === 'object' && store !== null
      ? Object.keys(STORE_METHODS).find((name) => typeof Reflect.get(store, name) !== 'function')
      : ''
  if (missing === undefined) return store
  throw new InvalidOptionError(
    `store must be a Store, such as dynamoStore({ tableName }); got ${show(store)}${missing && ` without ${missing}()`}.`,
  )
}

function clockOption(clock: Clock | undefined): Clock | undefined {
  if (clock === undefined || (typeof clock?.now === 'function' && typeof clock.wait === 'function')) return clock
  throw new InvalidOptionError(`clock must have now() and wait(); got ${show(clock)}.`)
}

function tracingOption(tracing: Tracing | undefined): Tracing | undefined {
  if (tracing === undefined || typeof tracing?.begin === 'function') return tracing
  throw new InvalidOptionError(`tracing must be a Tracing, such as openTelemetry(tracer); got ${show(tracing)}.`)
}

function inFlightOption(value: unknown): number {
  if (value === undefined || value === 'reject') return 0
  const seconds: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'waitSeconds') : undefined
  if (seconds === undefined) {
    throw new InvalidOptionError(`inFlight must be "reject" or { waitSeconds }; got ${show(value)}.`)
  }
  refuseUnknown('inFlight', value, ['waitSeconds'])
  return secondsOption('inFlight.waitSeconds', seconds, 0.001) ?? 0
}
