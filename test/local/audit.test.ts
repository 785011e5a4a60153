import { describe, expect, test } from 'vitest'
import { audit, type Evidence, type PlacedOrder } from '../../infra/local/job/audit.ts'
import { planOrders } from '../../infra/local/job/plan.ts'
import { leftToDo, type RecordsSeen, readRecords } from '../../infra/local/job/records.ts'
import { seededRandom } from '../../infra/local/seeded-random.ts'

const POISON = '{"broken":'
const orders = planOrders(3, seededRandom(1))
const answer = (index: number, changes: object = {}) => ({
  status: 201,
  body: JSON.stringify({ orderId: `o${index}`, totalCents: orders[index]!.totalCents }),
  attempts: 1,
  ...changes,
})
const placed: PlacedOrder[] = orders.map((order) => ({ order, copies: [answer(order.index), answer(order.index)] }))
const rowOf = (index: number, changes: object = {}) => ({
  orderId: `o${index}`,
  customerId: 'c',
  currency: 'EUR',
  totalCents: orders[index]!.totalCents,
  status: 'paid',
  ...changes,
})
const entryOf = (index: number) => ({ account: 'c:EUR', sequence: index + 1, orderId: `o${index}` })
const sum = orders.reduce((total, { totalCents }) => total + totalCents, 0)
const records: RecordsSeen = {
  unfinished: new Map(),
  completed: new Map([['orders', 3]]),
  failed: new Map(),
  outbox: new Map([['dispatched', 3]]),
  confirmedReceipts: [1, 1, 1],
  destinationReceipts: [1, 1, 1],
  stepsResumed: 0,
}
const good: Evidence = {
  placed,
  orderRows: [rowOf(0), rowOf(1), rowOf(2)],
  ledgerRows: [entryOf(0), entryOf(1), entryOf(2)],
  balanceRows: [{ account: 'c:EUR', balanceCents: sum }],
  records,
  provider: { effectsByOrder: { o0: 1, o1: 1, o2: 1 } },
  deadLetterBodies: [POISON],
  poisonBody: POISON,
}
const none = { duplicates: 0, losses: 0 }
const effects = (effectsByOrder: Record<string, number>) => ({ provider: { effectsByOrder } })
const seen = (changes: Partial<RecordsSeen>) => ({ records: { ...records, ...changes } })

test('a run with one of everything for each order and the poison in the dead-letter queue is good', () => {
  expect(audit(good)).toEqual({
    rows: none,
    charges: none,
    entries: none,
    receipts: none,
    unpaid: 0,
    wrongBalances: 0,
    neverBegun: 0,
    poisonInDeadLetterQueue: true,
    otherDeadLetters: 0,
    problems: [],
  })
})

