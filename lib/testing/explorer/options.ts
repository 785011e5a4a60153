import { InvalidOptionError } from '../../base/errors.ts'
import { booleanOption, integerOption, oneOf, refuseUnknown, secondsOption, show } from '../../base/guards.ts'

/**
 * How often an effect may happen, whatever fails. `once`: as often as in one undisturbed delivery, no more and no less.
 */
export type Expectation = 'once' | 'at-most-once' | 'at-least-once'

/** Options of `verifyIdempotent`. */
export interface VerifyOptions {
  /**
   * What is expected of which effect.
   * @defaultValue every effect, and the writes of every commit (`commit`), `once`
   */
  readonly effects?: Readonly<Record<string, Expectation>>
  /**
   * How often the event is delivered at the least. It comes more often until nothing changes any more.
   * @defaultValue 3
   */
  readonly deliveries?: number
  /**
   * How many faults one sequence has at the most: every single one is tried, with 2 every pair, too, which takes some
   * twenty times as long.
   * @defaultValue 1
   */
  readonly faults?: 1 | 2
  /**
   * How long one invocation may take, in seconds of the fake clock.
   * @defaultValue 30
   */
  readonly timeoutSeconds?: number
  /**
   * Whether Lambda invokes the function asynchronously: a repetition is then the same to the letter, the request id
   * included.
   * @defaultValue false
   */
  readonly asyncInvocation?: boolean
  /**
   * How long nothing may happen in a handler before it counts as stuck, in seconds of real time.
   * @defaultValue 2
   */
  readonly patienceSeconds?: number
}

/** Options after validation, with every default filled in. */
export interface VerifySettings {
  readonly expectations: ReadonlyMap<string, Expectation>
  readonly deliveries: number
  readonly faults: number
  readonly timeoutSeconds: number
  readonly asyncInvocation: boolean
  readonly patienceMs: number
}

const EXPECTATIONS: readonly Expectation[] = ['once', 'at-most-once', 'at-least-once']
const OPTION_NAMES = ['effects', 'deliveries', 'faults', 'timeoutSeconds', 'asyncInvocation', 'patienceSeconds']

/** @throws InvalidOptionError naming the option, what was expected and what came. */
export function resolveVerifyOptions(options: VerifyOptions): VerifySettings {
  refuseUnknown('verifyIdempotent', options, OPTION_NAMES)
  const { effects = {} } = options
  if (typeof effects !== 'object' || effects === null) {
    throw new InvalidOptionError(`effects must be such as { charge: 'once' }; got ${show(effects)}.`)
  }
  const expectations = Object.entries(effects).map(
    ([name, expected]) => [name, oneOf(`effects.${name}`, expected, EXPECTATIONS) ?? 'once'] as const,
  )
  return Object.freeze({
    expectations: new Map(expectations),
    deliveries: integerOption('deliveries', options.deliveries, 2, 10) ?? 3,
    faults: integerOption('faults', options.faults, 1, 2) ?? 1,
    timeoutSeconds: secondsOption('timeoutSeconds', options.timeoutSeconds, 1) ?? 30,
    asyncInvocation: booleanOption('asyncInvocation', options.asyncInvocation) ?? false,
    patienceMs: (secondsOption('patienceSeconds', options.patienceSeconds, 0.1) ?? 2) * 1000,
  })
}
