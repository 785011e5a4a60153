import type { Settings } from './options.ts'
import type { OperationEvent } from './ports.ts'

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** Tells the observer what happened to an operation. */
export type Report = (
  event: DistributiveOmit<OperationEvent, 'namespace' | 'operationId' | 'atMs'>,
  operationId: string,
) => void

/** What an observer throws is dropped: watching must never change an outcome. */
export function createReport({ observer, namespace, clock }: Settings): Report {
  if (observer === undefined) return () => undefined
  return (event, operationId) => {
    try {
      const seen: unknown = observer({ namespace, operationId, atMs: clock.now(), ...event })
      // TypeScript takes an async function for an observer, and its rejection would end the process.
      if (seen instanceof Promise) seen.catch(() => undefined)
    } catch {
      return
    }
  }
}