describe('a run is bad', () => {
  test.each<[string, Partial<Evidence>, object]>([
    [
      'with a row nobody was told of',
      { orderRows: [...good.orderRows, rowOf(0, { orderId: 'o9' })] },
      { rows: { duplicates: 1 } },
    ],
    ['without the row of an order', { orderRows: [rowOf(0), rowOf(2)] }, { rows: { losses: 1 } }],
    ['with a second charge', effects({ o0: 1, o1: 3, o2: 1 }), { charges: { duplicates: 2 } }],
    ['with a charge for an unknown order', effects({ o0: 1, o1: 1, o2: 1, o9: 1 }), { charges: { duplicates: 1 } }],
    ['without a charge', effects({ o0: 1, o2: 1 }), { charges: { losses: 1 } }],
    ['with a duplicate that makes up for a loss', effects({ o0: 2, o2: 1 }), { charges: { duplicates: 1, losses: 1 } }],
    ['with a second ledger entry', { ledgerRows: [...good.ledgerRows, entryOf(1)] }, { entries: { duplicates: 1 } }],
    ['without a ledger entry', { ledgerRows: [entryOf(0), entryOf(1)] }, { entries: { losses: 1 } }],
    ['with two receipts of one payment', seen({ confirmedReceipts: [1, 2, 1] }), { receipts: { duplicates: 1 } }],
    ['without the receipt of a payment', seen({ confirmedReceipts: [1, 0, 1] }), { receipts: { losses: 1 } }],
    ['with two receipts of the provider', seen({ destinationReceipts: [1, 1, 2] }), { receipts: { duplicates: 1 } }],
    [
      'with an order that is not paid',
      { orderRows: [rowOf(0), rowOf(1), rowOf(2, { status: 'pending' })] },
      { unpaid: 1 },
    ],
    ['with a wrong balance', { balanceRows: [{ account: 'c:EUR', balanceCents: sum - 1 }] }, { wrongBalances: 1 }],
    ['without a balance', { balanceRows: [] }, { wrongBalances: 1 }],
    ['with an operation that has not ended', seen({ unfinished: new Map([['orders WAITING', 1]]) }), {}],
    ['with an operation that was completed and has no row', seen({ completed: new Map([['orders', 4]]) }), {}],
    ['with an operation that failed', seen({ failed: new Map([['payments', 1]]) }), {}],
    ['with a message that was not sent', seen({ outbox: new Map([['pending', 1]]) }), {}],
    ['when the poison has vanished', { deadLetterBodies: [] }, { poisonInDeadLetterQueue: false }],
    ['when a good message is dead', { deadLetterBodies: [POISON, '{"orderId":"o1"}'] }, { otherDeadLetters: 1 }],
    [
      'when two orders were told of one row',
      { placed: [placed[0]!, { order: orders[1]!, copies: [answer(1, { body: answer(0).body })] }, placed[2]!] },
      { rows: { losses: 1, duplicates: 1 } },
    ],
    [
      'when a client was left without an answer',
      { placed: [placed[0]!, placed[1]!, { order: orders[2]!, copies: [answer(2), answer(2, { status: 0 })] }] },
      { rows: none },
    ],
    [
      'when the clients of one order were told different things',
      { placed: [placed[0]!, placed[1]!, { order: orders[2]!, copies: [answer(2), answer(2, { body: '{}' })] }] },
      {},
    ],
  ])('%s', (_, changes, expected) => {
    const findings = audit({ ...good, ...changes })
    expect(findings).toMatchObject(expected)
    expect(findings.problems).not.toEqual([])
  })
})

describe('an abandoned order', () => {
  const abandoned = { ...orders[2]!, abandons: true, body: { ...orders[2]!.body, customerId: 'a' } }
  const left: PlacedOrder = { order: abandoned, copies: [answer(2, { status: 500, body: '' })] }
  const books = { ...good, placed: [placed[0]!, placed[1]!, left] }

  test('that was begun is an order like the others', () => {
    const findings = audit({
      ...books,
      orderRows: [rowOf(0), rowOf(1), rowOf(2, { customerId: 'a' })],
      balanceRows: [
        { account: 'c:EUR', balanceCents: sum - abandoned.totalCents },
        { account: 'a:EUR', balanceCents: abandoned.totalCents },
      ],
    })
    expect(findings).toMatchObject({ neverBegun: 0, rows: none, problems: [] })
  })

  test('that never began leaves nothing', () => {
    const findings = audit({
      ...books,
      orderRows: [rowOf(0), rowOf(1)],
      ledgerRows: [entryOf(0), entryOf(1)],
      balanceRows: [{ account: 'c:EUR', balanceCents: sum - abandoned.totalCents }],
      ...effects({ o0: 1, o1: 1 }),
      ...seen({
        completed: new Map([['orders', 2]]),
        confirmedReceipts: [1, 1],
        destinationReceipts: [1, 1],
      }),
    })
    expect(findings).toMatchObject({ neverBegun: 1, problems: [] })
  })

  test('of which only a charge is there is bad', () => {
    const findings = audit({
      ...books,
      orderRows: [rowOf(0), rowOf(1)],
      ledgerRows: [entryOf(0), entryOf(1)],
      balanceRows: [{ account: 'c:EUR', balanceCents: sum - abandoned.totalCents }],
    })
    expect(findings).toMatchObject({ charges: { duplicates: 1 } })
    expect(findings.problems).not.toEqual([])
  })
})

