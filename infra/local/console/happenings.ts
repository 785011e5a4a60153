import type { Happening } from '../../../lib/cli/watch/happening.ts'
import { EVENT_TYPES } from '../../../lib/observability/index.ts'
import { readEvent } from '../job/tally.ts'

/** What a line of a function tells of an operation; `undefined`: nothing. @param by - who wrote it */
export function happeningIn(
  line: string,
  by: string,
): { readonly operationId: string; readonly happening: Happening } | undefined {
  const event = readEvent(line)
  if (event === undefined) return undefined
  const { operationId, atMs, attempt, why, during, hook } = event
  const kind = EVENT_TYPES.find((type) => type === event.event)
  if (kind === undefined || typeof operationId !== 'string' || typeof atMs !== 'number') return undefined
  const detail = [why, during, hook].find((one) => typeof one === 'string')
  return {
    operationId,
    happening: {
      kind,
      atMs,
      by,
      ...(typeof attempt === 'number' && { attempt }),
      ...(typeof detail === 'string' && { detail }),
    },
  }
}
