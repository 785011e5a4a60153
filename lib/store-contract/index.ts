import { besideCases } from './beside-cases.ts'
import { claimCases } from './claim-cases.ts'
import { commitCases } from './commit-cases.ts'
import type { ContractCase } from './fixtures.ts'
import { groupCases } from './group-cases.ts'
import { heldCases } from './held-cases.ts'
import { partsCases } from './parts-cases.ts'

export type { ContractCase } from './fixtures.ts'

/**
 * What a store must do, as cases that any test runner can run. What it does with the caller's own writes in a commit is
 * for tests of its own: a table of one store is not one of another.
 *
 * @example
 * for (const { name, check } of storeContract) test(name, () => check(myStore()))
 */
export const storeContract: readonly ContractCase[] = Object.freeze([
  ...claimCases,
  ...heldCases,
  ...commitCases,
  ...besideCases,
  ...partsCases,
])

/**
 * What a store must do whose writes can go together (`grouped`): the cases ask for it themselves. Such a store passes
 * {@link storeContract} both by itself and grouped.
 */
export const groupContract: readonly ContractCase[] = Object.freeze(groupCases)
