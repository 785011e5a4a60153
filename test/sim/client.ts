import type { Answer, Order } from './recipes.ts'
import type { World } from './world.ts'

/** Somebody who asks for an operation until it is answered for good. */
export interface Asker {
  /** It has its answer, or one after which asking again brings nothing else. */
  readonly isDone: boolean
  readonly order: Order
}

/** As an HTTP client does: one request after another. */
export function startClient(world: World, order: Order, { idOf, isAlone }: Names): Asker {
  const { scheduler, chance, plan, judge, subject, say } = world
  let isDone = false
  /** How often it has asked since the storm is over: less and less. */
  let calmAsks = 0

  function ask(): void {
    const remainingMs = plan.lease === 'deadline' ? chance.between(3_000, 15_000) : undefined
    const { process, idempotency, context } = world.spawn('worker', remainingMs)
    const begunMs = scheduler.nowMs
    let isOver = false
    const again = (afterMs: number) => {
      if (isOver) return
      isOver = true
      if (!isDone) scheduler.after(afterMs, () => !isDone && ask())
    }
    const pauseMs = () => {
      // Never so rarely that what was begun has expired before.
      const rarestMs = Math.min(3_600_000, plan.unfinishedRetentionSeconds * 500)
      if (!world.isStormy) return Math.min(rarestMs, 1_000 * 2 ** calmAsks++)
      return chance.happens(0.05) ? 200_000 : chance.between(50, 6_000)
    }
    process.onDeath(() => again(pauseMs()))
    const { key, scope, tag } = order
    const asked = { key, scope, input: tag, ...(context && { context }) }
    idempotency
      .run(asked, (operation) => world.work(process, operation, order))
      .then(
        ({ value, replayed }) => {
          process.end()
          say(`${process.name} answers ${key} ${replayed ? 'by a replay' : ''}`)
          if (!world.unprotected.has(process, idOf(order))) judgeAnswer(value as Answer)
          isDone = true
        },
        (error: unknown) => {
          process.end()
          const code = subject.isLambdaOnceError(error) ? error.code : 'thrown'
          say(`${process.name} answers ${code}${code === 'thrown' ? ` ${String(error)}` : ''}`)
          judgeRefusal(code, process.name, error, begunMs)
          if (isFinal(code)) isDone = true
          again(pauseMs())
        },
      )
  }

  function judgeAnswer(value: Answer): void {
    const truth = judge.truthOf(idOf(order))
    if (value?.key !== order.key || value.scope !== order.scope || value.tag !== order.tag) {
      judge.broken('no foreign answer', `${JSON.stringify(order)} got ${JSON.stringify(value)}`)
    } else if (!truth.completions.some(({ text }) => text.includes(JSON.stringify(value.text)))) {
      judge.broken('every answer is the stored one', `${value.text} was never stored`)
    }
  }

  function judgeRefusal(code: string, name: string, error: unknown, begunMs: number): void {
    const truth = judge.truthOf(idOf(order))
    const { last } = truth
    const holdsIt = last?.token.startsWith(`${name}.`) === true && last.status === 'IN_PROGRESS'
    if (code === 'IN_PROGRESS' && holdsIt && scheduler.nowMs - begunMs < 5_000) {
      judge.broken('a claim knows its own write', `${name} was refused by its own claim`)
    }
    if (code === 'MISMATCH' && isAlone(order)) judge.broken('no foreign answer', `${name}: a mismatch with itself`)
    if (code === 'thrown' && !(error instanceof Error && isExpected(error))) {
      judge.broken('no unexpected error', String(error instanceof Error ? error.stack : error))
    }
    if (
      ['INVALID_OPTION', 'INVALID_INPUT', 'OUTCOME_LOST', 'OUTCOME_UNSTORABLE', 'COMMITTED_OTHERWISE'].includes(code)
    ) {
      judge.broken('no unexpected error', String(error instanceof Error ? error.stack : error))
    }
  }

  function isFinal(code: string): boolean {
    if (code === 'UNKNOWN_OUTCOME') return world.isLeftUnknown
    return code === 'MISMATCH' || code === 'OPERATION_FAILED'
  }

  scheduler.after(chance.between(0, 30_000), ask)
  return {
    order,
    get isDone() {
      return isDone
    },
  }
}

/** What is known of the names of all orders. */
export interface Names {
  idOf(order: Order): string
  /** Whether nobody asks for another thing under the same name. */
  isAlone(order: Order): boolean
}

/** What the recipes and the provider throw. */
export function isExpected({ message }: Error): boolean {
  return /^(thrown|after the commit|ETIMEDOUT|503|The time of this execution)/.test(message)
}
