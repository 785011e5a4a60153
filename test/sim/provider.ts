import type { Judge, Stay } from './judge.ts'
import type { Network } from './network.ts'
import type { Process } from './process.ts'

/** A third party that has effects. */
export interface Provider {
  /** Honours the key as long as it remembers it: a repetition gets the first answer, and has no effect. */
  charge(caller: Caller, step: string, key: string): Promise<string>
  /** Knows no keys: every call that arrives has its effect. */
  mail(caller: Caller, step: string): Promise<string>
  /** What became of a mail. One that was not sent will not be, either: whoever comes later with it is turned away. */
  look(caller: Caller, step: string): Promise<'sent' | 'not-sent' | 'unknown'>
}

export interface Caller {
  readonly process: Process
  readonly operationId: string
  readonly stay: Stay
}

/** @param horizonMs - how long it remembers a key */
export function createProvider(network: Network, judge: Judge, nowMs: () => number, horizonMs: number): Provider {
  const charges = new Map<string, { readonly answer: string; readonly atMs: number }>()
  const mails = new Map<string, string>()
  /** Mails on their way, which nobody can call back. */
  const underway = new Set<string>()
  /** Executions before this one may not send a mail any more. */
  const reserved = new Map<string, number>()
  const failure = {
    mayRepeat: false,
    lost: () => new Error('ETIMEDOUT: nobody knows whether it was done'),
    throttled: () => new Error('503 from the provider'),
  }
  const nameOf = ({ operationId, stay }: Caller, step: string) => `${operationId} ${stay.era} ${step}`

  return {
    charge(caller, step, key) {
      const { process, operationId, stay } = caller
      return network.call(
        process,
        `charge ${step}`,
        async () => {
          const before = charges.get(key)
          if (before !== undefined && nowMs() < before.atMs + horizonMs) return before.answer
          judge.effect(operationId, step, 'keyed', stay)
          const answer = `${step} by ${process.name}`
          charges.set(key, { answer, atMs: nowMs() })
          return answer
        },
        { ...failure, mayRepeat: true },
      )
    },
    async mail(caller, step) {
      const name = nameOf(caller, step)
      if (caller.stay.number < (reserved.get(name) ?? 0)) throw new Error('ETIMEDOUT: turned away')
      underway.add(name)
      return network.call(
        caller.process,
        `mail ${step}`,
        async () => {
          judge.effect(caller.operationId, step, 'once', caller.stay)
          mails.set(name, `${step} by ${caller.process.name}`)
          return `${step} by ${caller.process.name}`
        },
        // A request that the client gave up may still be carried out: it stays underway.
        failure,
      )
    },
    look(caller, step) {
      const name = nameOf(caller, step)
      return network.call(
        caller.process,
        `look ${step}`,
        async () => {
          if (mails.has(name)) return 'sent'
          // Only one that nobody ever sent is certain not to come.
          if (underway.has(name)) return 'unknown'
          reserved.set(name, caller.stay.number)
          return 'not-sent'
        },
        failure,
      )
    },
  }
}
