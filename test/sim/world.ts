import type { BesideItem, Idempotency, Operation, ValueCodec } from '../../lib/index.ts'
import type { OutgoingMessage, Sender, SendResult } from '../../lib/outbox/index.ts'
import { type Chance, chanceFrom } from './chance.ts'
import { statementFates } from './grouping.ts'
import { createJudge, type Judge } from './judge.ts'
import { createLookLog, type LookLog } from './looks.ts'
import { createNetwork, type Network } from './network.ts'
import { CLOCK_SKEW_MS, drawPlan, LEASE_SECONDS, type Plan, type SkewMode, START_MS } from './plan.ts'
import { createProcess, type Process } from './process.ts'
import { createProvider, type Provider } from './provider.ts'
import { type Answer, DOWNSTREAM_URL, KEY_VALID_SECONDS, type Order, RECIPES } from './recipes.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import type { Subject } from './subject.ts'
import { type Actor, createTable, type Table } from './table.ts'
import { createUnprotected, type Unprotected } from './unprotected.ts'
import { bulkOf, codecOverNetwork } from './values.ts'

export const NAMESPACE = 'sim'
export const QUEUE_URL = 'https://sqs.eu-central-1.amazonaws.com/111122223333/work'

/** Everything of one schedule. */
export interface World {
  readonly plan: Plan
  readonly chance: Chance
  readonly subject: Subject
  readonly scheduler: Scheduler
  readonly network: Network
  readonly table: Table
  readonly judge: Judge
  readonly unprotected: Unprotected
  readonly looks: LookLog['looks']
  /** The codecs of stored values, as one process reaches them. */
  codecsFor(process: Process): readonly ValueCodec[]
  readonly sender: (process: Process) => Sender
  /** Messages that have come to another queue, by their id. */
  readonly downstream: Map<string, number>
  /** Messages that were committed. */
  readonly committedMessages: Set<string>
  /** Whether things may still go wrong. */
  readonly isStormy: boolean
  /** Whether an unknown operation stays so: the storm is over, and nobody settles it or asks what became of it. */
  readonly isLeftUnknown: boolean
  /** How many processes are at work. */
  readonly alive: number
  say(line: string): void
  /** Starts an invocation on some machine, with what may happen to it. */
  spawn(role: Actor['role'], remainingMs?: number): Invocation
  idempotencyFor(actor: Actor): Idempotency
  /** The work of every operation. */
  work(process: Process, operation: Operation, order: Order): Promise<unknown>
  onQueued(run: (message: OutgoingMessage) => void): void
  onOutboxed(run: (item: OutboxItem) => void): void
}

/** What the table's stream tells of. */
export interface OutboxItem {
  readonly id: string
  readonly sk: string
}

export interface Invocation {
  readonly process: Process
  readonly actor: Actor
  readonly idempotency: Idempotency
  readonly context: { readonly awsRequestId: string; getRemainingTimeInMillis(): number } | undefined
}

/** Which schedule to run. */
export interface Run {
  readonly seed: number
  /** @defaultValue 'within' */
  readonly skew?: SkewMode
  /** Parts of the plan that are not left to chance. */
  readonly focus?: Partial<Plan>
  /** Is told what happens. */
  readonly trace?: (line: string) => void
}

