import { InvalidOptionError } from '../base/errors.ts'
import { refuseUnknown, show } from '../base/guards.ts'
import { type Fields, fieldsOf, nonEmpty } from '../sources/fields.ts'
import { parsedBody, type WithBody } from './body.ts'
import { headerText, type WithHeaders } from './header.ts'
import type { KeySelector } from './selector.ts'

/** A request of a provider, as any gateway brings it. */
export type WebhookEvent = WithHeaders &
  WithBody<unknown> & {
    /** REST APIs and load balancers. */
    readonly path?: string
    /** HTTP APIs and Function URLs. */
    readonly rawPath?: string
  }

/**
 * What `idempotentHttp` and `idempotent` need to know of a provider: `idempotentHttp({ idempotency, ...githubWebhook() })`.
 * The provider's signature is to be verified before, by a middleware that is registered before: else anybody can use
 * ids up.
 */
export interface Webhook {
  readonly keyFrom: KeySelector<WebhookEvent>
  readonly scope: (event: WebhookEvent) => readonly string[]
}

/** The id of a Stripe event (`evt_…`), out of the body. */
export function stripeEventId(): KeySelector<WebhookEvent> {
  return (event) => nonEmpty(fieldsOf(parsedBody(event)).id)
}

/**
 * Stripe: the event's id, per endpoint and connected account. Stripe retries for three days, so keep records longer:
 * `retentionSeconds: 4 * 86_400`.
 */
export function stripeWebhook(): Webhook & { readonly fingerprint: (event: WebhookEvent) => unknown } {
  return Object.freeze({
    keyFrom: stripeEventId(),
    scope: (event: WebhookEvent) => ['stripe', pathOf(event), text(fieldsOf(parsedBody(event)).account)],
    /** How many endpoints have yet to answer differs from one delivery to the next. */
    fingerprint(event: WebhookEvent): unknown {
      const { pending_webhooks: _, ...meaning }: Fields = fieldsOf(parsedBody(event))
      return meaning
    },
  })
}

/** The id of a GitHub delivery (`X-GitHub-Delivery`). A redelivery that somebody asks for keeps it. */
export function githubDeliveryId(): KeySelector<WebhookEvent> {
  return (event) => headerText(event, 'x-github-delivery')
}

/** GitHub: the delivery's id, per hook and endpoint: several hooks and apps get one delivery under one id. */
export function githubWebhook(): Webhook {
  return Object.freeze({
    keyFrom: githubDeliveryId(),
    scope: (event: WebhookEvent) => [
      'github',
      pathOf(event),
      headerText(event, 'x-github-hook-id') ?? '',
      headerText(event, 'x-github-hook-installation-target-id') ?? '',
    ],
  })
}

/** The id of a Shopify webhook (`X-Shopify-Webhook-Id`), which its retries keep. */
export function shopifyWebhookId(): KeySelector<WebhookEvent> {
  return (event) => headerText(event, 'x-shopify-webhook-id')
}

/** Shopify: the webhook's id, per shop and topic. */
export function shopifyWebhook(): Webhook {
  return Object.freeze({
    keyFrom: shopifyWebhookId(),
    scope: (event: WebhookEvent) => [
      'shopify',
      pathOf(event),
      headerText(event, 'x-shopify-shop-domain') ?? '',
      headerText(event, 'x-shopify-topic') ?? '',
    ],
  })
}

/** The `update_id` of a Telegram bot, out of the body. It counts per bot. */
export function telegramUpdateId(): KeySelector<WebhookEvent> {
  return (event) => {
    const { update_id: id } = fieldsOf(parsedBody(event))
    return typeof id === 'number' || typeof id === 'bigint' ? id : undefined
  }
}

/**
 * Telegram: the update's id, per bot.
 *
 * @param options - `bot`: which bot it is; nothing in a request says so
 * @throws InvalidOptionError when no bot is named
 */
export function telegramWebhook(options: { readonly bot: string }): Webhook {
  refuseUnknown('telegramWebhook', fieldsOf(options), ['bot'])
  const bot = nonEmpty(options?.bot)
  if (bot === undefined) {
    throw new InvalidOptionError(
      `telegramWebhook({ bot }) must name the bot, since update ids count per bot; got ${show(options?.bot)}.`,
    )
  }
  return Object.freeze({ keyFrom: telegramUpdateId(), scope: () => ['telegram', bot] })
}

function pathOf({ rawPath, path }: WebhookEvent): string {
  return rawPath ?? path ?? ''
}

function text(value: unknown): string {
  return nonEmpty(value) ?? ''
}
