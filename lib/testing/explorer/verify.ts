import { InvalidOptionError } from '../../base/errors.ts'
import { show } from '../../base/guards.ts'
import { loadParts } from '../../outcome/lazily.ts'
import { adviceFor } from '../findings/advice.ts'
import { judge } from '../findings/judge.ts'
import { wordsForFinding, wordsForRun, wordsForSchedule } from '../findings/words.ts'
import { NotIdempotentError, UnverifiableError } from './errors.ts'
import { disturbed, withMutedConsole } from './muted-console.ts'
import { resolveVerifyOptions, type VerifyOptions, type VerifySettings } from './options.ts'
import { refuseEndless, refuseRestless, refuseUnverifiable } from './refusals.ts'
import { NO_FAULT, withOneMore } from './schedules.ts'
import { type Build, type Run, runSequence } from './sequence.ts'

/** What was tried, when everything was as expected. */
export interface Verification {
  /** Sequences of deliveries: one without a fault, and one for each place at which one was made. */
  readonly sequences: number
  readonly deliveries: number
  /** How often each effect happens in one undisturbed delivery. */
  readonly effects: Readonly<Record<string, number>>
}

/**
 * Proves that a handler may run more than once: delivers an event with a fault at every place where one is possible
 * (a crash after each store call, each effect, each recorded step and each commit; an answer that is lost; a store out
 * of reach; a second delivery in the middle of the first), delivers it again until nothing changes any more, and counts
 * what has happened. In memory, on a fake clock.
 *
 * @param build - makes the handler, as each process does when it starts: from the world, and nothing that outlasts it
 * @param event - plain data, such as an event builder of this module makes
 *
 * @example
 * test('an order is charged once', () =>
 *   verifyIdempotent(
 *     ({ idempotency, effect }) => createHandler({ idempotency: idempotency(), charge: (key) => effect('charge', { idempotencyKey: key }) }),
 *     httpApiEvent({ body: { cents: 100 } }),
 *   ))
 *
 * @throws NotIdempotentError with the shortest bad sequence, in words, and what to do about it
 * @throws UnverifiableError when the handler never settles, fails by itself, claims nothing or has no effect
 * @throws InvalidOptionError when an argument is wrong
 */
export async function verifyIdempotent<E, H>(
  build: Build<E, H>,
  event: E,
  options: VerifyOptions = {},
): Promise<Verification> {
  if (typeof build !== 'function') {
    throw new InvalidOptionError(
      `verifyIdempotent(build, event): build must be a function that makes the handler; got ${show(build)}.`,
    )
  }
  const settings = resolveVerifyOptions(options)
  const kept = plainCopy(event)
  await loadParts()
  return withMutedConsole(() => explore(build, kept, settings))
}

async function explore<E>(build: Build<E>, event: E, settings: VerifySettings): Promise<Verification> {
  const undisturbed = await runSequence(build, event, NO_FAULT, settings)
  refuseEndless(undisturbed, undisturbed, settings)
  refuseUnverifiable(undisturbed, settings)
  accept(undisturbed, undisturbed)
  refuseRestless(undisturbed, undisturbed)

  let tried: readonly Run[] = [undisturbed]
  let sequences = 1
  let deliveries = undisturbed.results.length
  for (let faults = 1; faults <= settings.faults; faults++) {
    const next: Run[] = []
    for (const from of tried) {
      for (const schedule of withOneMore(from.schedule, from.trace)) {
        const one = await disturbed(() => runSequence(build, event, schedule, settings, undisturbed.intended))
        sequences++
        deliveries += one.results.length
        refuseEndless(one, from, settings)
        accept(one, from)
        refuseRestless(one, from)
        next.push(one)
      }
    }
    tried = next
  }
  const effects = [...undisturbed.intended].map(([name, of]) => [
    name,
    [...of.values()].reduce((sum, count) => sum + count, 0),
  ])
  return Object.freeze({ sequences, deliveries, effects: Object.freeze(Object.fromEntries(effects)) })

  function accept(one: Run, from: Run): void {
    const finding = judge(undisturbed.intended, one.counts, settings.expectations)
    if (finding === undefined) return
    const sequence = wordsForRun(one)
    const when = one === undisturbed ? 'several deliveries without any fault' : wordsForSchedule(one.schedule, from)
    const message = `${when}: ${wordsForFinding(finding)}\n${adviceFor(finding, one, undisturbed)}`
    throw new NotIdempotentError([message, ...sequence.map((line) => `  ${line}`)].join('\n'), {
      effect: finding.name,
      sequence,
    })
  }
}

function plainCopy<E>(event: E): E {
  try {
    return structuredClone(event)
  } catch (cause) {
    throw new UnverifiableError('The event must be plain data, as it comes to a function: it cannot be copied.', {
      cause,
    })
  }
}
