import { claimCases } from './claim-cases.ts'
import type { ContractCase } from './fixtures.ts'
import { heldCases } from './held-cases.ts'
import { partsCases } from './parts-cases.ts'

export type { ContractCase } from './fixtures.ts'

/**
 * What a store must do, as cases that any test runner can run.
 *
 * @example
 * for (const { name, check } of storeContract) test(name, () => check(myStore()))
 */
export const storeContract: readonly ContractCase[] = Object.freeze([...claimCases, ...heldCases, ...partsCases])
