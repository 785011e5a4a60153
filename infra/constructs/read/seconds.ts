import type { Duration } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import { refuse } from '../checks/refuse.ts'

/** A time in seconds; undefined when it is not given, or a token that only CloudFormation fills in. */
export function knownSeconds(duration: Duration | undefined): number | undefined {
  return duration === undefined || duration.isUnresolved() ? undefined : duration.toSeconds({ integral: false })
}

/**
 * A time in whole seconds that other numbers are computed from, or held against.
 *
 * @throws Error naming the property when it is a token, not whole, or below a second
 */
export function requiredSeconds(scope: IConstruct, name: string, duration: Duration): number {
  const seconds = knownSeconds(duration)
  if (seconds === undefined) {
    refuse(
      scope,
      `${name} is a token, known only at deployment, and other numbers follow from it: give it as a number.`,
    )
  }
  if (seconds < 1 || !Number.isInteger(seconds))
    refuse(scope, `${name} is ${seconds} s; it must be whole seconds, from 1 s.`)
  return seconds
}
