import { describe, expect, test } from 'vitest'
import { audit, type Evidence, type PlacedOrder } from '../../infra/local/job/audit.ts'
import { planOrders } from '../../infra/local/job/plan.ts'
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
const good: Evidence = {
  placed,
  rowOrderIds: ['o0', 'o1', 'o2'],
  provider: { calls: 5, effects: 3, effectsByOrder: { o0: 1, o1: 1, o2: 1 } },
  deadLetterBodies: [POISON],
  poisonBody: POISON,
}
const effects = (effectsByOrder: Record<string, number>) => ({ provider: { ...good.provider, effectsByOrder } })

test('a run with one row and one charge per order and the poison in the dead-letter queue is good', () => {
  expect(audit(good)).toEqual({
    duplicateRows: 0,
    duplicateCharges: 0,
    lostRows: 0,
    lostCharges: 0,
    poisonInDeadLetterQueue: true,
    otherDeadLetters: 0,
    problems: [],
  })
})

describe('a run is bad', () => {
  test.each<[string, Partial<Evidence>, object]>([
    ['with a row nobody was told of', { rowOrderIds: ['o0', 'o1', 'o2', 'o3'] }, { duplicateRows: 1 }],
    ['without the row of an order', { rowOrderIds: ['o0', 'o2'] }, { lostRows: 1 }],
    ['with a second charge', effects({ o0: 1, o1: 3, o2: 1 }), { duplicateCharges: 2 }],
    ['with a charge for an unknown order', effects({ o0: 1, o1: 1, o2: 1, o9: 1 }), { duplicateCharges: 1 }],
    ['without a charge', effects({ o0: 1, o2: 1 }), { lostCharges: 1 }],
    ['with a duplicate that makes up for a loss', effects({ o0: 2, o2: 1 }), { duplicateCharges: 1, lostCharges: 1 }],
    ['when the poison has vanished', { deadLetterBodies: [] }, { poisonInDeadLetterQueue: false }],
    ['when a good message is dead', { deadLetterBodies: [POISON, '{"orderId":"o1"}'] }, { otherDeadLetters: 1 }],
    [
      'when two orders were told of one row',
      { placed: [placed[0]!, { order: orders[1]!, copies: [answer(1, { body: answer(0).body })] }, placed[2]!] },
      { lostRows: 1, duplicateRows: 1 },
    ],
    [
      'when a client was left without an answer',
      { placed: [placed[0]!, placed[1]!, { order: orders[2]!, copies: [answer(2), answer(2, { status: 0 })] }] },
      { lostRows: 0 },
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

describe('the plan', () => {
  const plan = planOrders(200, seededRandom(7))

  test('is the same for the same seed', () => {
    expect(planOrders(200, seededRandom(7))).toEqual(plan)
    expect(planOrders(200, seededRandom(8))).not.toEqual(plan)
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
