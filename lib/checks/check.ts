/** A rule that a configuration keeps or breaks. What breaks it is decided from plain facts, without CDK. */
export interface Check<Facts> {
  /** Stands in the message, in the documentation and in an acknowledgement. */
  readonly id: string
  /** Whether the template is not built at all, or built with a warning. */
  readonly severity: 'refused' | 'warned'
  /** What is refused or warned of, in a few words. */
  readonly about: string
  /** The property by which somebody says that it is meant. A warning can be acknowledged by its id as well. */
  readonly acknowledgedBy?: string
  /** The reason with its numbers and what to do, or undefined when the rule is kept or nothing is known. */
  readonly find: (facts: Facts) => string | undefined
}

/** A rule that is broken. */
export interface Finding {
  readonly id: string
  readonly severity: 'refused' | 'warned'
  readonly message: string
}

/** All that is wrong with a configuration. */
export function judge<Facts>(checks: readonly Check<Facts>[], facts: Facts): readonly Finding[] {
  return checks.flatMap(({ id, severity, find }) => {
    const message = find(facts)
    return message === undefined ? [] : [{ id, severity, message }]
  })
}
