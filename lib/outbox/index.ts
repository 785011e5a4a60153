export type { OutboxMessage, OutboxTarget } from '../operation/commit-plan.ts'
export { OUTBOX_PREFIX } from '../record/record.ts'
export {
  DISPATCHED_RETENTION_SECONDS,
  type DispatchOptions,
  type DispatchResult,
  dispatchOne,
} from './dispatch.ts'
export { MESSAGE_KEY_ATTRIBUTE, OPERATION_ATTRIBUTE, type OutboxEntry } from './message.ts'
export type { OutgoingMessage, SendResult } from './outgoing.ts'
export { type OutboxRelayHandler, outboxRelay } from './relay.ts'
export { type MessageName, type OutboxEvent, type OutboxRelayOptions, RELAY_DEFAULTS } from './relay-options.ts'
export type { SdkClient } from './sdk-client.ts'
export { createSender, SENDER_DEFAULTS, type Sender, type SenderOptions } from './sender.ts'
