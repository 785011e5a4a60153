import { type IResource, Token } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import { refuse } from './refuse.ts'

/** Where something is deployed; either may be known only at deployment. */
interface Place {
  readonly account: string
  readonly region: string
}

/** Somebody and where it is. */
export interface Placed {
  readonly name: string
  readonly env: Place
}

/** Refuses what is to work together in two regions. @throws Error naming both, when both are known */
export function refuseOtherRegion(scope: IConstruct, one: Placed, other: Placed, why: string): void {
  refuseDifference(scope, 'region', one, other, why)
}

/** Refuses what is to work together in two regions or accounts. @throws Error naming both, when both are known */
export function refuseOtherEnvironment(scope: IConstruct, one: Placed, other: Placed, why: string): void {
  refuseDifference(scope, 'region', one, other, why)
  refuseDifference(scope, 'account', one, other, why)
}

function refuseDifference(scope: IConstruct, part: keyof Place, one: Placed, other: Placed, why: string): void {
  const [here, there] = [one.env[part], other.env[part]]
  if (here === there || Token.isUnresolved(here) || Token.isUnresolved(there)) return
  refuse(
    scope,
    `The ${one.name} is in the ${part} ${here}, the ${other.name} in ${there}: ${why} Deploy both to one ${part}.`,
  )
}

const BY_NAME = 'a function finds its table by name, where it runs itself.'

/** Refuses a function that would look for its table where it is not. @throws Error naming both places */
export function refuseTableElsewhere(scope: IConstruct, table: IResource, fn: IResource): void {
  refuseOtherEnvironment(scope, { name: 'table', env: table.env }, { name: 'function', env: fn.env }, BY_NAME)
}
