import type { Chance } from './chance.ts'
import type { Fate, Plan } from './plan.ts'
import type { Process } from './process.ts'
import type { Scheduler } from './scheduler.ts'

/** The way between a process and a service. */
export interface Network {
  /**
   * Carries a call there and its answer back, or does to it what chance has in store.
   * @param apply - carries it out, at one moment; called once, twice or never
   * @param failure - what the caller hears when it fails
   */
  call<T>(process: Process, what: string, apply: () => Promise<T>, failure: Failure): Promise<T>
  /** Calls that were sent and may still be carried out. */
  readonly underway: number
  /** How many calls met a fate. */
  readonly faults: number
}

export interface Failure {
  /** Whether a client that gets no answer sends it again by itself. */
  readonly mayRepeat: boolean
  throttled(): Error
  lost(): Error
}

export function createNetwork(
  plan: Plan,
  { chance, scheduler, say }: { chance: Chance; scheduler: Scheduler; say: (line: string) => void },
): Network {
  let underway = 0
  let faults = 0
  const swift = () => chance.between(1, 30)
  /** No client waits longer than this for an answer. */
  const patience = () => chance.between(1_000, 5_000)

  function fateOf({ mayRepeat }: Failure): Fate | undefined {
    const [first, ...others] = plan.fates
    if (scheduler.nowMs >= plan.faultsUntilMs || first === undefined || !chance.happens(plan.faultRate))
      return undefined
    const fate = chance.pick([first, ...others])
    if (fate === 'sent-twice' && !mayRepeat) return 'slow'
    // With a deadline the SDK's time-outs end a call long before.
    if (fate === 'past-the-lease' && plan.lease === 'deadline') return 'slow'
    return fate
  }

  function call<T>(process: Process, what: string, apply: () => Promise<T>, failure: Failure): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const fate = fateOf(failure)
    if (fate !== undefined) faults++

    /** Whoever sent it may be dead by then: what is on its way arrives all the same. */
    function arrive(afterMs: number, then: (answer: Promise<T>) => void): void {
      underway++
      scheduler.after(afterMs, () => {
        underway--
        say(`${process.name} ${what}${fate === undefined ? '' : ` [${fate}]`}`)
        then(apply())
      })
    }
    const answer = (afterMs: number) => (applied: Promise<T>) =>
      scheduler.after(afterMs, () => applied.then(resolve, reject), process)
    const drop = (applied: Promise<T>) => void applied.catch(() => undefined)
    const fail = (afterMs: number, error: Error) =>
      scheduler.after(
        afterMs,
        () => {
          say(`${process.name} ${what}: hears "${error.message}"`)
          reject(error)
        },
        process,
      )

    switch (fate) {
      case undefined:
        arrive(swift(), answer(swift()))
        break
      case 'slow':
        arrive(chance.between(1, 1_500), answer(chance.between(1, 1_500)))
        break
      case 'past-the-lease':
        arrive(chance.between(1, 8_000), answer(chance.between(4_000, 15_000)))
        break
      case 'answer-lost':
        arrive(swift(), drop)
        fail(patience(), failure.lost())
        break
      case 'not-applied':
        fail(patience(), failure.lost())
        break
      case 'applied-late': {
        const heardMs = patience()
        fail(heardMs, failure.lost())
        arrive(heardMs + chance.between(1, 4_000), drop)
        break
      }
      case 'throttled':
        fail(swift(), failure.throttled())
        break
      case 'sent-twice':
        arrive(swift(), (first) => {
          drop(first)
          arrive(chance.between(10, 1_000), answer(swift()))
        })
        break
      case 'killed-before':
        scheduler.after(swift(), () => process.kill(`before ${what} arrives`), process)
        if (chance.happens(0.5)) arrive(chance.between(30, 2_000), drop)
        break
      case 'killed-after':
        arrive(swift(), (applied) => {
          drop(applied)
          process.kill(`after ${what} has arrived`)
        })
        break
    }
    return promise
  }

  return {
    call,
    get underway() {
      return underway
    },
    get faults() {
      return faults
    },
  }
}
