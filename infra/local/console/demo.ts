import type { Demo, DemoAction, DemoAnswer, DemoEntry, DemoState } from '../../../lib/cli/console/demo.ts'
import { CliFailure, EXIT } from '../../../lib/cli/exit.ts'
import { BEGINNINGS, ENDINGS } from '../../../lib/cli/watch/attempts.ts'
import type { Happening } from '../../../lib/cli/watch/happening.ts'
import type { Journal } from '../../../lib/cli/watch/journal.ts'
import { operationId } from '../../../lib/record/identity.ts'
import type { Roles } from '../job/roles.ts'
import type { FunctionPool } from '../lambda/function-pool.ts'
import type { LocalService } from '../local-service.ts'
import type { PaymentProvider } from '../payment-provider/start.ts'
import { killAtWork } from './kill.ts'
import { meaningOf, orderOperation, PRINCIPAL, postOrder, type SentOrder } from './orders.ts'

/** How many entries the log keeps. */
const LOG = 20
const A_DAY_SECONDS = 86_400
const OTHER_QUANTITY = 7

/** What the buttons work on. */
export interface DemoOptions {
  readonly service: Pick<LocalService, 'apiEndpoint' | 'tokens'>
  readonly roles: Roles
  readonly provider: PaymentProvider
  /** The payments worker's processes, where it has some. */
  readonly workers: FunctionPool | undefined
  readonly journal: Journal
  readonly hints: readonly string[]
  readonly signal: AbortSignal
}

/** The demo, with what starts it. */
export interface StartedDemo extends Demo {
  /** The buttons work from now on. */
  begin(): void
}

