import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { type ChargeRequest, paymentsApi } from '../../../functions/examples/payments-api.ts'
import { createIdempotency } from '../../../lib/index.ts'
import { concurrently, httpApiEvent, lambdaContext } from '../../../lib/testing/index.ts'
import type { Stage } from './stage.ts'

/** A checkout whose client presses the button too often. */
export async function playPaymentsApi({ store, clock, scene, saw }: Stage): Promise<void> {
  const charges = new Map<string, { readonly id: string }>()
  let crashesLeft = 0
  const handler = paymentsApi({
    idempotency: createIdempotency({ store, clock, namespace: 'charges' }),
    async charge({ card }: ChargeRequest, idempotencyKey) {
      if (card === 'card_empty') return { declined: 'The card has no money on it.' }
      const charge = charges.get(idempotencyKey) ?? { id: `ch_${charges.size + 1}` }
      charges.set(idempotencyKey, charge)
      if (crashesLeft > 0) {
        crashesLeft -= 1
        throw new Error('The connection was lost after the charge.')
      }
      return charge
    },
  })
  const pay = async (key: string, body: object) =>
    (await handler(
      httpApiEvent({ path: '/v1/charges', key, body }),
      // Middy's type asks for what its own middleware adds.
      lambdaContext({ clock }) as never,
    )) as APIGatewayProxyStructuredResultV2
  const said = ({ statusCode, headers, body }: APIGatewayProxyStructuredResultV2) =>
    `${statusCode}${headers?.['Idempotent-Replayed'] ? ' (replayed)' : ''} ${body}`
  const order = { amountCents: 1_999, currency: 'EUR', card: 'card_1' }

  scene('A client pays, and sends the same request again.')
  const first = await pay('order-1', order)
  const second = await pay('order-1', order)
  saw(said(first), first.statusCode === 200)
  saw(said(second), second.body === first.body && charges.size === 1)

  scene('Five requests under one key at the same moment.')
  const { values } = await concurrently(5, () => pay('order-2', order))
  const statuses = values.map(({ statusCode }) => statusCode).sort()
  saw(`answers: ${statuses.join(', ')}; charges: ${charges.size}`, statuses[0] === 200 && charges.size === 2)

  scene('The same key with another amount.')
  const other = await pay('order-1', { ...order, amountCents: 1 })
  saw(said(other), other.statusCode === 422 && charges.size === 2)

  scene('The connection to the card network is lost after it has charged; the client tries again.')
  crashesLeft = 1
  const lost = await pay('order-3', order)
  const again = await pay('order-3', order)
  saw(`${said(lost)}`, lost.statusCode === 503)
  saw(`${said(again)}; charges: ${charges.size}`, again.statusCode === 200 && charges.size === 3)

  scene('A card without money, twice: the first answer stands.')
  const declined = await pay('order-4', { ...order, card: 'card_empty' })
  const declinedAgain = await pay('order-4', { ...order, card: 'card_empty' })
  saw(said(declined), declined.statusCode === 402)
  saw(said(declinedAgain), declinedAgain.body === declined.body)

  scene('A request that is wrong, and the corrected one under the same key.')
  const wrong = await pay('order-5', { amountCents: -1 })
  const corrected = await pay('order-5', order)
  saw(said(wrong), wrong.statusCode === 400)
  saw(said(corrected), corrected.statusCode === 200 && charges.size === 4)
}
