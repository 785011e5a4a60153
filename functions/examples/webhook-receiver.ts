import { createHmac, timingSafeEqual } from 'node:crypto'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import { idempotentHttp, type OperationContext } from '../../lib/http/index.ts'
import type { Idempotency } from '../../lib/index.ts'
import { githubWebhook } from '../../lib/keys/index.ts'

/** What {@link webhookReceiver} works with. */
export interface WebhookReceiverOptions {
  /** With `relay: true`: somebody has to send what is committed. */
  readonly idempotency: Idempotency
  /** What GitHub signs with. */
  readonly secret: string
  /** Where the deliveries are worked on. */
  readonly queueUrl: string
}

type WebhookReceiver = middy.MiddyfiedHandler<
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Error,
  Context & OperationContext
>

/**
 * Takes GitHub's webhooks and answers at once. That a delivery was taken and the message that follows from it are one
 * transaction: no answer without a message, no second message for a redelivery.
 */
export function webhookReceiver({ idempotency, secret, queueUrl }: WebhookReceiverOptions): WebhookReceiver {
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(signedBy(secret)) // in front of the claim: a stranger must not use up ids
    .use(idempotentHttp({ idempotency, ...githubWebhook() }))
    .handler(async ({ body = '', headers }, { operation }) =>
      operation.commit(
        { statusCode: 202 },
        { messages: [{ to: { queueUrl }, body: { event: headers['x-github-event'], payload: JSON.parse(body) } }] },
      ),
    )
}

/** Answers 401 to a body that is not signed, as `X-Hub-Signature-256` has it. */
function signedBy(secret: string): middy.MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> {
  return {
    before: ({ event: { body = '', headers, isBase64Encoded } }) => {
      const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
      const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`)
      const given = Buffer.from(headers['x-hub-signature-256'] ?? '')
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { statusCode: 401 }
      return undefined
    },
  }
}
