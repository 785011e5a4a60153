import { type Channel, channel } from 'node:diagnostics_channel'
import type { OperationEvent } from '../base/ports.ts'
import type { Settings } from './options.ts'

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** An event as the engine tells it: what names the operation is added on the way. */
export type Reported = DistributiveOmit<OperationEvent, 'namespace' | 'operationId' | 'atMs'>

/** Tells whoever watches what happened to an operation. */
export type Report = (event: Reported, operationId: string) => void

/** A channel without subscribers is garbage to Node, and to be made anew each time: these are kept. */
const channels: Partial<Record<OperationEvent['type'], Channel>> = {}

function channelOf(type: OperationEvent['type']): Channel {
  channels[type] ??= channel(`lambda-once:${type}`)
  return channels[type]
}

/** What an observer throws is dropped: watching must never change an outcome. */
export function createReport({ observer, namespace, clock }: Settings): Report {
  return (event, operationId) => {
    const published = channelOf(event.type)
    if (observer === undefined && !published.hasSubscribers) return
    const told: OperationEvent = { namespace, operationId, atMs: clock.now(), ...event }
    published.publish(told)
    quietly(() => observer?.(told))
  }
}

/** Lets somebody watch, and drops whatever comes of it. */
export function quietly(watch: () => unknown): void {
  try {
    const seen = watch()
    // TypeScript takes an async function for an observer, and its rejection would end the process.
    if (seen instanceof Promise) seen.catch(() => undefined)
  } catch {
    return
  }
}
