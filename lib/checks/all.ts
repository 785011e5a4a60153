import type { Check } from './check.ts'
import { QUEUE_CHECKS } from './queue-checks.ts'
import { API_CHECKS, RECONCILER_CHECKS, RELAY_CHECKS } from './service-checks.ts'
import { TABLE_CHECKS } from './table-checks.ts'

/** Every check there is, as the documentation lists them. */
export const ALL_CHECKS: readonly Omit<Check<never>, 'find'>[] = [
  ...QUEUE_CHECKS,
  ...TABLE_CHECKS,
  ...API_CHECKS,
  ...RELAY_CHECKS,
  ...RECONCILER_CHECKS,
]