export function createWorld(subject: Subject, { seed, skew = 'within', focus, trace }: Run): World {
  const chance = chanceFrom(seed)
  const plan = drawPlan(seed, chance, skew, focus)
  const scheduler = createScheduler(chance, START_MS)
  const say = (line: string) => trace?.(`${String(scheduler.nowMs - START_MS).padStart(9)} ms  ${line}`)
  const network = createNetwork(plan, { chance, scheduler, say })
  const processes = new Map<string, Process>()
  let outboxed: (item: OutboxItem) => void = () => undefined
  const committedMessages = new Set<string>()
  const downstream = new Map<string, number>()
  let queued: (message: OutgoingMessage) => void = () => undefined
  let spawned = 0
  let alive = 0

  const unprotected = createUnprotected()
  const looks = createLookLog()
  const judge = createJudge(plan, {
    textOf: (stored) => table.pieces.textOf(stored),
    unprotected,
    nowMs: () => scheduler.nowMs,
    processOf: (token) => processes.get(token.slice(0, token.lastIndexOf('.'))),
    onOutbox(id: string, { sk, attributes }: BesideItem) {
      outboxed({ id, sk })
      const { to } = attributes as { to?: { queueUrl?: string } }
      if (to?.queueUrl === DOWNSTREAM_URL) committedMessages.add(String(attributes.messageId))
    },
  })
  const table: Table = createTable(
    subject,
    network,
    judge,
    (writes) => writes.flatMap((write, index) => ('ConditionCheck' in write ? [{ index, isStale: false }] : [])),
    {
      statement: statementFates(chance, () => (scheduler.nowMs < plan.faultsUntilMs ? plan.faultRate : 0)),
      bringsItem: () => chance.happens(0.5),
    },
    { unprotected, looks },
  )
  const horizonMs = plan.recipe === 'horizon' ? (KEY_VALID_SECONDS + 120) * 1000 : Number.POSITIVE_INFINITY
  const provider: Provider = createProvider(network, judge, () => scheduler.nowMs, horizonMs)

  const enlarged = (text: string) => (plan.bulk === 0 ? text : `${text} ${bulkOf(text, plan.bulk)}`)

  const world: World = {
    plan,
    chance,
    subject,
    scheduler,
    network,
    table,
    judge,
    unprotected,
    looks: looks.looks,
    downstream,
    committedMessages,
    say,
    get isStormy() {
      return scheduler.nowMs < plan.faultsUntilMs
    },
    get isLeftUnknown() {
      return !world.isStormy && !plan.hasOperator
    },
    get alive() {
      return alive
    },
    onQueued(run) {
      queued = run
    },
    onOutboxed(run) {
      outboxed = run
    },

    spawn(role, remainingMs) {
      const machine = plan.machines[chance.between(0, plan.machines.length - 1)] ?? { skewMs: 0 }
      const process = createProcess(scheduler, { name: `${role}${++spawned}`, skewMs: machine.skewMs, say })
      processes.set(process.name, process)
      alive++
      process.onGone(() => void alive--)
      if (world.isStormy && chance.happens(plan.killRate)) {
        scheduler.after(chance.between(1, 6_000), () => process.kill('at random'), process)
      }
      if (world.isStormy && chance.happens(plan.freezeRate)) {
        scheduler.after(chance.between(1, 500), () => process.freeze(chance.between(100, 30_000)), process)
      }
      if (remainingMs !== undefined) {
        // Lambda kills a little after the deadline it names: the lease's margin is made for that.
        scheduler.after(remainingMs + chance.between(0, 950), () => process.kill('at its deadline'))
      }
      const deadlineMs = process.clock.now() + (remainingMs ?? 0)
      const context =
        remainingMs === undefined
          ? undefined
          : { awsRequestId: process.newId(), getRemainingTimeInMillis: () => deadlineMs - process.clock.now() }
      const actor: Actor = { process, role }
      return { process, actor, context, idempotency: world.idempotencyFor(actor) }
    },

    codecsFor: (process) =>
      plan.isCoded
        ? [
            codecOverNetwork(process, network, (detail) =>
              judge.broken('a value is read as what it was stored as', detail),
            ),
          ]
        : [],

    idempotencyFor(actor) {
      const { process } = actor
      return subject.createIdempotency({
        store: table.storeFor(actor),
        namespace: NAMESPACE,
        clock: process.clock,
        newId: process.newId,
        random: chance.next,
        retentionSeconds: plan.retentionSeconds,
        unfinishedRetentionSeconds: plan.unfinishedRetentionSeconds,
        clockSkewSeconds: CLOCK_SKEW_MS / 1000,
        takeover: plan.takeover,
        effects: plan.effects,
        relay: plan.relay,
        reconcilerShards: plan.reconcilerShards,
        reconcilerRecovers: true,
        ...(plan.lease === 'fixed' && { leaseSeconds: LEASE_SECONDS }),
        ...(plan.maxCrashes !== undefined && { maxCrashes: plan.maxCrashes }),
        ...(plan.waitSeconds !== undefined && { inFlight: { waitSeconds: plan.waitSeconds } }),
        onStoreError: plan.isOpen ? 'open' : 'closed',
        codec: world.codecsFor(process),
        observer: (event) => {
          if (event.type === 'unprotected') unprotected.begins(process, event.operationId)
          if (trace) say(`${process.name}: ${event.type}`)
        },
      })
    },

    async work(process, operation, order) {
      const stay = judge.entered(process, operation, order.tag)
      say(`${process.name} enters ${order.key}, attempt ${operation.attempt}`)
      try {
        const made = await RECIPES[plan.recipe]({
          operation,
          provider,
          chance,
          subject,
          caller: { process, operationId: operation.id, stay },
          isStormy: world.isStormy,
          relay: plan.relay,
          answer: (text): Answer => ({ ...order, text: enlarged(text) }),
          async within(step, run) {
            const leave = judge.beganStep(operation.id, step, stay)
            try {
              const made = await run()
              return typeof made === 'string' ? (enlarged(made) as typeof made) : made
            } finally {
              leave()
            }
          },
          work: () => process.clock.wait(world.isStormy ? chance.pick([1, 5, 20, 200, 3_000]) : 5),
        })
        return typeof made === 'string' ? ({ ...order, text: enlarged(made) } satisfies Answer) : made
      } finally {
        stay.leave()
      }
    },

    sender: (process) => ({
      async send(messages) {
        const results: SendResult[] = []
        for (const message of messages) results.push(await sendOne(process, message))
        return results
      },
    }),
  }

  /** As SQS does: it may be sent and not answered, or not sent at all. */
  function sendOne(process: Process, message: OutgoingMessage): Promise<SendResult> {
    const failure = { mayRepeat: true, lost: () => new Error('lost'), throttled: () => new Error('throttled') }
    const sent = network.call(
      process,
      `send ${message.messageId.slice(0, 6)}`,
      async (): Promise<SendResult> => {
        if ('queueUrl' in message.to && message.to.queueUrl === QUEUE_URL) queued(message)
        else downstream.set(message.messageId, (downstream.get(message.messageId) ?? 0) + 1)
        return { kind: 'sent' }
      },
      failure,
    )
    return sent.catch((error: unknown): SendResult => ({ kind: 'failed', error }))
  }

  return world
}