/** Makes the buttons of the demo: each does for real what it says, on the service that runs here. */
export async function createDemo(options: DemoOptions): Promise<StartedDemo> {
  const { service, roles, provider, workers, journal } = options
  const token = await service.tokens.mint(PRINCIPAL, roles.authorizer, { lifetimeSeconds: A_DAY_SECONDS })
  const log: DemoEntry[] = []
  const labels = new Map<string, string>()
  let orders = 0
  let last: SentOrder | undefined
  let isPaused = false
  let isBegun = false
  let isArmed = false

  function note(action: DemoAction, what: string, operation?: string): (news: Partial<DemoEntry>) => void {
    const number = (log[0]?.number ?? 0) + 1
    log.unshift({
      number,
      atMs: Date.now(),
      action,
      what,
      answers: [],
      ...(operation !== undefined && { operationId: operation }),
    })
    log.splice(LOG)
    return (news) => {
      const place = log.findIndex((entry) => entry.number === number)
      const entry = log[place]
      if (entry !== undefined) log[place] = { ...entry, ...news }
    }
  }

  function newOrder(): SentOrder {
    orders += 1
    const key = `demo-${orders}-${Date.now().toString(36)}`
    last = { key, quantity: 1, operationId: orderOperation(roles.authorizer, key) }
    labels.set(last.operationId, `order ${orders}`)
    return last
  }

  async function send(order: SentOrder, times: number, tell: (news: Partial<DemoEntry>) => void): Promise<void> {
    const answers: DemoAnswer[] = []
    await Promise.all(
      Array.from({ length: times }, async () => {
        const { answer, orderId } = await postOrder(service.apiEndpoint, token, order)
        const label = labels.get(order.operationId)
        if (orderId !== undefined && label !== undefined) {
          labels.set(paymentOf(orderId), `payment of ${label}`)
        }
        answers.push(answer)
        tell({ answers: [...answers] })
      }),
    )
    tell({ result: meaningOf(answers) })
  }

  async function kill(pool: FunctionPool): Promise<void> {
    isArmed = true
    const tell = note('kill-worker', 'Kill the payments worker, in the middle of its work.')
    tell({ result: 'It is idle: it is killed as soon as it has work. Send an order.' })
    try {
      const unanswered = async () => (isPaused ? undefined : provider.unanswered())
      const isWorkedOn = (orderId: string) => isRunning(journal.storyOf(paymentOf(orderId)))
      const killed = await killAtWork({ pool, isWorkedOn, unanswered, signal: options.signal })
      if (killed.kind === 'no-work') return tell({ result: 'There was no work for a minute: nothing was killed.' })
      const ids = killed.orderIds.map(paymentOf)
      for (const id of ids) {
        const attempt = journal.storyOf(id).findLast((one) => one.attempt !== undefined)?.attempt
        journal.add(id, { kind: 'killed', atMs: Date.now(), ...(attempt !== undefined && { attempt }) })
      }
      const where = killed.isCharged
        ? 'after the provider had charged, and before the worker knew it'
        : 'in the middle of its work'
      tell({
        result: `Killed (kill -9) process ${killed.pids.join(', ')}, ${where}. When its lease is over the message comes again, the next attempt takes over, and its step is repeated with the same key: charged once.`,
        ...(ids[0] !== undefined && { operationId: ids[0] }),
      })
    } finally {
      isArmed = false
    }
  }

  /** Why it cannot be done now. */
  function refusalOf(action: DemoAction): string | undefined {
    if (!isBegun) return 'The main job is still running. Wait for its end.'
    if ((action === 'send-again' || action === 'other-body') && last === undefined) return 'Send an order first.'
    if (action !== 'kill-worker') return undefined
    if (workers === undefined) return NO_PROCESSES
    return isArmed ? 'A kill is waiting for work already: send an order.' : undefined
  }

  const actions: Readonly<Record<DemoAction, () => Promise<void>>> = {
    send: async () => {
      const order = newOrder()
      await send(order, 1, note('send', `Order ${orders}, sent once.`, order.operationId))
    },
    'send-five': async () => {
      const order = newOrder()
      await send(order, 5, note('send-five', `Order ${orders}, sent five times at once.`, order.operationId))
    },
    'send-again': async () => {
      if (last === undefined) return
      const what = `The same request as ${labels.get(last.operationId)}, again.`
      await send(last, 1, note('send-again', what, last.operationId))
    },
    'other-body': async () => {
      if (last === undefined) return
      const what = `The key of ${labels.get(last.operationId)}, with another quantity.`
      await send({ ...last, quantity: OTHER_QUANTITY }, 1, note('other-body', what, last.operationId))
    },
    'kill-worker': async () => {
      if (workers !== undefined) await kill(workers)
    },
    pause: async () => {
      provider.pause()
      isPaused = true
      note(
        'pause',
        'The payment provider is paused.',
      )({
        result: 'It takes requests and does not answer. Send an order: its charge is begun, and nobody knows its end.',
      })
    },
    resume: async () => {
      provider.resume()
      isPaused = false
      note(
        'resume',
        'The payment provider goes on.',
      )({
        result: 'What was asked of it meanwhile it does now; what is asked again under the same key it does once.',
      })
    },
  }

  return Object.freeze({
    state: (): DemoState => ({
      ...(!isBegun && { notYet: 'The main job is running; the buttons work when it is over.' }),
      isPaused,
      impossible: workers === undefined ? { 'kill-worker': NO_PROCESSES } : {},
      hints: options.hints,
      log: [...log],
    }),
    act(action: DemoAction) {
      const refusal = refusalOf(action)
      if (refusal !== undefined) throw new CliFailure(EXIT.refused, refusal)
      void actions[action]().catch((error: unknown) => {
        note(action, 'That went wrong.')({ result: error instanceof Error ? error.message : String(error) })
      })
    },
    labelOf: (id: string) => labels.get(id),
    begin() {
      isBegun = true
    },
  })
}

const NO_PROCESSES =
  'The functions run in this one process, which cannot be killed for a demonstration: that takes Java, for DynamoDB Local.'

/** The payment's operation: the worker says its scope, and its key is the order's id. */
function paymentOf(orderId: string): string {
  return operationId('payments', ['orders'], orderId)
}

/** Whether somebody has begun, and not said that it is over. */
function isRunning(story: readonly Happening[]): boolean {
  const last = story.findLast(({ kind }) => [...BEGINNINGS, ...ENDINGS].includes(kind))
  return last !== undefined && BEGINNINGS.includes(last.kind)
}
