import { TRIAL_SCOPE, trialFlow } from '../../../functions/examples/trial-flow.ts'
import { createIdempotency } from '../../../lib/index.ts'
import type { OutgoingMessage } from '../../../lib/outbox/index.ts'
import { reconciler } from '../../../lib/reconciler/index.ts'
import { lambdaContext, sqsEvent } from '../../../lib/testing/index.ts'
import type { Stage } from './stage.ts'

const HOUR_MS = 3_600_000
const QUEUE_URL = 'https://sqs.example/1/trials'

/** Two customers: one confirms on the second day, one never does. */
export async function playTrialFlow({ store, clock, scene, saw }: Stage): Promise<void> {
  const idempotency = createIdempotency({ store, clock, namespace: 'trials', relay: true, reconcilerShards: 1 })
  const done: string[] = []
  const keys = new Set<string>()
  const once = (what: string, key: string) => {
    if (!keys.has(key)) done.push(what)
    keys.add(key)
  }
  const handler = trialFlow({
    idempotency,
    clock,
    queueUrl: QUEUE_URL,
    mail: async (template, { customerId }, key) => once(`${template} to ${customerId}`, key),
    activate: async ({ customerId }, key) => once(`account of ${customerId}`, key),
  })
  const receive = (body: string, attributes: Readonly<Record<string, string>> = {}) =>
    handler(sqsEvent({ body, attributes }), lambdaContext({ clock }))
  /** The reconciler runs on its schedule, and what it sends to the queue is delivered. */
  const reconcile = reconciler({
    idempotency,
    sender: {
      send: async (messages: readonly OutgoingMessage[]) => {
        for (const { text, attributes } of messages) await receive(text, attributes)
        return messages.map(() => ({ kind: 'sent' as const }))
      },
    },
  })
  const pass = async (hours: number) => {
    for (let hour = 0; hour < hours; hour++) {
      clock.advance(HOUR_MS)
      await reconcile({}, lambdaContext({ clock }))
    }
  }
  const saidOf = (customerId: string) => done.filter((what) => what.endsWith(customerId)).join(', ')

  scene('Ada and Bob begin a trial. Ada’s message comes twice.')
  await receive(JSON.stringify({ customerId: 'ada' }))
  await receive(JSON.stringify({ customerId: 'ada' }))
  await receive(JSON.stringify({ customerId: 'bob' }))
  saw(done.join(', '), done.length === 2)

  scene('On the second day Ada confirms, twice.')
  await pass(30)
  const signal = () => idempotency.signal({ key: 'ada', scope: TRIAL_SCOPE }, { plan: 'year' }, { id: 'click-1' })
  const [first, second] = [await signal(), await signal()]
  await pass(1)
  saw(`signals: ${first}, ${second}; ${saidOf('ada')}`, saidOf('ada') === 'welcome to ada, account of ada')

  scene('Bob never answers. The week goes by; the function was never paid for waiting.')
  await pass(24 * 3)
  saw(`after four days: ${saidOf('bob')}`, saidOf('bob') === 'welcome to bob, reminder to bob')
  await pass(24 * 4)
  saw(`after eight: ${saidOf('bob')}`, saidOf('bob') === 'welcome to bob, reminder to bob, goodbye to bob')

  scene('Both messages are redriven by mistake.')
  await receive(JSON.stringify({ customerId: 'ada' }))
  await receive(JSON.stringify({ customerId: 'bob' }))
  saw(`mails and accounts: ${done.length}`, done.length === 5)
}
