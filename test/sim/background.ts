import type { Context } from 'aws-lambda'
import type { OperationRecord } from '../../lib/index.ts'
import type { Order } from './recipes.ts'
import type { OutboxItem, World } from './world.ts'

/** The relay: sends every item of the outbox and marks it, as the table's stream delivers them, again until it works. */
export function startRelay(world: World): { readonly pending: number } {
  const { scheduler, chance, table, subject, plan } = world
  let pending = 0

  function relay(item: OutboxItem): void {
    const { process, actor } = world.spawn('relay')
    let isOver = false
    const again = () => {
      if (isOver) return
      isOver = true
      pending--
      // What the stream has lost is left to the reconciler.
      const isLost = world.isStormy && plan.reconcilerShards > 0 && chance.happens(0.3)
      if (!isLost) later(item)
    }
    process.onDeath(again)
    const store = table.storeFor(actor)
    store
      .listBeside(item.id, item.sk)
      .then(([found]) =>
        found === undefined
          ? { kind: 'overtaken' as const }
          : subject.dispatchOne(
              store,
              world.sender(process),
              { ...found, id: item.id },
              {
                clock: process.clock,
                codec: world.codecsFor(process),
              },
            ),
      )
      .then(
        ({ kind }) => {
          process.end()
          if (kind === 'failed') return again()
          isOver = true
          pending--
        },
        () => {
          process.end()
          again()
        },
      )
  }

  function later(item: OutboxItem): void {
    pending++
    scheduler.after(chance.between(5, 3_000), () => relay(item))
  }

  world.onOutboxed((item) => {
    const isLost = world.isStormy && plan.reconcilerShards > 0 && chance.happens(0.1)
    if (!isLost) later(item)
  })
  return {
    get pending() {
      return pending
    },
  }
}

/** What a record was asked for with. */
export type OrderOf = (record: OperationRecord) => Order | undefined

/** The reconciler's schedule. Sometimes two run at once. */
export function startReconciler(world: World, orderOf: OrderOf): void {
  const { scheduler, chance, subject, plan } = world
  if (plan.reconcilerShards === 0) return

  function reconcile(): void {
    const { process, idempotency, context } = world.spawn('reconciler', 60_000)
    const handler = subject.reconciler({
      idempotency,
      sender: world.sender(process),
      ...(plan.canRecover && {
        recover: (operation, { record }) => {
          const order = orderOf(record)
          return order === undefined ? undefined : world.work(process, operation, order)
        },
      }),
    })
    handler(undefined, context as Context).then(
      () => process.end(),
      () => process.end(),
    )
  }

  function tick(): void {
    reconcile()
    if (world.isStormy && chance.happens(0.3)) reconcile()
    scheduler.after(world.isStormy ? chance.between(5_000, 60_000) : 60_000, tick)
  }
  scheduler.after(chance.between(1_000, 60_000), tick)
}

/** DynamoDB's TTL: it deletes what has expired, when it likes. */
export function startExpiry(world: World): void {
  const { scheduler, chance, table, plan } = world
  if (plan.retentionSeconds >= 86_400 && plan.shell !== 'admission') return
  function tick(): void {
    table.expire(scheduler.nowMs, () => chance.happens(0.5))
    scheduler.after(chance.between(100, 20_000), tick)
  }
  scheduler.after(chance.between(1, 20_000), tick)
}

/** A webhook that brings an operation what it waits for, again until that is stored. */
export function startSignals(world: World, order: Order): { readonly isDone: boolean } {
  const { scheduler, chance, plan } = world
  if (plan.recipe !== 'wait') return { isDone: true }
  let isDone = false
  const later = (ms: number) => scheduler.after(ms, () => !isDone && signal())

  function signal(): void {
    const { process, idempotency } = world.spawn('signaller')
    const retry = () => later(chance.between(500, 10_000))
    process.onDeath(retry)
    idempotency.signal({ key: order.key, scope: order.scope }, 'approved', { id: 'webhook-1' }).then(
      (result) => {
        process.end()
        world.say(`${process.name}: the signal is ${result}`)
        isDone = result !== 'not-found'
        if (!isDone) retry()
      },
      () => {
        process.end()
        retry()
      },
    )
  }
  later(chance.between(1, 40_000))
  return {
    get isDone() {
      return isDone
    },
  }
}

/** An operator who settles, by what has really happened, what no machine may decide. Comes when the storm is over. */
export function startOperator(world: World, orderOf: OrderOf): void {
  const { scheduler, table, judge, plan, network } = world
  if (!plan.hasOperator) return

  function settle(): void {
    for (const record of table.memory.records()) {
      const { status, takeover, leaseUntil = 0 } = record
      const isLeft = status === 'IN_PROGRESS' && takeover === 'never' && leaseUntil + 5_000 < scheduler.nowMs
      const order = orderOf(record)
      const { era, effects, inside } = judge.truthOf(record.id)
      // What is still on its way would arrive after the operator has looked.
      if (!(status === 'UNKNOWN' || isLeft) || order === undefined || network.underway > 0 || inside.size > 0) continue
      const hasHappened = effects.some((effect) => effect.era === era && ['mail', 'charge'].includes(effect.step))
      const isOneEffect = ['stop', 'probe', 'horizon'].includes(plan.recipe)
      const { process, idempotency } = world.spawn('operator')
      const { key, scope } = order
      const settlement =
        hasHappened && isOneEffect ? { value: { ...order, text: 'settled' } } : { rerun: true as const }
      const end = () => process.end()
      idempotency.settle({ key, scope }, settlement).then(end, end)
    }
  }

  function tick(): void {
    if (!world.isStormy) settle()
    scheduler.after(30_000, tick)
  }
  scheduler.after(plan.faultsUntilMs - scheduler.nowMs + 30_000, tick)
}
