export { body, type WithBody } from './body.ts'
export { allOf, firstOf } from './compose.ts'
export {
  eventId,
  type S3Change,
  s3Object,
  streamRecord,
  type WithEventId,
  type WithSequenceNumber,
} from './event.ts'
export { header, type WithHeaders } from './header.ts'
export { dedupId, messageAttribute, messageId, type QueueMessage, type TopicEvent } from './message.ts'
export type { KeySelector } from './selector.ts'
export {
  githubDeliveryId,
  githubWebhook,
  shopifyWebhook,
  shopifyWebhookId,
  stripeEventId,
  stripeWebhook,
  telegramUpdateId,
  telegramWebhook,
  type Webhook,
  type WebhookEvent,
} from './webhooks.ts'
