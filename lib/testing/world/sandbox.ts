import { AsyncLocalStorage } from 'node:async_hooks'
import { InvalidOptionError, StoreError } from '../../base/errors.ts'
import { refuseUnknown, show } from '../../base/guards.ts'
import type { Clock } from '../../base/ports.ts'
import { createIdempotency } from '../../idempotency/idempotency.ts'
import type { Store } from '../../record/store.ts'
import type { Fault, Point } from '../explorer/schedules.ts'
import type { FakeClock } from '../fake-clock.ts'
import { COMMIT, type Ledger, type Place } from './ledger.ts'
import { overTheWire } from './store-calls.ts'
import { watched } from './watched-operation.ts'
import type { EffectOptions, World } from './world.ts'

/** What outlasts the processes of one sequence. */
export interface Outside {
  readonly store: Store
  readonly clock: FakeClock
  readonly ledger: Ledger
  readonly newId: () => string
  /** Notes that a process has come to a point, and says what goes wrong there. */
  arrive(kind: Point['kind'], what: string, delivery: number): Fault | undefined
  /** Delivers another copy of the event, to the end. */
  overlap(): Promise<void>
  /** An effect was called wrongly: that is the test's mistake, whatever the handler makes of it. */
  misused(error: InvalidOptionError): void
}

/** Why a process is not there any more. */
export type Death = 'crash' | 'timed-out' | 'endless' | 'stuck'

/** One process that runs one invocation at a time. */
export interface Sandbox {
  readonly world: World
  readonly death: Death | undefined
  /** Resolves when the process dies. */
  readonly died: Promise<Death>
  /** Raised by everything that the process does. */
  readonly progress: number
  begin(delivery: number, endMs: number): void
  die(of: Death): void
}

/** More than any handler does in one invocation; one that does more goes on for ever. */
const MOST_DOINGS = 10_000

export function createSandbox(outside: Outside): Sandbox {
  const { clock, ledger, newId } = outside
  const place = new AsyncLocalStorage<Omit<Place, 'delivery'>>()
  const end = new AbortController()
  const died = Promise.withResolvers<Death>()
  let death: Death | undefined
  let progress = 0
  let begunAt = 0
  let delivery = 0
  let endMs = Number.POSITIVE_INFINITY
  let isCutOff = false

  function die(of: Death): void {
    if (death !== undefined) return
    death = of
    end.abort('dead')
    died.resolve(of)
  }

  /** Whether the process goes on to do something. */
  function goesOn(): boolean {
    progress++
    if (clock.now() > endMs) die('timed-out')
    else if (progress - begunAt > MOST_DOINGS) die('endless')
    return death === undefined
  }

  async function meet<T>(kind: Point['kind'], what: string, act: () => Promise<T>): Promise<T> {
    if (!goesOn()) return silence()
    if (kind === 'store' && isCutOff) throw unreachable()
    const fault = outside.arrive(kind, what, delivery)
    if (fault === 'unreachable') {
      isCutOff = true
      throw unreachable()
    }
    const acting = act()
    // Applied by now: the store and the ledger are in memory. What else the process does side by side is not, any more.
    if (fault === 'crash') die('crash')
    const answer = await acting
    if (fault === 'overlap') await outside.overlap()
    if (death !== undefined) return silence()
    if (fault === 'answer-lost') throw kind === 'store' ? storeTimeout() : effectTimeout(what)
    return answer
  }

  async function effect<T = undefined>(name: string, options: EffectOptions<T> = {}): Promise<T> {
    try {
      checkEffect(name, options)
    } catch (error) {
      outside.misused(error as InvalidOptionError)
      throw error
    }
    const { idempotencyKey, of = '', result } = options
    const call = { name, of, delivery, ...place.getStore(), ...(idempotencyKey !== undefined && { idempotencyKey }) }
    // A repetition of a known key is answered as the first call was, which was of the same effect.
    return meet(
      'effect',
      `the effect "${name}"${of === '' ? '' : ` of "${of}"`}`,
      async () => ledger.call(call, result) as T,
    )
  }

  const ownClock: Clock = Object.freeze({
    now: () => clock.now(),
    async wait(ms: number, signal?: AbortSignal) {
      if (!goesOn()) return silence()
      await clock.wait(ms, signal && AbortSignal.any([signal, end.signal]))
      if (clock.now() > endMs) die('timed-out')
      if (death !== undefined) return silence()
    },
  })
  const store = overTheWire(
    outside.store,
    (what, send) => meet('store', what, send),
    (idempotencyKey) => ledger.call({ name: COMMIT, of: '', delivery, idempotencyKey }, undefined),
  )

  const world: World = Object.freeze({
    store,
    clock: ownClock,
    effect,
    idempotency(options = {}) {
      const made = createIdempotency({
        namespace: 'verified',
        ...options,
        store,
        clock: ownClock,
        newId,
        random: () => 0.5,
      })
      return watched(made, (step, operationId, work) => place.run({ step, operationId }, work))
    },
  } satisfies World)

  return {
    world,
    died: died.promise,
    get death() {
      return death
    },
    get progress() {
      return progress
    },
    begin(number, until) {
      delivery = number
      endMs = until
      isCutOff = false
      begunAt = progress
    },
    die,
  }
}

/** A dead process hears nothing. */
function silence(): Promise<never> {
  return new Promise(() => undefined)
}

function unreachable(): StoreError {
  return new StoreError('The store cannot be reached (a fault made by verifyIdempotent).', { retryable: true })
}

function storeTimeout(): StoreError {
  return new StoreError('The answer of the store was lost (a fault made by verifyIdempotent).', { retryable: true })
}

function effectTimeout(what: string): Error {
  const error = new Error(`The answer of ${what} was lost (a fault made by verifyIdempotent).`)
  return Object.assign(error, { code: 'ETIMEDOUT' })
}

function checkEffect(name: unknown, options: EffectOptions<unknown>): void {
  if (typeof name !== 'string' || name === '') {
    throw new InvalidOptionError(`effect(name): name must be a text such as "charge"; got ${show(name)}.`)
  }
  refuseUnknown(`effect("${name}", options)`, options, ['idempotencyKey', 'of', 'result'])
  for (const option of ['idempotencyKey', 'of'] as const) {
    const value: unknown = options[option]
    if (value !== undefined && typeof value !== 'string') {
      throw new InvalidOptionError(`effect("${name}", { ${option} }) must be a text; got ${show(value)}.`)
    }
  }
}