describe('the idempotency table', () => {
  const record = (pk: string, status: string, changes: object = {}) => ({ pk, sk: 'op', status, ...changes })

  test('tells what has not ended, what failed and what is to be sent', () => {
    const found = readRecords([
      record('orders#1', 'COMPLETED'),
      record('orders#2', 'IN_PROGRESS'),
      record('orders#3', 'IN_PROGRESS'),
      record('payments#1', 'WAITING'),
      record('payments#2', 'FAILED'),
      record('payments#3', 'RELEASED'),
      { pk: 'payments#1', sk: 'outbox#t#000', state: 'dispatched' },
      { pk: 'payments#1', sk: 'outbox#t#001', state: 'stuck' },
      { pk: 'part#1#0', sk: 'part' },
    ])
    expect(leftToDo(found)).toEqual([
      '2 × orders IN_PROGRESS',
      '1 × payments WAITING',
      '1 × message stuck in the outbox',
    ])
    expect(Object.fromEntries(found.completed)).toEqual({ orders: 1 })
    expect(Object.fromEntries(found.failed)).toEqual({ payments: 1 })
  })

  test('tells by the receipts of a payment how many attempts found it charged', () => {
    const receipt = (pk: string, kind: string, attempt: number) => ({
      pk,
      sk: `receipt#${kind}#${attempt}`,
      kind,
      attempt,
    })
    const found = readRecords([
      receipt('payments#1', 'destination', 1),
      receipt('payments#1', 'confirmed', 4),
      receipt('payments#2', 'destination', 2),
      receipt('payments#2', 'confirmed', 2),
      receipt('payments#3', 'destination', 1),
      receipt('others#1', 'confirmed', 9),
    ])
    expect(found).toMatchObject({ stepsResumed: 3, confirmedReceipts: [1, 1, 0], destinationReceipts: [1, 1, 1] })
  })
})

describe('the plan', () => {
  const plan = planOrders(200, seededRandom(7))

  test('is the same for the same seed', () => {
    expect(planOrders(200, seededRandom(7))).toEqual(plan)
    expect(planOrders(200, seededRandom(8))).not.toEqual(plan)
  })

  test('has several payments for most accounts, and abandoned orders of customers who have no other', () => {
    const abandoned = plan.filter(({ abandons }) => abandons)
    expect(abandoned.length).toBeGreaterThan(3)
    expect(abandoned.every(({ index, copyDelaysMs }) => index < 20 && copyDelaysMs.length === 1)).toBe(true)
    const customers = Map.groupBy(plan, ({ body }) => body.customerId)
    for (const { body } of abandoned) expect(customers.get(body.customerId)).toHaveLength(1)
    expect(customers.size).toBeLessThan(plan.length / 4)
  })

  test('posts every order one to five times, each count occurring', () => {
    expect([...new Set(plan.map(({ copyDelaysMs }) => copyDelaysMs.length))].sort()).toEqual([1, 2, 3, 4, 5])
  })

  test('has callers that share a key and a body, and no caller that uses a key twice', () => {
    const keys = Map.groupBy(plan, ({ key }) => key)
    const shared = [...keys.values()].filter((group) => group.length > 1)
    expect(shared.length).toBe(20)
    for (const [one, other] of shared) {
      expect(one!.principal).not.toBe(other!.principal)
      expect(one!.body).toEqual(other!.body)
    }
  })

  test('has posts that must be refused', () => {
    for (const kind of ['thenOtherBody', 'alsoWithoutKey', 'alsoWithoutToken'] as const) {
      expect(plan.some((order) => order[kind])).toBe(true)
    }
  })
})
