import type { ProviderStats } from '../payment-provider/server.ts'
import type { FinalAnswer } from './client.ts'
import type { PlannedOrder } from './plan.ts'
import { leftToDo, type RecordsSeen, type StoredItem } from './records.ts'

/** An order with what its clients were told. */
export interface PlacedOrder {
  readonly order: PlannedOrder
  /** The final answer of every copy that was posted as meant. */
  readonly copies: readonly FinalAnswer[]
}

/** What is in the books after the run. */
export interface Evidence {
  readonly placed: readonly PlacedOrder[]
  readonly orderRows: readonly StoredItem[]
  readonly ledgerRows: readonly StoredItem[]
  readonly balanceRows: readonly StoredItem[]
  readonly records: RecordsSeen
  readonly provider: Pick<ProviderStats, 'effectsByOrder'>
  readonly deadLetterBodies: readonly string[]
  readonly poisonBody: string
}

/** How often something is there too often, or not at all. */
export interface Counted {
  readonly duplicates: number
  readonly losses: number
}

/** The verdict of the run. */
export interface Findings {
  readonly rows: Counted
  readonly charges: Counted
  readonly entries: Counted
  readonly receipts: Counted
  /** Orders that are not marked as paid. */
  readonly unpaid: number
  /** Accounts whose balance is not the sum of their charges. */
  readonly wrongBalances: number
  /** Orders whose only client gave up before anything had begun: there is nothing of them, as there should be. */
  readonly neverBegun: number
  readonly poisonInDeadLetterQueue: boolean
  readonly otherDeadLetters: number
  /** Everything that must not be, in words. Empty: the run is good. */
  readonly problems: readonly string[]
}

/** Compares what is in the books with what was ordered. */
export function audit(evidence: Evidence): Findings {
  const { placed, orderRows, ledgerRows, records, provider, deadLetterBodies, poisonBody } = evidence
  const problems: string[] = []
  const rowOf = new Map(orderRows.map((row) => [String(row.orderId), row]))
  const meant = placed.map((one) => ({ one, orderId: orderIdOf(one, orderRows, problems) }))
  const begun = meant.filter(({ one, orderId }) => orderId !== undefined || !one.order.abandons)
  const ordered = new Set(begun.map(({ orderId }) => orderId).filter((orderId) => orderId !== undefined))

  /** Counts what belongs to orders: more than one of an order, or one of none, is a duplicate. */
  const compare = (perOrder: ReadonlyMap<string, number>): Counted => ({
    duplicates: [...perOrder].reduce((sum, [id, count]) => sum + (ordered.has(id) ? count - 1 : count), 0),
    losses: begun.length - [...ordered].filter((id) => (perOrder.get(id) ?? 0) > 0).length,
  })
  const { confirmedReceipts, destinationReceipts } = records
  const receiptsOfEach = [...confirmedReceipts, ...destinationReceipts.filter((count) => count > 1)]
  const findings = {
    rows: compare(countedBy(orderRows, 'orderId')),
    charges: compare(new Map(Object.entries(provider.effectsByOrder))),
    entries: compare(countedBy(ledgerRows, 'orderId')),
    receipts: {
      duplicates:
        receiptsOfEach.reduce((sum, count) => sum + Math.max(0, count - 1), 0) +
        Math.max(0, confirmedReceipts.length - begun.length),
      losses: Math.max(0, begun.length - confirmedReceipts.filter((count) => count > 0).length),
    },
    unpaid: [...ordered].filter((id) => rowOf.get(id)?.status !== 'paid').length,
    wrongBalances: wrongBalances(evidence, ordered),
    neverBegun: placed.length - begun.length,
    poisonInDeadLetterQueue: deadLetterBodies.includes(poisonBody),
    otherDeadLetters: deadLetterBodies.filter((body) => body !== poisonBody).length,
  }
  const found: string[] = []
  const count = (number: number, what: string): void => {
    if (number > 0) found.push(`${number} ${what}`)
  }
  count(findings.rows.duplicates, 'order rows too many')
  count(findings.charges.duplicates, 'charges too many')
  count(findings.entries.duplicates, 'ledger entries too many')
  count(findings.receipts.duplicates, 'receipts too many')
  count(findings.rows.losses, 'orders without a row of their own')
  count(findings.charges.losses, 'orders without a charge')
  count(findings.entries.losses, 'orders without a ledger entry')
  count(findings.receipts.losses, 'orders without a receipt')
  count(findings.unpaid, 'orders that are not marked as paid')
  count(findings.wrongBalances, 'accounts whose balance is not the sum of their charges')
  // An abandoned order without a row must be one that nobody has ever begun.
  const completed = records.completed.get('orders') ?? 0
  count(Math.abs(completed - rowOf.size), 'order rows differ from the operations that were completed')
  for (const [namespace, failed] of records.failed) count(failed, `operations of ${namespace} failed for good`)
  for (const what of leftToDo(records)) found.push(`left undone: ${what}`)
  count(findings.otherDeadLetters, 'good messages in dead-letter queues')
  if (!findings.poisonInDeadLetterQueue) found.push('the poisoned message is not in the dead-letter queue')
  return { ...findings, problems: [...found, ...problems] }
}

/** The order id all copies of an order agree on; that of an abandoned order is found by its customer, who has no other. */
function orderIdOf(
  { order, copies }: PlacedOrder,
  orderRows: Evidence['orderRows'],
  problems: string[],
): string | undefined {
  const created = copies.filter(({ status }) => status === 201)
  for (const { status, body } of copies) {
    if (status === 201 || order.abandons) continue
    problems.push(`order ${order.index}: a client was left with ${status || 'no answer'}: ${body}`)
  }
  const bodies = new Set(created.map(({ body }) => body))
  if (bodies.size > 1) problems.push(`order ${order.index}: its clients were told different things`)
  const [first] = created
  if (first === undefined) {
    const row = order.abandons && orderRows.find(({ customerId }) => customerId === order.body.customerId)
    return row ? String(row.orderId) : undefined
  }
  const { orderId, totalCents } = JSON.parse(first.body) as { orderId?: unknown; totalCents?: unknown }
  if (totalCents !== order.totalCents)
    problems.push(`order ${order.index}: total ${totalCents}, not ${order.totalCents}`)
  return typeof orderId === 'string' ? orderId : undefined
}

function wrongBalances({ orderRows, balanceRows }: Evidence, ordered: ReadonlySet<string>): number {
  const expected = new Map<string, number>()
  for (const { orderId, customerId, currency, totalCents } of orderRows) {
    const account = `${String(customerId)}:${String(currency)}`
    if (ordered.has(String(orderId))) expected.set(account, (expected.get(account) ?? 0) + Number(totalCents))
  }
  const balances = new Map(balanceRows.map(({ account, balanceCents }) => [String(account), balanceCents]))
  const accounts = new Set([...expected.keys(), ...balances.keys()])
  return [...accounts].filter((account) => expected.get(account) !== balances.get(account)).length
}

function countedBy(rows: readonly StoredItem[], attribute: string): ReadonlyMap<string, number> {
  const groups = Map.groupBy(rows, (row) => String(row[attribute]))
  return new Map([...groups].map(([value, group]) => [value, group.length]))
}
