import type { InvocationResult } from '../lambda/invocation.ts'

/** Which messages or records of a batch an invocation dealt with. */
export type BatchVerdict =
  | { readonly kind: 'all-succeeded' }
  | { readonly kind: 'some-failed'; readonly failedIds: ReadonlySet<string> }
  | { readonly kind: 'all-failed'; readonly reason: string }

/** A batch and how it ended, for those who count. */
export interface BatchReport {
  /** Name of the queue or table it came from. */
  readonly source: string
  readonly functionName: string
  /** Message ids or sequence numbers. */
  readonly ids: readonly string[]
  readonly verdict: BatchVerdict
}

/**
 * Reads the end of an invocation as Lambda's event source mapping does
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html, "success and failure conditions").
 *
 * @param ids - of the batch: message ids of a queue, sequence numbers of a stream.
 */
export function batchVerdict(
  result: InvocationResult,
  ids: readonly string[],
  reportsBatchItemFailures: boolean,
): BatchVerdict {
  if (result.kind === 'throttled') return allFailed('the function was throttled')
  if (result.kind === 'error') return allFailed(`${result.errorType}: ${result.errorMessage}`)
  if (!reportsBatchItemFailures) return { kind: 'all-succeeded' }
  const { payload } = result
  // Nothing, an empty string and an empty object are the documented ways to say "all is well".
  if (payload === null || payload === undefined || payload === '') return { kind: 'all-succeeded' }
  if (typeof payload !== 'object' || Array.isArray(payload)) return allFailed('the response is not an object')
  const { batchItemFailures: failures } = payload as { batchItemFailures?: unknown }
  if (failures === null || failures === undefined) return { kind: 'all-succeeded' }
  if (!Array.isArray(failures)) return allFailed('batchItemFailures is not a list')
  const failedIds = new Set<string>()
  for (const failure of failures as unknown[]) {
    const id = (failure as { itemIdentifier?: unknown } | null)?.itemIdentifier
    if (typeof id !== 'string' || id === '') return allFailed('a batch item failure has no itemIdentifier')
    if (!ids.includes(id)) return allFailed(`itemIdentifier ${id} is not in the batch`)
    failedIds.add(id)
  }
  return failedIds.size === 0 ? { kind: 'all-succeeded' } : { kind: 'some-failed', failedIds }
}

function allFailed(reason: string): BatchVerdict {
  return { kind: 'all-failed', reason }
}
