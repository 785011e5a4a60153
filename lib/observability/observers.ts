import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import type { Observer } from '../base/ports.ts'
import { quietly } from '../operation/report.ts'

/**
 * Several observers as one. What one of them throws does not keep the others from seeing the event.
 *
 * @example
 * createIdempotency({ store, namespace: 'payments', observer: observers(emfMetrics(), (event) => logger.info(event.type, event)) })
 *
 * @throws InvalidOptionError when one is no function
 */
export function observers(...all: readonly Observer[]): Observer {
  for (const one of all) {
    if (typeof one !== 'function') throw new InvalidOptionError(`observers(…) takes functions; got ${show(one)}.`)
  }
  return (event) => {
    for (const one of all) quietly(() => one(event))
  }
}
