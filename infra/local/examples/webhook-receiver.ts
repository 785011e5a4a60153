import { createHmac } from 'node:crypto'
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { webhookReceiver } from '../../../functions/examples/webhook-receiver.ts'
import { createIdempotency } from '../../../lib/index.ts'
import type { OutgoingMessage } from '../../../lib/outbox/index.ts'
import { reconciler } from '../../../lib/reconciler/index.ts'
import { httpApiEvent, lambdaContext } from '../../../lib/testing/index.ts'
import type { Stage } from './stage.ts'

const SECRET = 'shared-with-github'
/** A reconciler sends what the relay has not sent by then. */
const OVERDUE_MS = 6 * 60_000

/** GitHub delivers twice, a stranger tries, and the message goes out once. */
export async function playWebhookReceiver({ store, clock, scene, saw }: Stage): Promise<void> {
  const idempotency = createIdempotency({ store, clock, namespace: 'github', relay: true, reconcilerShards: 1 })
  const handler = webhookReceiver({ idempotency, secret: SECRET, queueUrl: 'https://sqs.example/1/pushes' })
  const deliver = async (delivery: string, payload: object, secret = SECRET) => {
    const body = JSON.stringify(payload)
    const headers = {
      'X-GitHub-Delivery': delivery,
      'X-GitHub-Event': 'push',
      'X-GitHub-Hook-ID': '1',
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    }
    const event = httpApiEvent({ path: '/hooks', key: null, principal: null, headers, body })
    return (await handler(event, lambdaContext({ clock }) as never)) as APIGatewayProxyStructuredResultV2
  }
  const sent: OutgoingMessage[] = []
  const sender = {
    send: async (messages: readonly OutgoingMessage[]) => {
      sent.push(...messages)
      return messages.map(() => ({ kind: 'sent' as const }))
    },
  }

  scene('A stranger sends a delivery that is not signed.')
  const stranger = await deliver('delivery-1', { ref: 'main' }, 'guessed')
  saw(`${stranger.statusCode}`, stranger.statusCode === 401)

  scene('GitHub sends a push, and somebody presses "Redeliver".')
  const first = await deliver('delivery-1', { ref: 'main' })
  const second = await deliver('delivery-1', { ref: 'main' })
  saw(`${first.statusCode}, then ${second.statusCode}`, first.statusCode === 202 && second.statusCode === 202)

  scene('The same delivery id with another body.')
  const other = await deliver('delivery-1', { ref: 'other' })
  saw(`${other.statusCode}`, other.statusCode === 422)

  scene('Deployed, the relay sends the message within a second. Here nobody has; the reconciler finds it.')
  clock.advance(OVERDUE_MS)
  const reconcile = reconciler({ idempotency, sender })
  await reconcile({}, lambdaContext({ clock }))
  await reconcile({}, lambdaContext({ clock }))
  saw(`messages for the queue: ${sent.length}: ${sent[0]?.text}`, sent.length === 1)
}
