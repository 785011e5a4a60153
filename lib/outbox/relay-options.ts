import { systemClock } from '../base/clock.ts'
import { InvalidOptionError } from '../base/errors.ts'
import { functionOption, refuseUnknown, secondsOption, show } from '../base/guards.ts'
import type { Clock } from '../base/ports.ts'
import type { OutboxTarget } from '../operation/commit-plan.ts'
import type { Store } from '../record/store.ts'
import { codecsOption, type ValueCodec } from '../record/value-codec.ts'
import { DISPATCHED_RETENTION_SECONDS } from './dispatch.ts'
import { createSender, type Sender } from './sender.ts'

/** What happened to a message of the outbox. Never carries its body. */
export type OutboxEvent = {
  readonly atMs: number
} & (
  | ({ readonly type: 'dispatched' | 'overtaken' } & MessageName)
  /** It stays in the outbox as `stuck`: its target refuses it, or it cannot be read. */
  | ({ readonly type: 'stuck'; readonly reason: string } & MessageName)
  /** It will be tried again. */
  | ({ readonly type: 'failed'; readonly error: unknown } & MessageName)
  /** The invocation's time was nearly over, or an earlier message has failed: it will come again. */
  | ({ readonly type: 'not-started' } & MessageName)
  /** A record of the stream was passed over: not even its item's key can be read. */
  | { readonly type: 'unreadable'; readonly error: unknown }
)

/** Names a message of the outbox. */
export interface MessageName {
  readonly operationId: string
  /** The item's sort key. */
  readonly sk: string
  /** `undefined` where the item cannot be read. */
  readonly messageId: string | undefined
  readonly to: OutboxTarget | undefined
}

/** Options of `outboxRelay`. */
export interface OutboxRelayOptions {
  /** The store whose table the stream belongs to. */
  readonly store: Store
  /** Decodes the messages' bodies: what `createIdempotency` was given. @defaultValue none */
  readonly codec?: ValueCodec | readonly ValueCodec[]
  /**
   * Sends the messages.
   * @defaultValue `createSender()`
   */
  readonly sender?: Sender
  /**
   * How long an item is kept after its message was sent, in seconds. It is evidence only. What is not sent is kept for
   * ever.
   * @defaultValue 604800, a week
   */
  readonly dispatchedRetentionSeconds?: number
  /**
   * No message is sent when less of the invocation's time is left, in seconds.
   * @defaultValue 2
   */
  readonly deadlineMarginSeconds?: number
  /**
   * Sees what becomes of every message. What it throws is ignored.
   * @defaultValue stuck, failed and unreadable ones are written with `console.error`
   */
  readonly observer?: (event: OutboxEvent) => void
  /** @defaultValue the system's clock */
  readonly clock?: Clock
}

/** The defaults of {@link OutboxRelayOptions}. */
export const RELAY_DEFAULTS: Readonly<{ dispatchedRetentionSeconds: number; deadlineMarginSeconds: number }> =
  /* @__PURE__ */ Object.freeze({
    dispatchedRetentionSeconds: DISPATCHED_RETENTION_SECONDS,
    deadlineMarginSeconds: 2,
  })

/** Options after validation, with every default filled in. */
export interface RelaySettings {
  readonly store: Store
  readonly codecs: readonly ValueCodec[]
  readonly sender: Sender
  readonly dispatchedRetentionSeconds: number
  readonly deadlineMarginMs: number
  readonly observe: (event: OutboxEvent) => void
  readonly clock: Clock
}

/** @throws InvalidOptionError naming the option, what was expected and what came. */
export function resolveRelayOptions(options: OutboxRelayOptions): RelaySettings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(`outboxRelay expects an options object; got ${show(options)}.`)
  }
  refuseUnknown('outboxRelay', options, OPTION_NAMES)
  const { store, sender, observer, clock = systemClock } = options
  if (typeof store?.updateBeside !== 'function') {
    throw new InvalidOptionError(`store must be a store such as dynamoStore(…); got ${show(store)}.`)
  }
  if (sender !== undefined && typeof sender?.send !== 'function') {
    throw new InvalidOptionError(`sender must be made by createSender(…); got ${show(sender)}.`)
  }
  const { dispatchedRetentionSeconds, deadlineMarginSeconds } = RELAY_DEFAULTS
  const marginSeconds = secondsOption('deadlineMarginSeconds', options.deadlineMarginSeconds, 0)
  return Object.freeze({
    store,
    codecs: codecsOption(options.codec),
    sender: sender ?? createSender({ clock }),
    dispatchedRetentionSeconds:
      secondsOption('dispatchedRetentionSeconds', options.dispatchedRetentionSeconds, 0) ?? dispatchedRetentionSeconds,
    deadlineMarginMs: (marginSeconds ?? deadlineMarginSeconds) * 1000,
    observe: quietly(functionOption('observer', observer) ?? writeProblem),
    clock,
  })
}

const OPTION_NAMES: readonly string[] = [
  'store',
  'codec',
  'sender',
  'dispatchedRetentionSeconds',
  'deadlineMarginSeconds',
  'observer',
  'clock',
]

/** Watching never changes an outcome, whether it throws or rejects. */
function quietly(observer: (event: OutboxEvent) => unknown): (event: OutboxEvent) => void {
  return (event) => {
    try {
      Promise.resolve(observer(event)).catch(() => undefined)
    } catch {}
  }
}

function writeProblem(event: OutboxEvent): void {
  if (event.type === 'stuck') {
    console.error(`lambda-once: a message of ${event.operationId} is stuck in the outbox (${event.reason}).`)
  } else if (event.type === 'failed' || event.type === 'unreadable') {
    console.error(`lambda-once: a message of the outbox was not sent (${event.type}).`, event.error)
  }
}
