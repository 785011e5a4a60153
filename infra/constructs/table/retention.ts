import { RETENTION_MARGIN_SECONDS } from '../../../lib/checks/redelivery.ts'

/** How long a record protects where no queue is attached: what clients of an API are promised. */
export const DEFAULT_RETENTION_SECONDS = 86_400

/** The retention that outlives every redelivery, in seconds; the default when there is none. */
export function computedRetentionSeconds(redeliveriesSeconds: readonly number[]): number {
  return Math.max(
    DEFAULT_RETENTION_SECONDS,
    ...redeliveriesSeconds.map((longest) => longest + RETENTION_MARGIN_SECONDS),
  )
}
