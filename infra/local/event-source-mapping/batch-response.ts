import type { InvocationResult } from '../lambda/invocation.ts'

/** Which messages of a batch an invocation dealt with. */
export type BatchVerdict =
  | { readonly kind: 'all-succeeded' }
  | { readonly kind: 'some-failed'; readonly failedMessageIds: ReadonlySet<string> }
  | { readonly kind: 'all-failed'; readonly reason: string }

/**
 * Reads the end of an invocation as Lambda's event source mapping does
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html, "success and failure conditions").
 */
export function batchVerdict(
  result: InvocationResult,
  messageIds: readonly string[],
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
  const failedMessageIds = new Set<string>()
  for (const failure of failures as unknown[]) {
    const id = (failure as { itemIdentifier?: unknown } | null)?.itemIdentifier
    if (typeof id !== 'string' || id === '') return allFailed('a batch item failure has no itemIdentifier')
    if (!messageIds.includes(id)) return allFailed(`itemIdentifier ${id} is not in the batch`)
    failedMessageIds.add(id)
  }
  return failedMessageIds.size === 0 ? { kind: 'all-succeeded' } : { kind: 'some-failed', failedMessageIds }
}

function allFailed(reason: string): BatchVerdict {
  return { kind: 'all-failed', reason }
}
