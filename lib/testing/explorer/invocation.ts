import type { Context } from 'aws-lambda'
import type { FakeClock } from '../fake-clock.ts'
import { lambdaContext } from '../lambda-context.ts'
import type { InvocationEnd } from '../queue/verdict.ts'
import type { Death, Sandbox } from '../world/sandbox.ts'

/** How an invocation ended, if it did. */
export type InvocationResult = InvocationEnd | { readonly kind: 'died'; readonly of: Death }

/** How often a handler is looked at that does not come back, in ms of real time. */
const TICK_MS = 5
/** After so many looks at which nothing had happened, the time that the handler waits for may come. */
const TICKS_TO_MOVE = 10

// Held here, where a test's fake timers have not come yet.
const { setTimeout: after, clearTimeout: cancel } = globalThis

/**
 * Calls the handler, and waits until it has ended. Its waits cost no time: when it does nothing any more, the clock moves
 * to the next moment that it waits for. The patience is counted in looks, each of which the event loop has come to: a
 * machine that stands still makes nobody stuck.
 */
export async function invoke(
  sandbox: Sandbox,
  call: (context: Context) => unknown,
  options: {
    readonly clock: FakeClock
    readonly delivery: number
    readonly timeoutSeconds: number
    readonly patienceMs: number
    readonly awsRequestId: string
  },
): Promise<InvocationResult> {
  const { clock, delivery, timeoutSeconds, patienceMs, awsRequestId } = options
  const endMs = clock.now() + timeoutSeconds * 1000
  sandbox.begin(delivery, endMs)
  const context = lambdaContext({ clock, remainingSeconds: timeoutSeconds, awsRequestId })

  let seen = -1
  let idleTicks = 0
  let timer: ReturnType<typeof setTimeout>
  function look(): void {
    idleTicks = sandbox.progress === seen ? idleTicks + 1 : 0
    seen = sandbox.progress
    if (idleTicks >= patienceMs / TICK_MS) {
      sandbox.die('stuck')
      return
    }
    const dueMs = clock.nextDueMs()
    // What waits for the end of the invocation is a guard, and not what the handler does.
    if (idleTicks >= TICKS_TO_MOVE && dueMs !== undefined && dueMs < endMs - 500) {
      clock.advance(Math.max(0, dueMs - clock.now()))
      idleTicks = 0
    }
    timer = after(look, TICK_MS)
  }
  timer = after(look, TICK_MS)

  try {
    return await Promise.race([
      ended(call, context),
      sandbox.died.then((of): InvocationResult => ({ kind: 'died', of })),
    ])
  } finally {
    cancel(timer)
  }
}

async function ended(call: (context: Context) => unknown, context: Context): Promise<InvocationEnd> {
  try {
    return { kind: 'answered', answer: await call(context) }
  } catch (error) {
    return { kind: 'threw', error }
  }
}
