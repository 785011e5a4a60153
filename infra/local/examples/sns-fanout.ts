import { type OrderPlaced, subscriber } from '../../../functions/examples/sns-fanout.ts'
import { createIdempotency } from '../../../lib/index.ts'
import { lambdaContext, snsEvent } from '../../../lib/testing/index.ts'
import type { Stage } from './stage.ts'

/** One topic, two functions, and a delivery that comes twice. */
export async function playSnsFanout({ store, clock, scene, saw }: Stage): Promise<void> {
  const effects: string[] = []
  let billingFails = false
  const subscribed = (namespace: string, part: string) =>
    subscriber({
      idempotency: createIdempotency({ store, clock, namespace }),
      async act({ orderId }: OrderPlaced) {
        if (part === 'invoice' && billingFails) throw new Error('The invoice service is down.')
        effects.push(`${part} for ${orderId}`)
      },
    })
  const billing = subscribed('billing', 'invoice')
  const loyalty = subscribed('loyalty', 'points')
  const deliver = async (event: ReturnType<typeof snsEvent>) => {
    const ends = await Promise.allSettled([billing, loyalty].map((each) => each(event, lambdaContext({ clock }))))
    return ends.map(({ status }) => (status === 'fulfilled' ? 'done' : 'comes again')).join(', ')
  }

  scene('An order is published; SNS delivers it twice to both functions.')
  const order = snsEvent({ message: { orderId: 'order-1', cents: 4_200 } })
  await deliver(order)
  await deliver(order)
  saw(effects.join(', '), effects.length === 2)

  scene('The invoice service is down; Lambda delivers to both again.')
  billingFails = true
  const second = snsEvent({ message: { orderId: 'order-2', cents: 900 } })
  const down = await deliver(second)
  billingFails = false
  const up = await deliver(second)
  const ofSecond = effects.filter((effect) => effect.endsWith('order-2'))
  saw(`${down}; then ${up}; ${ofSecond.join(', ')}`, ofSecond.length === 2)

  scene('The publisher is not sure that it has published, and does it again under its own key.')
  const published = () => snsEvent({ message: { orderId: 'order-3', cents: 100 }, key: 'order-3' })
  await deliver(published())
  await deliver(published())
  const ofThird = effects.filter((effect) => effect.endsWith('order-3'))
  saw(ofThird.join(', '), ofThird.length === 2)
}
