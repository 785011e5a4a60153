import { type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { ProviderStats } from '../payment-provider/ledger.ts'
import type { FinalAnswer } from './client.ts'
import type { PlannedOrder } from './plan.ts'

/** An order with what its clients were told. */
export interface PlacedOrder {
  readonly order: PlannedOrder
  /** The final answer of every copy that was posted as meant. */
  readonly copies: readonly FinalAnswer[]
}

/** What is in the books after the run. */
export interface Evidence {
  readonly placed: readonly PlacedOrder[]
  readonly rowOrderIds: readonly string[]
  readonly provider: ProviderStats
  readonly deadLetterBodies: readonly string[]
  readonly poisonBody: string
}

/** The verdict of the run. */
export interface Findings {
  readonly duplicateRows: number
  readonly duplicateCharges: number
  readonly lostRows: number
  readonly lostCharges: number
  readonly poisonInDeadLetterQueue: boolean
  readonly otherDeadLetters: number
  /** Everything that must not be, in words. Empty: the run is good. */
  readonly problems: readonly string[]
}

/** Compares what is in the books with what was ordered. */
export function audit(evidence: Evidence): Findings {
  const { placed, provider, deadLetterBodies, poisonBody } = evidence
  const problems: string[] = []
  const perOrder: string[] = []
  const told = placed.map((one) => tellOrderId(one, perOrder))
  const ordered = new Set(told.filter((orderId) => orderId !== undefined))
  const rows = new Set(evidence.rowOrderIds)
  const effects = Object.entries(provider.effectsByOrder)
  const findings = {
    // A row nobody was told of is a second row of some order; so is one row told to two orders short of one.
    duplicateRows: [...rows].filter((orderId) => !ordered.has(orderId)).length,
    duplicateCharges: effects.reduce((sum, [id, count]) => sum + (ordered.has(id) ? count - 1 : count), 0),
    lostRows: placed.length - [...ordered].filter((orderId) => rows.has(orderId)).length,
    lostCharges: placed.length - [...ordered].filter((orderId) => (provider.effectsByOrder[orderId] ?? 0) > 0).length,
    poisonInDeadLetterQueue: deadLetterBodies.includes(poisonBody),
    otherDeadLetters: deadLetterBodies.filter((body) => body !== poisonBody).length,
  }
  const count = (number: number, what: string): void => {
    if (number > 0) problems.push(`${number} ${what}`)
  }
  count(findings.duplicateRows, 'order rows too many')
  count(findings.duplicateCharges, 'charges too many')
  count(findings.lostRows, 'orders without a row of their own')
  count(findings.lostCharges, 'orders without a charge')
  count(findings.otherDeadLetters, 'good messages in the dead-letter queue')
  if (!findings.poisonInDeadLetterQueue) problems.push('the poisoned message is not in the dead-letter queue')
  return { ...findings, problems: [...problems, ...perOrder] }
}

/** The order id all copies of an order agree on. */
function tellOrderId({ order, copies }: PlacedOrder, problems: string[]): string | undefined {
  const created = copies.filter(({ status }) => status === 201)
  for (const { status, body } of copies) {
    if (status !== 201) problems.push(`order ${order.index}: a client was left with ${status || 'no answer'}: ${body}`)
  }
  const bodies = new Set(created.map(({ body }) => body))
  if (bodies.size > 1) problems.push(`order ${order.index}: its clients were told different things`)
  const [first] = created
  if (first === undefined) return undefined
  const { orderId, totalCents } = JSON.parse(first.body) as { orderId?: unknown; totalCents?: unknown }
  if (totalCents !== order.totalCents)
    problems.push(`order ${order.index}: total ${totalCents}, not ${order.totalCents}`)
  return typeof orderId === 'string' ? orderId : undefined
}

/** The bodies of all messages of a queue; it is left empty-looking for the queue's visibility. */
export async function drainBodies(client: SQSClient, queueUrl: string): Promise<string[]> {
  const bodies: string[] = []
  for (;;) {
    const command = new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 600 })
    const { Messages = [] } = await client.send(command)
    if (Messages.length === 0) return bodies
    bodies.push(...Messages.map(({ Body = '' }: Message) => Body))
  }
}
