import { fingerprintOf, fingerprintValue } from '../../lib/record/fingerprint.ts'
import { operationId } from '../../lib/record/identity.ts'
import { startAdmission } from './admission.ts'
import { type OrderOf, startExpiry, startOperator, startReconciler, startRelay, startSignals } from './background.ts'
import { type Asker, type Names, startClient } from './client.ts'
import { judgeEnd, judgeStuck } from './end-rules.ts'
import type { LookLog } from './looks.ts'
import type { Plan } from './plan.ts'
import { type Queue, startQueue } from './queue.ts'
import type { Order } from './recipes.ts'
import type { Subject } from './subject.ts'
import type { Truth, Violation } from './truth.ts'
import { createWorld, NAMESPACE, type Run, type World } from './world.ts'

/** What one schedule came to. */
export interface Result {
  readonly seed: number
  readonly plan: Plan
  readonly violation: Violation | undefined
  /** Calls that something was done to, kills and freezes not counted. */
  readonly faults: number
  /** Scheduling points. */
  readonly happenings: number
  /** Times that two executions ran at once: only clocks beyond the margin may bring that about. */
  readonly overlaps: number
  /** What became of claims that were likely to be refused. */
  readonly looks: LookLog['looks']
}

/** How long after the storm everything has to be done, in ms of virtual time: a reconciler takes its time with what fails. */
const CALM_MS = 72 * 3_600_000

/** Runs one schedule to its end. The same seed does exactly the same again. */
export async function simulate(subject: Subject, run: Run): Promise<Result> {
  const world = createWorld(subject, run)
  const { plan, scheduler, judge } = world
  world.say(JSON.stringify(plan))
  const orders = drawOrders(world)
  const names: Names = {
    idOf,
    isAlone: (order) => orders.every((other) => idOf(other) !== idOf(order) || other.tag === order.tag),
  }
  const queue = startQueue(world, names)
  const askers = orders.flatMap((order) =>
    Array.from({ length: world.chance.between(1, 3) }, () => ask(world, order, names, queue)),
  )
  const relay = startRelay(world)
  const orderOf: OrderOf = ({ id, fingerprint }) =>
    orders.find((order) => idOf(order) === id && fingerprintFor(plan, order) === fingerprint)
  startReconciler(world, orderOf)
  startExpiry(world)
  startOperator(world, orderOf)
  for (const order of orders) startSignals(world, order)

  // So that there is an end of the storm even when everybody is done before.
  scheduler.after(plan.faultsUntilMs - scheduler.nowMs, () => world.say('the storm is over'))
  const isOver = () =>
    judge.violation !== undefined || (!world.isStormy && isQuiet(world, askers, relay) && queue.isEmpty)
  const end = await scheduler.run(isOver, plan.faultsUntilMs + CALM_MS)
  if (judge.violation === undefined && end !== 'over') judgeStuck(world, askers)
  if (judge.violation === undefined) await judgeEnd(world)
  return {
    seed: run.seed,
    plan,
    violation: judge.violation,
    faults: world.network.faults,
    happenings: scheduler.count,
    overlaps: judge.overlaps,
    looks: world.looks,
  }
}

function ask(world: World, order: Order, names: Names, queue: Queue): Asker {
  switch (world.plan.shell) {
    case 'queue':
      return queue.send(order)
    case 'client':
      return startClient(world, order, names)
    case 'admission':
      return startAdmission(world, order, names)
  }
}

function drawOrders({ plan, chance }: World): readonly Order[] {
  return Array.from({ length: plan.operations }, (_, index) => ({
    key: chance.happens(0.2) ? 'k0' : `k${index}`,
    scope: chance.happens(0.5) ? 'tenant-a' : 'tenant-b',
    tag: chance.happens(0.1) ? 'another' : 'one',
  }))
}

function idOf({ key, scope }: Order): string {
  return operationId(NAMESPACE, [scope], key)
}

/** As the shells make them. */
function fingerprintFor({ shell }: Plan, order: Order): string {
  return shell === 'queue' ? fingerprintOf(JSON.stringify(order)) : fingerprintValue(order.tag)
}

function isQuiet(world: World, askers: readonly Asker[], relay: { readonly pending: number }): boolean {
  const { alive, network, judge, committedMessages, downstream } = world
  return (
    alive === 0 &&
    network.underway === 0 &&
    relay.pending === 0 &&
    askers.every(({ isDone }) => isDone) &&
    judge.truths.every((truth) => truth.isDeleted || world.unprotected.wasRun(truth.id) || !isUnfinished(truth)) &&
    [...committedMessages].every((id) => downstream.has(id))
  )
}

/** What a late duplicate has begun anew after the expiry, and nobody asks for any more, may lie there. */
function isUnfinished({ last, era, wasSuspended }: Truth): boolean {
  const isNobodys = (era > 0 && !wasSuspended) || last?.isAdmission === true
  return last !== undefined && !isNobodys && ['IN_PROGRESS', 'WAITING', 'RETRYABLE'].includes(last.status)
}
